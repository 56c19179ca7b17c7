import type { ComponentType, ReactNode } from 'react'
import type { Import, NotUndoneReason } from '../../contract/imports.ts'
import type { ImportKind, RowRefusalReason } from '../../stores/imports/import-kinds.ts'

export interface ImportWizardProps {
  kind: ImportKind
  labels: Readonly<Record<string, string>>
  hints: Readonly<Record<string, string>>
  reasonText: (reason: RowRefusalReason) => string
  runLabel: (count: number) => string
  keptText: (kept: NotUndoneReason) => string
  undoQuestion: (item: Import) => { question: string; yes: string; no: string }
  undoneText: (undone: NonNullable<Import['undone']>) => string
  /** `181 people added` */
  resultText: (result: NonNullable<Import['result']>) => string
  /** File name and example row of the template. */
  template: { name: string; cells: Readonly<Record<string, string>> }
  Options: ComponentType
  summary: (item: Import) => ReactNode
  result: ReactNode
  next: (item: Import) => ReactNode
}
