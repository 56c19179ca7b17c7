import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import {
  type ColumnMapping,
  fieldOfEachHeading,
  guessMapping,
  headingRowChoices,
  type ImportField,
  withAssignedColumn
} from '../../core/csv/columns.ts'
import type { CsvDialect } from '../../core/csv/dialect.ts'
import { trimInvisible } from '../../core/input/pasted-text.ts'
import type { FileScan, NumberedRow } from '../../workers/csv-files.ts'
import { browserEnvironment } from '../environment.ts'
import { personalAtom } from '../personal-atoms.ts'
import type { FileKind, ImportKind, RowValues } from './import-kinds.ts'
import { loadFieldsByHeading, rememberFieldsByHeading } from './import-memory.ts'

export type FileRefusalReason = 'empty' | 'spreadsheet' | 'binary' | 'too_large' | 'too_wide'

// stays on this device until the person starts the check
export type ImportFileState =
  | { status: 'none' }
  | { status: 'reading'; file: File }
  | { status: 'refused'; file: File; why: FileRefusalReason }
  | { status: 'failed'; file: File; error: AppError }
  | OpenedFile

export interface OpenedFile {
  status: 'read'
  file: File
  dialect: CsvDialect
  // including a header
  rows: readonly (readonly string[])[]
  // among these, the person can choose the header
  headingRows: readonly NumberedRow[]
  mapping: ColumnMapping
  /** Undefined while the rows are being counted, and if they are not. */
  count: FileScan | undefined
}

export const $importFile = personalAtom<ImportFileState>({ status: 'none' })

/** From 0 to 1. */
export const $countedFileFraction = personalAtom(0)

// the results of a read are dropped if a later one has started
let reads = 0
let stopCount = new AbortController()

export async function readImportFile(kind: FileKind, file: File): Promise<void> {
  await read(file, undefined, kind)
}

export async function changeDialect(kind: FileKind, change: Partial<CsvDialect>): Promise<void> {
  const now = $importFile.get()
  if (now.status === 'read') await read(now.file, { ...now.dialect, ...change }, kind)
}

/** Undefined: the field is not imported. */
export function setFieldColumn(field: string, column: number | undefined): void {
  const now = $importFile.get()
  if (now.status !== 'read') return
  $importFile.set({ ...now, mapping: withAssignedColumn(now.mapping, field, column) })
}

// a proposal for the next file of this kind
export function rememberColumnMapping({ name }: ImportKind): void {
  const now = $importFile.get()
  if (now.status !== 'read' || !now.dialect.hasHeader) return
  rememberFieldsByHeading(name, fieldOfEachHeading(now.rows[0] ?? [], now.mapping))
}

export function clearImportFile(): void {
  reads += 1
  stopCount.abort()
  $importFile.set({ status: 'none' })
}

async function read(file: File, chosen: CsvDialect | undefined, kind: FileKind): Promise<void> {
  const { fields, limits, isCounted } = kind
  reads += 1
  const mine = reads
  const before = $importFile.get()
  stopCount.abort()
  if (file.size > limits.bytes) {
    $importFile.set({ status: 'refused', file, why: 'too_large' })
    return
  }
  if (!chosen) $importFile.set({ status: 'reading', file })
  try {
    const reader = await browserEnvironment().csvReader()
    const found = await reader.inspect(file, chosen)
    if (mine !== reads) return
    if (found.kind !== 'text') {
      $importFile.set({ status: 'refused', file, why: found.kind })
      return
    }
    const dialect = chosen ?? withHeadingRow(found.dialect, kind, found.rows)
    const rows = found.rows.filter(({ row }) => row >= dialect.firstRow).map(({ cells }) => cells)
    const headingRows = found.rows.slice(0, headingRowChoices)
    const isSameRows = before.status === 'read' && chosen && isSameTable(before, dialect)
    const mapping = isSameRows
      ? before.mapping
      : guessMapping(
          fields,
          headingsOf({ dialect, rows }),
          firstDataRows({ dialect, rows }),
          loadFieldsByHeading(kind.name)
        )
    const opened = { file, dialect, rows, headingRows, mapping, count: undefined }
    $importFile.set({ status: 'read', ...opened })
    if (!isCounted) return
    $countedFileFraction.set(0)
    stopCount = new AbortController()
    const count = await reader.count(file, dialect, {
      signal: stopCount.signal,
      onProgress: bytesDone => {
        if (mine === reads) $countedFileFraction.set(bytesDone / file.size)
      }
    })
    const now = $importFile.get()
    if (mine === reads && now.status === 'read') $importFile.set({ ...now, count })
  } catch (cause) {
    if (mine !== reads) return
    $importFile.set({ status: 'failed', file, error: asAppError(cause, 'Reading the file failed') })
  }
}

