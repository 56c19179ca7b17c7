import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from 'react'

type Events = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'onBlur' | 'onFocus' | 'onInput' | 'onKeyDown' | 'onKeyUp' | 'onPaste'
>

interface FieldProps extends Events {
  label: string
  name: string
  type?: 'text' | 'email' | 'password'
  hint?: string | undefined
  /** Error message of the field, if it has an error. */
  error?: string | undefined
  autoComplete?: string
  inputMode?: 'numeric' | 'decimal'
  spellCheck?: boolean
  mono?: boolean
  /** Initial value of the field. */
  initial?: string | undefined
  /** Drawn at the end of the field. */
  action?: ReactNode
  /** Drawn below the field, between hint and error. */
  children?: ReactNode
  ref?: Ref<HTMLInputElement>
}

/** An input with a label above it, and hint and error below it. The input keeps its own value. */
export function Field({
  label,
  name,
  type = 'text',
  hint,
  error,
  autoComplete,
  inputMode,
  spellCheck,
  mono = false,
  initial,
  action,
  children,
  ref,
  ...events
}: FieldProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="label-text">
        {label}
      </label>
      <div className="relative">
        <input
          ref={ref}
          id={id}
          name={name}
          type={type}
          className={`input w-full ${mono ? 'font-mono' : ''} ${action ? 'pe-20' : ''} ${error ? 'border-error' : ''}`}
          autoComplete={autoComplete}
          inputMode={inputMode}
          spellCheck={spellCheck}
          autoCapitalize={type === 'text' ? undefined : 'none'}
          aria-invalid={error !== undefined}
          aria-describedby={described || undefined}
          defaultValue={initial}
          {...events}
        />
        {action && <div className="absolute inset-y-0 end-1 z-1 flex items-center">{action}</div>}
      </div>
      {hint && (
        <p id={`${id}-hint`} className="text-ink-soft text-sm">
          {hint}
        </p>
      )}
      {children}
      {error && (
        <p id={`${id}-error`} className="text-error text-sm">
          {error}
        </p>
      )}
    </div>
  )
}
