import { useEffect, useState } from 'react'
import { localizedPath } from '../../i18n/index.ts'
import { EmailField, SignInOrUpLink } from '../forms/AccountFields.tsx'
import {
  continueAfterSignIn,
  emailRule,
  prefillFromQuery,
  usernameRule
} from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { LazyFormErrorNote } from '../forms/LazyFormErrorNote.tsx'
import { NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weakPasswordErrors } from '../forms/new-password-rules.ts'
import { useForm } from '../forms/use-form.ts'
import { loadCode } from '../kit/load-code.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'

interface SignUpProps {
  isSignUpOpen: boolean
  company: string
}

export const SignUp = withTranslation(function SignUp({ isSignUpOpen, company }: SignUpProps) {
  return isSignUpOpen ? <Open company={company} /> : <Closed company={company} />
})

function Open({ company }: { company: string }) {
  const { locale, t } = useTranslation()
  const [taken, setTaken] = useState('')
  const form = useForm({
    what: 'Signing up failed',
    rules: {
      email: emailRule,
      username: usernameRule,
      ...newPasswordRules('password', t('account.password'))
    },
    slowErrors: ({ email = '', username = '', password = '' }) =>
      weakPasswordErrors('password', password, { email, username, company }),
    async send({ email = '', username = '', password = '' }) {
      const { signUp } = await loadCode(() => import('../../stores/accounts/accounts.ts'))
      await signUp({ email, username, password, locale })
      await continueAfterSignIn(t('entrance.signUp.done'))
    },
    handle(_error, { email = '' }) {
      setTaken(email)
      return false
    }
  })
  const { ref } = form.props

  useEffect(() => prefillFromQuery(ref.current, ['email', 'username']), [ref])

  const signInPath = localizedPath(locale, '/sign-in')
  return (
    <Form
      form={form}
      submit={t('entrance.signUp.submit')}
      isSheet
      derivesKey
      failure={
        form.failure?.code === 'email_taken' && (
          <LazyFormErrorNote error={form.failure} text={t('entrance.signUp.taken')}>
            <a
              className="link link-secondary"
              href={`${signInPath}?email=${encodeURIComponent(taken)}`}
            >
              {t('entrance.signUp.takenLink')}
            </a>
          </LazyFormErrorNote>
        )
      }
      below={
        <p className="text-sm">
          {t('entrance.signUp.have')}{' '}
          <SignInOrUpLink path={signInPath}>{t('entrance.signUp.link')}</SignInOrUpLink>
        </p>
      }
    >
      <EmailField use="email" />
      <UsernameField />
      <NewPasswordFields
        owner={() => {
          const { email = '', username = '' } = form.read()
          return { email, username, company }
        }}
      />
    </Form>
  )
}

function Closed({ company }: { company: string }) {
  const { locale, t } = useTranslation()
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="verdict">{t('entrance.signUp.closed', { company })}</p>
      <p className="text-ink-soft">{t('entrance.signUp.closedText')}</p>
      <div className="flex flex-wrap gap-4">
        <a className="btn btn-primary" href={localizedPath(locale, '/sign-in')}>
          {t('entrance.signUp.link')}
        </a>
        <a className="btn btn-outline" href={localizedPath(locale, '/verify')}>
          {t('entrance.signUp.verify')}
        </a>
      </div>
    </section>
  )
}
