import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { minPasswordStrength, type PasswordStrength } from '../../core/input/password.ts'
import {
  type PasswordOwner,
  ratePasswordStrength
} from '../../stores/accounts/password-strength.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { PasswordField } from './PasswordField.tsx'

interface NewPasswordFieldProps {
  label: string
  name: string
  /** A password that contains e-mail, name or company counts as weak. Called at each keystroke. */
  owner: () => PasswordOwner
}

export function NewPasswordField({ label, name, owner }: NewPasswordFieldProps) {
  const { t } = useTranslation()
  const input = useRef<HTMLInputElement>(null)
  const [strength, setStrength] = useState<PasswordStrength>()
  const isBusy = useRef(false)

  // a call that runs already also rates what is typed meanwhile
  const judge = async () => {
    if (isBusy.current) return
    isBusy.current = true
    try {
      for (let judged: string | undefined; judged !== (input.current?.value ?? ''); ) {
        judged = input.current?.value ?? ''
        const found = await ratePasswordStrength(judged, owner())
        setStrength(judged === '' ? undefined : found)
      }
    } catch {
      // submitting checks again and shows the error
      setStrength(undefined)
    } finally {
      isBusy.current = false
    }
  }

  // the person may have typed before the script had loaded
  const judgeTyped = useEffectEvent(() => {
    if (input.current?.value) void judge()
  })
  useEffect(() => judgeTyped(), [])

  useEffect(() => {
    const form = input.current?.form
    const clear = () => setStrength(undefined)
    form?.addEventListener('reset', clear)
    return () => form?.removeEventListener('reset', clear)
  }, [])

  return (
    <PasswordField
      ref={input}
      label={label}
      name={name}
      autoComplete="new-password"
      hint={t('account.passwordHint', { limit: 12 })}
      onFocus={() => void judge()}
      onInput={() => void judge()}
    >
      {/* its place is kept from the start: a button that moves while it is pressed is not clicked */}
      <progress
        className={`progress mt-1 w-full ${strength === undefined ? '' : toneOf(strength)}`}
        aria-hidden="true"
        max={4}
        value={strength === undefined ? 0 : Math.max(strength, 0.4)}
      />
      <p role="status" className="min-h-5 text-ink-soft text-sm">
        {strength === undefined
          ? ''
          : t('account.strength.label', { word: t(`account.strength.${strength}`) })}
      </p>
    </PasswordField>
  )
}

function toneOf(strength: PasswordStrength): string {
  if (strength >= minPasswordStrength) return 'progress-success'
  return strength === 2 ? 'progress-warning' : 'progress-error'
}
