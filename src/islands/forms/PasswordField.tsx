import { type KeyboardEvent, type ReactNode, type Ref, useState } from 'react'
import { useTranslation } from '../kit/use-translation.ts'
import { Field } from './Field.tsx'

interface PasswordFieldProps {
  label: string
  name: string
  autoComplete: 'current-password' | 'new-password'
  hint?: string
  error?: string | undefined
  ref?: Ref<HTMLInputElement>
  onFocus?: () => void
  onInput?: () => void
  children?: ReactNode
}

export function PasswordField({ children, ...field }: PasswordFieldProps) {
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  const [isCapsLock, setCapsLock] = useState(false)
  const readLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState('CapsLock'))
  const toggle = (
    <button
      type="button"
      className="min-h-8 cursor-pointer px-2 font-medium text-secondary text-sm"
      aria-label={t(isShown ? 'account.hidePassword' : 'account.showPassword')}
      aria-pressed={isShown}
      onClick={() => setShown(!isShown)}
    >
      {t(isShown ? 'account.hide' : 'account.show')}
    </button>
  )
  return (
    <Field
      {...field}
      type={isShown ? 'text' : 'password'}
      spellCheck={false}
      action={toggle}
      onKeyDown={readLock}
      onKeyUp={readLock}
      onBlur={() => setCapsLock(false)}
    >
      <p role="status" className="text-sm text-warning empty:hidden">
        {isCapsLock ? t('account.capsLock') : ''}
      </p>
      {children}
    </Field>
  )
}

/** Tells password managers which account the password of the form belongs to. */
export function HiddenEmailField({ email }: { email: string }) {
  return (
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
  )
}
