import { type FormEvent, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { UserInfo } from '../../contract/users.ts'
import { required, type Validator } from '../../core/input/validators.ts'
import { changePassword } from '../../stores/accounts/account-changes.ts'
import { loadSessions } from '../../stores/accounts/session-list.ts'
import { fieldSentence } from '../forms/account-form.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { NewPasswordField } from '../forms/NewPasswordField.tsx'
import { newPasswordRules, weaknessErrors } from '../forms/new-password-rules.ts'
import { HiddenUsername, PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { useWords } from '../kit/use-words.ts'
import { AccountSection } from './AccountSection.tsx'

interface PasswordFormProps {
  user: UserInfo
}

export function ChangePassword({ user }: PasswordFormProps) {
  const { t } = useWords()
  const [state, setState] = useState<'idle' | 'working' | 'done' | AppError>('idle')
  const { email, username } = user
  const owner = { email, username, company: user.company.name }
  const form = useForm(
    { password: required, ...newPasswordRules('next', t('me.password.next'), different) },
    ({ next = '' }) => weaknessErrors('next', next, owner)
  )

  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (state === 'working') return
    const values = form.submit()
    if (!values) return
    setState('working')
    const { password = '', next = '' } = values
    try {
      if (!(await form.isStrong(values))) return setState('idle')
      await changePassword({ email, password, next })
      form.clear()
      setState('done')
      void loadSessions()
    } catch (cause) {
      const error = asAppError(cause, 'Changing the password failed')
      if (error.code === 'password_wrong') form.refuse(values, { password: { rule: 'wrong' } })
      setState(error.code === 'password_wrong' ? 'idle' : error)
    }
  }

  const isWorking = state === 'working'
  const failure = typeof state === 'object' ? state : undefined
  return (
    <AccountSection
      id="change-password"
      title={t('me.password.title')}
      note={t('me.password.effect')}
    >
      <form {...form.props} onSubmit={send} className="flex flex-col gap-4">
        <HiddenUsername email={email} />
        <PasswordField
          label={t('me.password.present')}
          name="password"
          autoComplete="current-password"
          error={fieldSentence(form.errors, 'password', t)}
        />
        <NewPasswordField
          label={t('me.password.next')}
          name="next"
          owner={() => owner}
          error={fieldSentence(form.errors, 'next', t)}
        />
        <PasswordField
          label={t('me.password.repeat')}
          name="repeat"
          autoComplete="new-password"
          error={fieldSentence(form.errors, 'repeat', t)}
        />
        <p className="font-serif text-lg">{t('account.stays')}</p>
        {failure && <LazyAccountError error={failure} />}
        <BusyButton label={t('me.password.submit')} isWorking={isWorking} />
        <p role="status" className="text-sm empty:hidden">
          {isWorking ? t('account.securing') : state === 'done' ? t('me.password.done') : ''}
        </p>
      </form>
    </AccountSection>
  )
}

const different: Validator = (next, { password } = {}) =>
  next === password ? { rule: 'different' } : undefined
