import { type FormEvent, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { Delivery, UserInfo } from '../../contract/users.ts'
import { required } from '../../core/input/validators.ts'
import { changeEmail } from '../../stores/accounts/account-changes.ts'
import { emailRule, fieldSentence } from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { Field } from '../kit/Field.tsx'
import { useWords } from '../kit/use-words.ts'
import { AccountSection } from './AccountSection.tsx'

interface EmailFormProps {
  user: UserInfo
}

/** Form that changes the e-mail. The old e-mail stays valid until the new one is confirmed. */
export function ChangeEmail({ user }: EmailFormProps) {
  const { t } = useWords()
  const form = useForm({ email: emailRule, emailPassword: required })
  const [state, setState] = useState<
    'idle' | 'working' | { sentTo: string; delivery: Delivery } | AppError
  >('idle')

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || state === 'working') return
    setState('working')
    const { email: next = '', emailPassword: password = '' } = values
    try {
      const delivery = await changeEmail({ email: user.email, password, next })
      form.clear()
      setState({ sentTo: next.trim(), delivery })
    } catch (cause) {
      const error = asAppError(cause, 'Changing the e-mail failed')
      if (error.fields) form.refuse(values, error.fields)
      if (error.code === 'password_wrong') form.refuse(values, { emailPassword: { rule: 'wrong' } })
      setState(error.fields || error.code === 'password_wrong' ? 'idle' : error)
    }
  }

  const failure = state instanceof Error ? state : undefined
  const sent = typeof state === 'object' && 'sentTo' in state ? state : undefined
  return (
    <AccountSection id="change-email" title={t('me.email.title')} note={t('me.email.present')}>
      <form {...form.props} onSubmit={send} className="flex flex-col gap-4">
        <Field
          label={t('me.email.next')}
          name="email"
          type="email"
          autoComplete="email"
          error={fieldSentence(form.errors, 'email', t)}
        />
        <PasswordField
          label={t('me.email.password')}
          name="emailPassword"
          autoComplete="current-password"
          error={fieldSentence(form.errors, 'emailPassword', t)}
        />
        {failure && <LazyAccountError error={failure} />}
        <BusyButton label={t('me.email.submit')} isWorking={state === 'working'} />
        <p role="status" className="wrap-anywhere text-sm empty:hidden">
          {state === 'working' ? t('account.securing') : ''}
          {sent ? t(`me.email.sent.${sent.delivery}`, { email: sent.sentTo }) : ''}
        </p>
      </form>
    </AccountSection>
  )
}
