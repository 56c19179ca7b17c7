import { type FormEvent, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { SignInObstacle, SubmitButton } from '../forms/AccountFields.tsx'
import { useReadiness, usernameRule } from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weaknessErrors } from '../forms/new-password-rules.ts'
import { HiddenUsername } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { useWords } from '../kit/use-words.ts'

interface NewPasswordFormProps {
  /** E-mail of the account that gets the password. */
  email: string
  company: string
  submit: string
  asksForName?: boolean
  /** Initial value of the name field. Without it the form has no such field. */
  username?: string | undefined
  /** Returns `true` where it shows the error itself, so that the form does not. */
  handleFailure: (error: AppError) => boolean
  send: (chosen: { username: string; password: string }) => Promise<void>
}

/** Asks for a new password twice, and for a username where the account has none yet. */
export function NewPasswordForm(props: NewPasswordFormProps) {
  const { email, company, submit, asksForName = false, handleFailure, send } = props
  const { t } = useWords()
  const { isReady, obstacle } = useReadiness()
  const form = useForm(
    {
      ...(asksForName ? { username: usernameRule } : {}),
      ...newPasswordRules('password', t('account.password'))
    },
    ({ username = '', password = '' }) =>
      weaknessErrors('password', password, { email, username, company })
  )
  const [state, setState] = useState<'idle' | 'working' | AppError>('idle')

  const go = async (event: FormEvent) => {
    event.preventDefault()
    if (state === 'working') return
    const values = form.submit()
    if (!values) return
    setState('working')
    const { username = '', password = '' } = values
    try {
      if (!(await form.isStrong(values))) return setState('idle')
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
      <SignInObstacle obstacle={obstacle} />
      <HiddenUsername email={email} />
      {asksForName && <UsernameField form={form} initial={props.username} />}
      <NewPasswordFields
        form={form}
        owner={() => ({ email, username: form.read()['username'] ?? '', company })}
      />
      {failure && <LazyAccountError error={failure} />}
      <SubmitButton
        label={submit}
        isWorking={state === 'working'}
        isReady={isReady}
        obstacle={obstacle}
      />
    </form>
  )
}
