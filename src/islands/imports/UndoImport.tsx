import { useState } from 'react'
import type { ImportKind } from '../../stores/imports/import-kinds.ts'
import { undoImport } from '../../stores/imports/imports.ts'
import { useAction } from '../forms/use-action.ts'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWords } from '../kit/use-words.ts'

interface UndoImportProps {
  kind: ImportKind
  id: string
  /** The label of the button. `name` is what screen readers read instead. */
  label: string
  name?: string
  question: string
  /** Runs when the undo has begun. */
  onUndo?: () => void
}

/** A button that asks before it undoes an import. */
export function UndoImport({ kind, id, label, name, question, onUndo }: UndoImportProps) {
  const { t } = useWords()
  const [isAsking, setAsking] = useState(false)
  const undoing = useAction({
    what: 'Undoing the import failed',
    async send() {
      await undoImport(kind, id)
      onUndo?.()
    }
  })
  return (
    <>
      <button
        type="button"
        className="btn btn-outline btn-sm"
        aria-disabled={undoing.isWorking}
        aria-label={name}
        onClick={() => {
          if (!undoing.isWorking) setAsking(true)
        }}
      >
        {label}
      </button>
      {undoing.failure && <ErrorNote error={undoing.failure} />}
      {isAsking && (
        <ConfirmDialog
          question={question}
          yes={t('imports.wizard.run.undoYes')}
          no={t('imports.wizard.run.undoNo')}
          onYes={() => void undoing.start(undefined)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
