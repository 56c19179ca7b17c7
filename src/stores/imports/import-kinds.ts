import type { Import, ImportRowVerdict, NotUndoneReason } from '../../contract/imports.ts'
import type { ImportField } from '../../core/csv/columns.ts'
import type { ListStore } from '../lists/lists.ts'

/** By field name. */
export type RowValues = Readonly<Record<string, string>>

export interface ImportRowFromServer {
  // `row` as text
  id: string
  /** From 1. The header does not count. */
  row: number
  values: RowValues
  verdict: ImportRowVerdict | null
  reasons: readonly RowRefusalReason[]
  kept: NotUndoneReason | null
}

/** `field` is the name of the field whose value is refused. */
export interface RowRefusalReason {
  field: string
  code: string
  value?: string | undefined
  row?: number | undefined
}

// the most that the server returns in one response
export const mostRowsPerPage = 1_000

export interface NewImport {
  file_name: string
  rows: number
  bytes: number
}

export interface ImportRowQuery {
  verdict?: ImportRowVerdict
  after?: number
  limit?: number
}

/** What reading a file needs to know. */
export interface FileKind {
  // under which the browser stores the choice of columns
  name: string
  fields: readonly ImportField[]
  limits: { rows: number; bytes: number }
  /** Whether the browser reads the file to its end, and counts its rows and faults. */
  isCounted: boolean
  /** The index of the row of headings. Undefined if the file has none. */
  findHeadings: (rows: readonly (readonly string[])[]) => number | undefined
}

export interface ImportKind extends FileKind {
  /** As the server does when it stores them. */
  normalize(values: RowValues): RowValues
  /** With the options that the person has chosen. */
  create(input: NewImport): Promise<Import>
  get(id: string): Promise<Import>
  /** Numbers rows from `from` on. Replaces stored rows with the same numbers. */
  store(id: string, from: number, rows: readonly RowValues[]): Promise<Import>
  list(
    id: string,
    query: ImportRowQuery
  ): Promise<{ rows: ImportRowFromServer[]; next: number | null }>
  check(id: string): Promise<Import>
  /** If `skip` is false, includes them again. */
  skip(id: string, rows: number[], skip: boolean): Promise<Import>
  run(id: string, skipsRefused: boolean): Promise<Import>
  undo(id: string): Promise<Import>
  remove(id: string): Promise<void>
  /** Those of the shown import that have one verdict, such as `refused`. */
  rows: ListStore<ImportRowFromServer, { verdict?: ImportRowVerdict }>
  /** Newest first, except erased ones. */
  past: ListStore<Import, Record<string, never>>
}

/** Fields of the server's rows: those that belong to no other field. */
export function wholeFields({ fields }: Pick<ImportKind, 'fields'>): ImportField[] {
  return fields.filter(({ joins }) => !joins)
}
