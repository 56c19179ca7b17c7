import { type FormEvent, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { type Locale, localizedPath, type T, translator, type Words } from '../../i18n/index.ts'
import { signUp } from '../../stores/accounts/accounts.ts'
import { CarryingLink, EmailField, SignInObstacle, SubmitButton } from '../forms/AccountFields.tsx'
import {
  continueAfterSignIn,
  emailRule,
  prefillFromQuery,
  useReadiness,
  usernameRule
} from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { ManyFaults, NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weaknessErrors } from '../forms/new-password-rules.ts'
import { useForm, type Values } from '../forms/use-form.ts'

interface SignUpProps {
  locale: Locale
  /** Namespaces `account`, `errors`, `fields` and `common`. */
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
  const form = useForm({
    email: emailRule,
    username: usernameRule,
    ...newPasswordRules('password', t('account.password'))
  })
  const [isWorking, setWorking] = useState(false)
  const [failure, setFailure] = useState<{ error: AppError; email: string }>()
  const { ref } = form.props

  useEffect(() => prefillFromQuery(ref.current, ['email', 'username']), [ref])

  const weakness = ({ email = '', username = '', password = '' }: Values) =>
    weaknessErrors('password', password, { email, username, company })

  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (isWorking) return
    const values = form.submit()
    if (!values) return void form.add(weakness(form.read()))
    setWorking(true)
    setFailure(undefined)
    const { email = '', username = '', password = '' } = values
    try {
      const weak = await weakness(values)
      if (weak) {
        form.refuse(values, weak)
        setWorking(false)
        return
      }
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
      <SignInObstacle t={t} obstacle={obstacle} />
      <ManyFaults t={t} form={form} />
      <EmailField t={t} form={form} use="email" />
      <UsernameField t={t} form={form} />
      <NewPasswordFields
        t={t}
        form={form}
        chooser={() => {
          const { email = '', username = '' } = form.read()
          return { email, username, company }
        }}
      />
      {failure?.error.code === 'email_taken' ? (
        <LazyAccountError
          error={failure.error}
          locale={locale}
          t={t}
          text={t('account.signUp.taken')}
        >
          <a
            className="link link-secondary"
            href={`${signInPath}?email=${encodeURIComponent(failure.email)}`}
          >
            {t('account.signUp.takenLink')}
          </a>
        </LazyAccountError>
      ) : (
        failure && <LazyAccountError error={failure.error} locale={locale} t={t} />
      )}
      <SubmitButton
        t={t}
        label={t('account.signUp.submit')}
        isWorking={isWorking}
        isReady={isReady}
        obstacle={obstacle}
      />
      <p className="text-sm">
        {t('account.signUp.have')}{' '}
        <CarryingLink path={signInPath}>{t('account.signUp.link')}</CarryingLink>
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
