import { type ComponentProps, type ReactNode, useEffect, useState } from 'react'
import { useRestoreFocus } from '../kit/use-restore-focus.ts'
import { Form } from './Form.tsx'

interface InPlaceEditorProps {
  label: string
  look?: string
  /** Content above the button while the form is closed. */
  shown?: ReactNode
  isLocked?: boolean
  /** `close` shows the button again. */
  children: (close: () => void) => ReactNode
}

export function InPlaceEditor(props: InPlaceEditorProps) {
  const { label, look = 'btn-outline btn-sm', shown, isLocked = false, children } = props
  const [isOpen, setOpen] = useState(false)
  const opener = useRestoreFocus(isOpen)
  if (isOpen) return children(() => setOpen(false))
  return (
    <>
      {shown}
      {!isLocked && (
        <button
          ref={opener}
          type="button"
          className={`btn ${look} self-start`}
          onClick={() => setOpen(true)}
        >
          {label}
        </button>
      )}
    </>
  )
}

interface InPlaceFormProps extends Omit<ComponentProps<typeof Form>, 'beside'> {
  cancel: string
  close: () => void
}

export function InPlaceForm({ cancel, close, ...form }: InPlaceFormProps) {
  const { ref } = form.form.props
  useEffect(() => ref.current?.querySelector<HTMLElement>('input, select')?.focus(), [ref])
  return (
    <Form
      {...form}
      beside={
        <button type="button" className="btn btn-outline" onClick={close}>
          {cancel}
        </button>
      }
    />
  )
}
