import { type FormEvent, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { localizedPath } from '../../i18n/index.ts'
import { signUp } from '../../stores/accounts/accounts.ts'
import {
  EmailField,
  InvitationLink,
  SignInObstacle,
  SubmitButton
} from '../forms/AccountFields.tsx'
import {
  continueAfterSignIn,
  emailRule,
  prefillFromQuery,
  useReadiness,
  usernameRule
} from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { ErrorCountNote, NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weaknessErrors } from '../forms/new-password-rules.ts'
import { useForm } from '../forms/use-form.ts'
import { useWords, withWords } from '../kit/use-words.ts'

interface SignUpProps {
  /** Whether people may sign up without an invitation. */
  isPublic: boolean
  company: string
}

export const SignUp = withWords(function SignUp({ isPublic, company }: SignUpProps) {
  return isPublic ? <Form company={company} /> : <Closed company={company} />
})

function Form({ company }: { company: string }) {
  const { locale, t } = useWords()
  const { isReady, obstacle } = useReadiness()
  const form = useForm(
    {
      email: emailRule,
      username: usernameRule,
      ...newPasswordRules('password', t('account.password'))
    },
    ({ email = '', username = '', password = '' }) =>
      weaknessErrors('password', password, { email, username, company })
  )
  const [isWorking, setWorking] = useState(false)
  const [failure, setFailure] = useState<{ error: AppError; email: string }>()
  const { ref } = form.props

  useEffect(() => prefillFromQuery(ref.current, ['email', 'username']), [ref])

  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (isWorking) return
    const values = form.submit()
    if (!values) return
    setWorking(true)
    setFailure(undefined)
    const { email = '', username = '', password = '' } = values
    try {
      if (!(await form.isStrong(values))) return setWorking(false)
      await signUp({ email, username, password, locale })
      await continueAfterSignIn(t('account.signUp.done'))
    } catch (cause) {
      const error = asAppError(cause, 'Signing up failed')
      setFailure({ error, email })
      if (error.fields) form.refuse(values, error.fields)
      setWorking(false)
    }
  }

  const signInPath = localizedPath(locale, '/sign-in')
  return (
    <form {...form.props} onSubmit={send} className="sheet flex flex-col gap-4" data-state="ready">
      <SignInObstacle obstacle={obstacle} />
      <ErrorCountNote form={form} />
      <EmailField form={form} use="email" />
      <UsernameField form={form} />
      <NewPasswordFields
        form={form}
        owner={() => {
          const { email = '', username = '' } = form.read()
          return { email, username, company }
        }}
      />
      {failure?.error.code === 'email_taken' ? (
        <LazyAccountError error={failure.error} text={t('account.signUp.taken')}>
          <a
            className="link link-secondary"
            href={`${signInPath}?email=${encodeURIComponent(failure.email)}`}
          >
            {t('account.signUp.takenLink')}
          </a>
        </LazyAccountError>
      ) : (
        failure && <LazyAccountError error={failure.error} />
      )}
      <SubmitButton
        label={t('account.signUp.submit')}
        isWorking={isWorking}
        isReady={isReady}
        obstacle={obstacle}
      />
      <p className="text-sm">
        {t('account.signUp.have')}{' '}
        <InvitationLink path={signInPath}>{t('account.signUp.link')}</InvitationLink>
      </p>
    </form>
  )
}

function Closed({ company }: { company: string }) {
  const { locale, t } = useWords()
  return (
    <section className="sheet flex flex-col gap-4" data-state="ready">
      <p className="verdict">{t('account.signUp.closed', { company })}</p>
      <p className="text-ink-soft">{t('account.signUp.closedText')}</p>
      <div className="flex flex-wrap gap-4">
        <a className="btn btn-primary" href={localizedPath(locale, '/sign-in')}>
          {t('account.signUp.link')}
        </a>
        <a className="btn btn-outline" href={localizedPath(locale, '/verify')}>
          {t('account.signUp.verify')}
        </a>
      </div>
    </section>
  )
}
