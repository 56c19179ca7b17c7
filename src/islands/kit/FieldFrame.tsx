import { type ReactNode, useId } from 'react'

export interface FieldTexts {
  label: string
  hint?: string | undefined
  /** Error message of the field, if it has an error. */
  error?: string | undefined
}

/** What ties a control to its label, hint and error. */
interface ControlProps {
  id: string
  'aria-invalid': boolean
  'aria-describedby': string | undefined
}

interface FieldFrameProps extends FieldTexts {
  /** Draws the control. */
  control: (props: ControlProps) => ReactNode
  /** Drawn below the field, between hint and error. */
  children?: ReactNode
}

/** A field with its label above, hint and error below. */
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
