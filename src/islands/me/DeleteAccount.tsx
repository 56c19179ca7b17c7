import { type FormEvent, useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { UserInfo } from '../../contract/users.ts'
import { required } from '../../core/input/validators.ts'
import { localizedPath } from '../../i18n/index.ts'
import { deleteAccount } from '../../stores/accounts/account-changes.ts'
import { fieldSentence } from '../forms/account-form.ts'
import { LazyAccountError } from '../forms/LazyAccountError.tsx'
import { PasswordField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { useWords } from '../kit/use-words.ts'
import { AccountSection } from './AccountSection.tsx'

interface DeleteAccountProps {
  user: UserInfo
}

/**
 * Form that deletes the account. States what is deleted and what is not, and asks for the password.
 */
export function DeleteAccount({ user }: DeleteAccountProps) {
  const { t } = useWords()
  const [isOpen, setOpen] = useState(false)
  const first = useRef<HTMLButtonElement>(null)
  const stay = () => {
    setOpen(false)
    requestAnimationFrame(() => first.current?.focus())
  }
  return (
    <AccountSection id="delete-account" title={t('me.delete.title')} note={t('me.delete.effect')}>
      {isOpen ? (
        <Question user={user} stay={stay} />
      ) : (
        <button
          ref={first}
          type="button"
          className="btn btn-outline self-start"
          onClick={() => setOpen(true)}
        >
          {t('me.delete.open')}
        </button>
      )}
    </AccountSection>
  )
}

function Question({ user, stay }: DeleteAccountProps & { stay: () => void }) {
  const { locale, t } = useWords()
  const form = useForm({ deletePassword: required })
  const [state, setState] = useState<'idle' | 'working' | AppError>('idle')
  const field = useRef<HTMLInputElement>(null)

  useEffect(() => field.current?.focus(), [])

  const send = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || state === 'working') return
    setState('working')
    try {
      await deleteAccount({ email: user.email, password: values['deletePassword'] ?? '' })
      // in full, so that nothing of the person stays in memory
      location.assign(localizedPath(locale, '/'))
    } catch (cause) {
      const error = asAppError(cause, 'Deleting the account failed')
      const isWrong = error.code === 'password_wrong'
      if (isWrong) form.refuse(values, { deletePassword: { rule: 'wrong' } })
      setState(isWrong ? 'idle' : error)
    }
  }

  const failure = typeof state === 'object' ? state : undefined
  return (
    <form {...form.props} onSubmit={send} className="flex flex-col gap-4">
      <p className="alert alert-error alert-outline wrap-anywhere">
        {t('me.delete.question', { email: user.email })}
      </p>
      <PasswordField
        ref={field}
        label={t('account.password')}
        name="deletePassword"
        autoComplete="current-password"
        error={fieldSentence(form.errors, 'deletePassword', t)}
      />
      {failure && <LazyAccountError error={failure} />}
      <div className="flex flex-wrap gap-4">
        <button type="submit" className="btn btn-error" aria-disabled={state === 'working'}>
          {t('me.delete.confirm')}
        </button>
        <button type="button" className="btn btn-ghost" onClick={stay}>
          {t('me.delete.stay')}
        </button>
      </div>
      <p role="status" className="text-sm empty:hidden">
        {state === 'working' ? t('account.securing') : ''}
      </p>
    </form>
  )
}