function withHeadingRow(
  dialect: CsvDialect,
  { findHeadings }: FileKind,
  rows: readonly NumberedRow[]
): CsvDialect {
  const at = findHeadings(rows.map(({ cells }) => cells))
  const heading = at === undefined ? undefined : rows[at]
  return { ...dialect, hasHeader: heading !== undefined, firstRow: heading?.row ?? 1 }
}

// another encoding affects only letters, so the mapping of columns to fields stays
function isSameTable(
  { dialect }: OpenedFile,
  { delimiter, hasHeader, firstRow }: CsvDialect
): boolean {
  return (
    dialect.delimiter === delimiter &&
    dialect.hasHeader === hasHeader &&
    dialect.firstRow === firstRow
  )
}

/** All `''` for a file without a header. */
export function headingsOf({ dialect, rows }: Pick<OpenedFile, 'dialect' | 'rows'>): string[] {
  const width = Math.max(...rows.map(row => row.length))
  const names = dialect.hasHeader ? (rows[0] ?? []) : []
  return Array.from({ length: width }, (_, at) => names[at]?.trim() ?? '')
}

export function firstDataRows({ dialect, rows }: Pick<OpenedFile, 'dialect' | 'rows'>) {
  return dialect.hasHeader ? rows.slice(1) : rows
}

/** Undefined until the file is counted. */
export function countDataRows({ dialect, count }: OpenedFile): number | undefined {
  return count && (dialect.hasHeader ? count.rows - 1 : count.rows)
}

export function unmappedRequiredFields(
  fields: readonly ImportField[],
  mapping: ColumnMapping
): ImportField[] {
  return fields.filter(({ isRequired, name }) => isRequired && mapping[name] === undefined)
}

/** By field name, without columns that have no field. `next` is absent at the end of the file. */
export async function readRowValuesByField(
  { fields }: Pick<ImportKind, 'fields'>,
  { file, dialect, mapping }: OpenedFile,
  from: number,
  most: number
): Promise<{ rows: RowValues[]; next?: number }> {
  const reader = await browserEnvironment().csvReader()
  const names = Object.keys(mapping)
  const { rows, next } = await reader.take(file, dialect, {
    from,
    most,
    columns: Object.values(mapping)
  })
  return {
    rows: rows.map(({ cells }) =>
      joinParts(fields, Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])))
    ),
    ...(next === undefined ? {} : { next })
  }
}

export function joinParts(fields: readonly ImportField[], values: RowValues): RowValues {
  const joined: Record<string, string> = { ...values }
  for (const { name, joins } of fields) {
    if (!joins || values[name] === undefined) continue
    const parts = [values[joins.field] ?? '', values[name]].map(trimInvisible)
    joined[joins.field] = parts.filter(Boolean).join(' ')
    delete joined[name]
  }
  return joined
}

export async function readRowsWithAllCells(
  { file, dialect }: OpenedFile,
  from: number,
  most: number
) {
  const reader = await browserEnvironment().csvReader()
  return reader.take(file, dialect, { from, most })
}
