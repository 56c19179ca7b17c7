import type { Import, ImportRowVerdict, NotUndoneReason } from '../../contract/imports.ts'
import type { ImportField } from '../../core/csv/columns.ts'
import type { ListStore } from '../lists/lists.ts'

/** The cells of a row of an import, by field name. */
export type RowValues = Readonly<Record<string, string>>

/** A row of an import as the server has stored it. All kinds of imports have rows of this type. */
export interface ImportRowFromServer {
  /** `row` as text. */
  id: string
  /** Number of the row, from 1. The header does not count. */
  row: number
  values: RowValues
  verdict: ImportRowVerdict | null
  reasons: readonly RowRefusalReason[]
  kept: NotUndoneReason | null
}

/** Why a row is refused. `field` is the name of the field whose value is refused. */
export interface RowRefusalReason {
  field: string
  code: string
  value?: string | undefined
  row?: number | undefined
}

/** Maximum number of rows that the server returns in one response. */
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

/** One kind of import, such as the import of people: its fields, its limits and its API calls. */
export interface ImportKind {
  /** Name under which the browser stores the choice of columns. */
  name: string
  fields: readonly ImportField[]
  limits: { rows: number; bytes: number }
  /** Normalizes the cells of a row as the server does when it stores them. */
  normalize(values: RowValues): RowValues
  /** Creates an import with the options that the person has chosen. */
  create(input: NewImport): Promise<Import>
  get(id: string): Promise<Import>
  /**
   * Stores rows in the import with the id `id`. Numbers them from `from` on. Replaces stored rows
   * that have the same numbers, for example when the person corrects a row.
   */
  store(id: string, from: number, rows: readonly RowValues[]): Promise<Import>
  list(
    id: string,
    query: ImportRowQuery
  ): Promise<{ rows: ImportRowFromServer[]; next: number | null }>
  check(id: string): Promise<Import>
  /** Excludes rows from the run or, if `skip` is false, includes them again. */
  skip(id: string, rows: number[], skip: boolean): Promise<Import>
  run(id: string, skipsRefused: boolean): Promise<Import>
  undo(id: string): Promise<Import>
  remove(id: string): Promise<void>
  /** The rows of the shown import that have one verdict, such as `refused`. */
  rows: ListStore<ImportRowFromServer, { verdict?: ImportRowVerdict }>
  /** The list of the company's imports, newest first, except erased ones. */
  past: ListStore<Import, Record<string, never>>
}

/** Returns the fields of the server's rows: those that belong to no other field. */
export function wholeFields({ fields }: Pick<ImportKind, 'fields'>): ImportField[] {
  return fields.filter(({ joins }) => !joins)
}
