import type { InputHTMLAttributes, ReactNode, Ref } from 'react'
import { FieldFrame, type FieldTexts } from './FieldFrame.tsx'

type Events = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'onBlur' | 'onFocus' | 'onInput' | 'onKeyDown' | 'onKeyUp' | 'onPaste'
>

interface FieldProps extends Events, FieldTexts {
  name: string
  type?: 'text' | 'email' | 'password'
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
