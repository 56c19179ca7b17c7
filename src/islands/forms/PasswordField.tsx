import { type KeyboardEvent, type ReactNode, type Ref, useState } from 'react'
import type { T } from '../../i18n/index.ts'
import { Field } from '../kit/Field.tsx'

interface PasswordFieldProps {
  t: T
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

/** Paste and password managers work; the toggle shows what was typed, and caps lock is told. */
export function PasswordField({ t, children, ...field }: PasswordFieldProps) {
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
