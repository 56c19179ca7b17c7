import { useId } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { BusyButton } from './BusyButton.tsx'

interface ButtonWithNoteProps {
  label: string
  note: string
  look?: string
  action: {
    start: (input: undefined) => Promise<void>
    isWorking: boolean
    failure: AppError | undefined
  }
}

/** A button with a sentence below it, and the error of `action`. */
export function ButtonWithNote(props: ButtonWithNoteProps) {
  const { label, note, look = 'btn-outline btn-sm', action } = props
  const id = useId()
  return (
    <div className="flex flex-col items-start gap-2">
      {action.failure && <ErrorNote error={action.failure} />}
      <BusyButton
        label={label}
        look={look}
        isWorking={action.isWorking}
        describedBy={id}
        onClick={() => void action.start(undefined)}
      />
      <p id={id} className="meta">
        {note}
      </p>
    </div>
  )
}
