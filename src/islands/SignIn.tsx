import { type FormEvent, useEffect, useMemo, useState } from 'react'
import { type AppError, asAppError } from '../contract/errors.ts'
import { type Locale, localizedPath, translator, type Words } from '../i18n/index.ts'
import { signIn } from '../stores/accounts.ts'
import { afterSignIn } from '../stores/users.ts'
import {
  emailErrors,
  fieldSentence,
  prefill,
  useCarried,
  useReadiness
} from './parts/account-form.ts'
import { ErrorNote } from './parts/ErrorNote.tsx'
import { Field } from './parts/Field.tsx'
import { PasswordField } from './parts/PasswordField.tsx'
import { retryTime } from './parts/time.ts'
import { useForm, type Values } from './parts/use-form.ts'

interface SignInProps {
  locale: Locale
  /** Namespaces `account`, `errors` and `common`. */
  words: Words
  /** Whether people may sign up by themselves. */
  isPublic: boolean
}

export function SignIn({ locale, words, isPublic }: SignInProps) {
  const t = translator(locale, words)
  const { isReady, obstacle } = useReadiness()
  const carried = useCarried()
  const form = useForm(check)
  const [isWorking, setWorking] = useState(false)
  const [error, setError] = useState<AppError>()
  const { ref } = form.props

  const hasEnded = new URLSearchParams(carried).get('reason') === 'ended'

  useEffect(() => prefill(ref.current, ['email']), [ref])

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || isWorking) return
    setWorking(true)
    setError(undefined)
    try {
      const { email = '', password = '' } = values
      await signIn({ email, password })
      const { navigate } = await import('../stores/navigation.ts')
      await navigate(await afterSignIn(), { replace: true })
    } catch (cause) {
      setError(asAppError(cause, 'Signing in failed'))
      setWorking(false)
      form.focus('password')
    }
  }

  const until = useMemo(() => error && retryTime(error, locale), [error, locale])
  const note = obstacle && t(`account.${obstacle}`)
  return (
    <form {...form.props} onSubmit={send} className="sheet flex flex-col gap-4" data-state="ready">
      {note && (
        <p role="alert" className="alert alert-outline alert-warning">
          {note}
        </p>
      )}
      {hasEnded && (
        <p role="status" className="alert alert-outline">
          {t('errors.unauthenticated')}
        </p>
      )}
      <Field
        label={t('account.email')}
        name="email"
        type="email"
        autoComplete="username"
        error={fieldSentence(form.errors, 'email', t)}
      />
      <PasswordField
        t={t}
        label={t('account.password')}
        name="password"
        autoComplete="current-password"
        error={fieldSentence(form.errors, 'password', t)}
      />
      {error && (
        <ErrorNote
          error={error}
          locale={locale}
          t={t}
          text={until && t('account.tryAgainAt', { time: until })}
        />
      )}
      <button
        type="submit"
        className="btn btn-primary"
        disabled={!isReady || obstacle !== undefined}
        aria-disabled={isWorking}
      >
        {isWorking && <span className="loading loading-spinner loading-sm" aria-hidden="true" />}
        {t('account.signIn.submit')}
      </button>
      <p role="status" className="text-ink-soft text-sm empty:hidden">
        {isWorking ? t('account.securing') : ''}
      </p>
      {isPublic && (
        <p className="text-sm">
          {t('account.signIn.none')}{' '}
          <a className="link link-secondary" href={localizedPath(locale, '/sign-up') + carried}>
            {t('account.signIn.link')}
          </a>
        </p>
      )}
    </form>
  )
}

function check({ email, password }: Values) {
  return { ...emailErrors(email), ...(password ? {} : { password: { rule: 'required' } }) }
}
