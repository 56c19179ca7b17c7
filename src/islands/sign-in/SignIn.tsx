import { useEffect, useState } from 'react'
import { required } from '../../core/input/validators.ts'
import { localizedPath } from '../../i18n/index.ts'
import { EmailField, SignInOrUpLink } from '../forms/AccountFields.tsx'
import { continueAfterSignIn, emailRule, prefillFromQuery } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { loadCode } from '../kit/load-code.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'

interface SignInProps {
  isSignUpOpen: boolean
  isDemo: boolean
}

export const SignIn = withTranslation(function SignIn({ isSignUpOpen, isDemo }: SignInProps) {
  const { locale, t } = useTranslation()
  const form = useForm({
    what: 'Signing in failed',
    rules: { email: emailRule, password: required },
    focusAfterFailure: 'password',
    async send({ email = '', password = '' }) {
      const { signIn } = await loadCode(() => import('../../stores/accounts/accounts.ts'))
      await signIn({ email, password })
      await continueAfterSignIn()
    }
  })
  const [reason, setReason] = useState<'ended' | 'page'>()
  const { ref } = form.props

  useEffect(() => {
    prefillFromQuery(ref.current, ['email'])
    const query = new URLSearchParams(location.search)
    if (query.get('reason') === 'ended') setReason('ended')
    else if (query.has('redirect')) setReason('page')
  }, [ref])

  return (
    <Form
      form={form}
      submit={t('entrance.signIn.submit')}
      isSheet
      derivesKey
      below={
        <>
          <p className="text-sm">
            <a
              className="link link-secondary"
              data-with-email
              href={localizedPath(locale, '/reset-password')}
            >
              {t('links.reset.forgot')}
            </a>
          </p>
          {isSignUpOpen && (
            <p className="text-sm">
              {t('entrance.signIn.none')}{' '}
              <SignInOrUpLink path={localizedPath(locale, '/sign-up')}>
                {t('entrance.signIn.link')}
              </SignInOrUpLink>
            </p>
          )}
        </>
      }
    >
      {reason && (
        <p role="status" className="alert alert-outline">
          {t(reason === 'ended' ? 'errors.unauthenticated' : 'entrance.signIn.why')}
        </p>
      )}
      {isDemo && <DemoAccount />}
      <EmailField use="username" />
      <PasswordField
        label={t('account.password')}
        name="password"
        autoComplete="current-password"
      />
    </Form>
  )
})

function DemoAccount() {
  const { t } = useTranslation()
  const [account, setAccount] = useState<{ email: string; password: string }>()
  useEffect(() => {
    loadCode(() => import('../../stores/accounts/accounts.ts'))
      .then(({ findDemoAccount }) => findDemoAccount())
      .then(setAccount, () => {}) // signing in works without it
  }, [])
  if (!account) return null
  return (
    <dl className="flex flex-col rounded-box border border-base-300 p-4 text-sm">
      <dt className="font-medium">{t('entrance.demo')}</dt>
      <dd className="font-mono wrap-anywhere">{account.email}</dd>
      <dt className="mt-2">{t('account.password')}</dt>
      <dd className="font-mono wrap-anywhere">{account.password}</dd>
    </dl>
  )
}
