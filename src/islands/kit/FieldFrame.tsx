import { type ReactNode, useId } from 'react'

export interface FieldTexts {
  label: string
  hint?: string | undefined
  error?: string | undefined
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
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="label-text">
        {label}
      </label>
      {control({
        id,
        'aria-invalid': error !== undefined,
        'aria-describedby': fieldNoteIds(id, hint, error)
      })}
      <FieldNotes {...{ id, hint, error }}>{children}</FieldNotes>
    </div>
  )
}

/** The ids of the notes that describe a control. */
export function fieldNoteIds(id: string, hint?: string, error?: string): string | undefined {
  return [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined
}

type FieldNotesProps = Omit<FieldTexts, 'label'> & { id: string; children?: ReactNode }

export function FieldNotes({ id, hint, error, children }: FieldNotesProps) {
  return (
    <>
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
    </>
  )
}
