import { useEffect, useRef } from 'react'

interface ConfirmDialogProps {
  question: string
  yes: string
  no: string
  onYes: () => void
  onNo?: () => void
  /** Runs when the focus is back where it was. */
  onClose: () => void
}

/** Escape and a click outside the dialog answer no. */
export function ConfirmDialog({ question, yes, no, onYes, onNo, onClose }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)

  useEffect(() => {
    const shown = dialog.current
    if (!shown?.open) shown?.showModal()
  }, [])

  return (
    <dialog
      ref={dialog}
      className="confirm-dialog"
      aria-label={question}
      onClose={event => {
        // keeps a dialog around this one open
        event.stopPropagation()
        onClose()
        if (event.currentTarget.returnValue === 'yes') onYes()
        else onNo?.()
      }}
      onPointerDown={event => {
        if (event.target === dialog.current && isOnBackdrop(dialog.current, event))
          dialog.current.close()
      }}
    >
      <p>{question}</p>
      <form method="dialog" className="confirm-dialog-buttons">
        <button type="submit" value="no" className="btn">
          {no}
        </button>
        <button type="submit" value="yes" className="btn btn-outline">
          {yes}
        </button>
      </form>
    </dialog>
  )
}

function isOnBackdrop(
  dialog: HTMLDialogElement,
  at: { clientX: number; clientY: number }
): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect()
  return at.clientX < left || at.clientX > right || at.clientY < top || at.clientY > bottom
}
