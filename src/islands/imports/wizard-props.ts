import type { ComponentType, ReactNode } from 'react'
import type { Import, NotUndoneReason } from '../../contract/imports.ts'
import type { ImportKind, RowRefusalReason } from '../../stores/imports/import-kinds.ts'

/**
 * What the import wizard needs for one kind of import, such as people: texts, options and links.
 */
export interface ImportWizardProps {
  kind: ImportKind
  /** The label of each field by its name. */
  labels: Readonly<Record<string, string>>
  hints: Readonly<Record<string, string>>
  reasonText: (reason: RowRefusalReason) => string
  runLabel: (count: number) => string
  /** Returns the sentence that says why an undo left an imported item as it is. */
  keptText: (kept: NotUndoneReason) => string
  /** Returns the question that is asked before an undo, with its two answers. */
  undoQuestion: (item: Import) => { question: string; yes: string; no: string }
  undoneText: (undone: NonNullable<Import['undone']>) => string
  /** Says what a run has created and changed: `181 people added`. */
  resultText: (result: NonNullable<Import['result']>) => string
  /** File name and example row of the template file. */
  template: { name: string; cells: Readonly<Record<string, string>> }
  /** The form of the options that apply to all rows. */
  Options: ComponentType
  /** Shows the options that apply to all rows of an import. */
  summary: (item: Import) => ReactNode
  /** A link to what was imported. */
  result: ReactNode
  /** Returns the content below the result of an import, such as a download of invitation links. */
  next: (item: Import) => ReactNode
}
