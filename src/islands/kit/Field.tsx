import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from 'react'

type Events = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'onBlur' | 'onFocus' | 'onInput' | 'onKeyDown' | 'onKeyUp' | 'onPaste'
>

export interface FieldTexts {
  label: string
  hint?: string | undefined
  error?: string | undefined
}

interface FieldProps extends Events, FieldTexts {
  name: string
  type?: 'text' | 'email' | 'password'
  autoComplete?: string
  inputMode?: 'numeric' | 'decimal'
  spellCheck?: boolean
  mono?: boolean
  initial?: string | undefined
  /** Content inside the input at its end. */
  action?: ReactNode
  children?: ReactNode
  ref?: Ref<HTMLInputElement>
}

/** The input is uncontrolled: changing `initial` later has no effect. */
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
  return (
    <FieldFrame
      {...{ label, hint, error }}
      control={props => (
        <div className="relative">
          <input
            {...props}
            ref={ref}
            name={name}
            type={type}
            className={`input w-full ${mono ? 'font-mono' : ''} ${action ? 'pe-20' : ''} ${error ? 'border-error' : ''}`}
            autoComplete={autoComplete}
            inputMode={inputMode}
            spellCheck={spellCheck}
            autoCapitalize={type === 'text' ? undefined : 'none'}
            defaultValue={initial}
            {...events}
          />
          {action && <div className="absolute inset-y-0 end-1 z-1 flex items-center">{action}</div>}
        </div>
      )}
    >
      {children}
    </FieldFrame>
  )
}

interface ControlProps {
  id: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}

interface FieldFrameProps extends FieldTexts {
  control: (props: ControlProps) => ReactNode
  /** Drawn between hint and error. */
  children?: ReactNode
}

export function FieldFrame({ label, hint, error, control, children }: FieldFrameProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="label-text">
        {label}
      </label>
      {control({
        id,
        'aria-invalid': error !== undefined,
        'aria-describedby': described || undefined
      })}
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
