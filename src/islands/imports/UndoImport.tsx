import type { ImportKind } from '../../stores/imports/import-kinds.ts'
import { undoImport } from '../../stores/imports/imports.ts'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface UndoImportProps {
  kind: ImportKind
  id: string
  /** The label of the button. Screen readers read `name` instead, if it is given. */
  label: string
  name?: string
  question: string
  /** Runs when the undo has begun. */
  onUndo?: () => void
}

/** A button that asks before it undoes an import. */
export function UndoImport({ kind, id, label, name, question, onUndo }: UndoImportProps) {
  const { t } = useTranslation()
  const undoing = useAction({
    what: 'Undoing the import failed',
    async send() {
      await undoImport(kind, id)
      onUndo?.()
    }
  })
  return (
    <>
      <ConfirmButton
        {...{ label, name, question }}
        look="btn-outline btn-sm"
        yes={t('imports.wizard.run.undoYes')}
        no={t('imports.wizard.run.undoNo')}
        action={undoing}
      />
      {undoing.failure && <ErrorNote error={undoing.failure} />}
    </>
  )
}
