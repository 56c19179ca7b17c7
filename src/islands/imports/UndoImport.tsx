import type { Import } from '../../contract/imports.ts'
import type { ImportKind } from '../../stores/imports/import-kinds.ts'
import { undoImport } from '../../stores/imports/imports.ts'
import { ConfirmButton } from '../forms/ConfirmButton.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useAction } from '../kit/use-action.ts'
import type { ImportWizardProps } from './wizard-props.ts'

interface UndoImportProps {
  kind: ImportKind
  item: Import
  label: string
  name?: string
  undoQuestion: ImportWizardProps['undoQuestion']
  onUndo?: () => void
}

export function UndoImport({ kind, item, label, name, undoQuestion, onUndo }: UndoImportProps) {
  const undoing = useAction({
    what: 'Undoing the import failed',
    async send() {
      await undoImport(kind, item.id)
      onUndo?.()
    }
  })
  return (
    <>
      <ConfirmButton
        {...{ label, name }}
        {...undoQuestion(item)}
        look="btn-outline btn-sm"
        action={undoing}
      />
      {undoing.failure && <ErrorNote error={undoing.failure} />}
    </>
  )
}
