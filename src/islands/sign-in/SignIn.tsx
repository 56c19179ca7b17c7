import { type FormEvent, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { required } from '../../core/input/validators.ts'
import { localizedPath } from '../../i18n/index.ts'
import { signIn } from '../../stores/accounts/accounts.ts'
import {
  EmailField,
  InvitationLink,
  SignInObstacle,
  SubmitButton
} from '../forms/AccountFields.tsx'
import {
  continueAfterSignIn,
  emailRule,
  fieldSentence,
  prefillFromQuery,
  useReadiness
} from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { useWords, withWords } from '../kit/use-words.ts'
import { DemoAccount } from './DemoAccount.tsx'

interface SignInProps {
  /** Whether people may sign up without an invitation. */
  isPublic: boolean
  /** Whether this is the host of the demonstration. */
  isDemo: boolean
}

export const SignIn = withWords(function SignIn({ isPublic, isDemo }: SignInProps) {
  const { locale, t } = useWords()
  const { isReady, obstacle } = useReadiness()
  const form = useForm({ email: emailRule, password: required })
  const [isWorking, setWorking] = useState(false)
  const [error, setError] = useState<AppError>()
  const [hasEnded, setEnded] = useState(false)
  const { ref } = form.props

  useEffect(() => {
    prefillFromQuery(ref.current, ['email'])
    setEnded(new URLSearchParams(location.search).get('reason') === 'ended')
  }, [ref])

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || isWorking) return
    setWorking(true)
    setError(undefined)
    try {
      const { email = '', password = '' } = values
      await signIn({ email, password })
      await continueAfterSignIn()
    } catch (cause) {
      setError(asAppError(cause, 'Signing in failed'))
      setWorking(false)
      form.focus('password')
    }
  }

  return (
    <form {...form.props} onSubmit={send} className="sheet flex flex-col gap-4" data-state="ready">
      <SignInObstacle obstacle={obstacle} />
      {hasEnded && (
        <p role="status" className="alert alert-outline">
          {t('errors.unauthenticated')}
        </p>
      )}
      {isDemo && <DemoAccount />}
      <EmailField form={form} use="username" />
      <PasswordField
        label={t('account.password')}
        name="password"
        autoComplete="current-password"
        error={fieldSentence(form.errors, 'password', t)}
      />
      {error && <LazyAccountError error={error} />}
      <SubmitButton
        label={t('account.signIn.submit')}
        isWorking={isWorking}
        isReady={isReady}
        obstacle={obstacle}
      />
      <p className="text-sm">
        <a
          className="link link-secondary"
          data-with-email
          href={localizedPath(locale, '/reset-password')}
        >
          {t('links.reset.forgot')}
        </a>
      </p>
      {isPublic && (
        <p className="text-sm">
          {t('account.signIn.none')}{' '}
          <InvitationLink path={localizedPath(locale, '/sign-up')}>
            {t('account.signIn.link')}
          </InvitationLink>
        </p>
      )}
    </form>
  )
})
