import { type FormEvent, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { SignInObstacle, SubmitButton } from '../forms/AccountFields.tsx'
import { useReadiness, usernameRule } from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weaknessErrors } from '../forms/new-password-rules.ts'
import { useForm, type Values } from '../forms/use-form.ts'

interface NewPasswordFormProps {
  locale: Locale
  t: T
  /** Whose password it becomes. */
  email: string
  company: string
  submit: string
  asksForName?: boolean
  /** What stands in the field of the name at first. */
  username?: string | undefined
  /** Returns `true` where it has dealt with the failure itself. */
  handleFailure: (error: AppError) => boolean
  send: (chosen: { username: string; password: string }) => Promise<void>
}

/** A password twice, and a username where there is none yet. */
export function NewPasswordForm(props: NewPasswordFormProps) {
  const { locale, t, email, company, submit, asksForName = false, handleFailure, send } = props
  const weakness = ({ username = '', password = '' }: Values) =>
    weaknessErrors('password', password, { email, username, company })
  const { isReady, obstacle } = useReadiness()
  const form = useForm({
    ...(asksForName ? { username: usernameRule } : {}),
    ...newPasswordRules('password', t('account.password'))
  })
  const [state, setState] = useState<'idle' | 'working' | AppError>('idle')

  const go = async (event: FormEvent) => {
    event.preventDefault()
    if (state === 'working') return
    const values = form.submit()
    if (!values) return void form.add(weakness(form.read()))
    setState('working')
    const { username = '', password = '' } = values
    try {
      const weak = await weakness(values)
      if (weak) {
        form.refuse(values, weak)
        setState('idle')
        return
      }
      await send({ username, password })
    } catch (cause) {
      const error = asAppError(cause, 'Choosing a password failed')
      if (error.fields) form.refuse(values, error.fields)
      if (!handleFailure(error)) setState(error)
    }
  }

  const failure = typeof state === 'object' ? state : undefined
  return (
    <form {...form.props} onSubmit={go} className="flex flex-col gap-4">
      <SignInObstacle t={t} obstacle={obstacle} />
      {/* tells password managers whose password this is */}
      <input
        className="sr-only"
        type="email"
        name="account"
        autoComplete="username"
        value={email}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      {asksForName && <UsernameField t={t} form={form} initial={props.username} />}
      <NewPasswordFields
        t={t}
        form={form}
        chooser={() => ({ email, username: form.read()['username'] ?? '', company })}
      />
      {failure && <LazyAccountError error={failure} locale={locale} t={t} />}
      <SubmitButton
        t={t}
        label={submit}
        isWorking={state === 'working'}
        isReady={isReady}
        obstacle={obstacle}
      />
    </form>
  )
}
