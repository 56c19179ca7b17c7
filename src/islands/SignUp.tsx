import { type FormEvent, useEffect, useMemo, useState } from 'react'
import { type AppError, asAppError, type FieldErrors } from '../contract/errors.ts'
import { type Locale, localizedPath, type T, translator, type Words } from '../i18n/index.ts'
import { signUp } from '../stores/accounts.ts'
import { afterSignIn } from '../stores/users.ts'
import {
  emailErrors,
  fieldSentence,
  newPasswordErrors,
  prefill,
  useCarried,
  useReadiness,
  usernameErrors,
  weaknessErrors
} from './parts/account-form.ts'
import { ErrorNote } from './parts/ErrorNote.tsx'
import { Field } from './parts/Field.tsx'
import { NewPasswordField } from './parts/NewPasswordField.tsx'
import { PasswordField } from './parts/PasswordField.tsx'
import { retryTime } from './parts/time.ts'
import { useForm, type Values } from './parts/use-form.ts'

interface SignUpProps {
  locale: Locale
  /** Namespaces `account`, `errors` and `common`. */
  words: Words
  /** Whether people may sign up by themselves. */
  isPublic: boolean
  company: string
}

export function SignUp({ locale, words, isPublic, company }: SignUpProps) {
  const t = translator(locale, words)
  return isPublic ? (
    <Form locale={locale} t={t} company={company} />
  ) : (
    <Closed locale={locale} t={t} company={company} />
  )
}

function Form({ locale, t, company }: { locale: Locale; t: T; company: string }) {
  const { isReady, obstacle } = useReadiness()
  const carried = useCarried()
  const form = useForm(check)
  const [isWorking, setWorking] = useState(false)
  const [failure, setFailure] = useState<{ error: AppError; email: string }>()
  const { ref } = form.props

  useEffect(() => prefill(ref.current, ['email', 'username']), [ref])

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || isWorking) return
    setWorking(true)
    setFailure(undefined)
    const { email = '', username = '', password = '' } = values
    try {
      const weak = await weaknessErrors('password', password, { email, username, company })
      if (weak) {
        form.refuse(weak)
        setWorking(false)
        return
      }
      await signUp({ email, username, password, locale })
      const { navigate } = await import('../stores/navigation.ts')
      await navigate(await afterSignIn(), { replace: true })
    } catch (cause) {
      const error = asAppError(cause, 'Signing up failed')
      setFailure({ error, email })
      if (error.fields) form.refuse(error.fields)
      setWorking(false)
    }
  }

  const bad = Object.keys(form.errors).length
  const until = useMemo(() => failure && retryTime(failure.error, locale), [failure, locale])
  const note = obstacle && t(`account.${obstacle}`)
  const signInPath = localizedPath(locale, '/sign-in')
  return (
    <form {...form.props} onSubmit={send} className="sheet flex flex-col gap-4" data-state="ready">
      {note && (
        <p role="alert" className="alert alert-outline alert-warning">
          {note}
        </p>
      )}
      {bad > 3 && (
        <p role="alert" className="alert alert-error alert-outline">
          {t('account.attention', { count: bad })}
        </p>
      )}
      <Field
        label={t('account.email')}
        name="email"
        type="email"
        autoComplete="email"
        error={fieldSentence(form.errors, 'email', t)}
      />
      <Field
        label={t('account.username')}
        name="username"
        autoComplete="name"
        spellCheck={false}
        hint={t('account.usernameHint')}
        error={fieldSentence(form.errors, 'username', t)}
      />
      <NewPasswordField
        t={t}
        label={t('account.password')}
        name="password"
        chooser={() => {
          const { email = '', username = '' } = form.read()
          return { email, username, company }
        }}
        error={fieldSentence(form.errors, 'password', t)}
      />
      <PasswordField
        t={t}
        label={t('account.repeat')}
        name="repeat"
        autoComplete="new-password"
        error={fieldSentence(form.errors, 'repeat', t)}
      />
      <p className="font-serif text-lg">{t('account.stays')}</p>
      {failure?.error.code === 'email_taken' ? (
        <ErrorNote error={failure.error} locale={locale} t={t} text={t('account.signUp.taken')}>
          <a
            className="link link-secondary"
            href={`${signInPath}?email=${encodeURIComponent(failure.email)}`}
          >
            {t('account.signUp.takenLink')}
          </a>
        </ErrorNote>
      ) : (
        failure && (
          <ErrorNote
            error={failure.error}
            locale={locale}
            t={t}
            text={until && t('account.tryAgainAt', { time: until })}
          />
        )
      )}
      <button
        type="submit"
        className="btn btn-primary"
        disabled={!isReady || obstacle !== undefined}
        aria-disabled={isWorking}
      >
        {isWorking && <span className="loading loading-spinner loading-sm" aria-hidden="true" />}
        {t('account.signUp.submit')}
      </button>
      <p role="status" className="text-ink-soft text-sm empty:hidden">
        {isWorking ? t('account.securing') : ''}
      </p>
      <p className="text-sm">
        {t('account.signUp.have')}{' '}
        <a className="link link-secondary" href={signInPath + carried}>
          {t('account.signUp.link')}
        </a>
      </p>
    </form>
  )
}

function Closed({ locale, t, company }: { locale: Locale; t: T; company: string }) {
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

function check(values: Values): FieldErrors {
  return {
    ...emailErrors(values['email']),
    ...usernameErrors(values['username']),
    ...newPasswordErrors('password', values)
  }
}
