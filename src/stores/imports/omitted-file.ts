import type { Import } from '../../contract/imports.ts'
import type { CsvDialect } from '../../core/csv/dialect.ts'
import { encodeCsv } from '../../core/csv/writer.ts'
import { joinParts, readRowsWithAllCells } from './import-file.ts'
import {
  type ImportKind,
  type ImportRowFromServer,
  type RowRefusalReason,
  wholeFields
} from './import-kinds.ts'
import { type SourceFileFormat, spreadsheetRowNumber } from './import-memory.ts'
import { fetchOmittedRows, findSentFile } from './imports.ts'

interface OmittedFileOptions {
  item: Import
  sourceFormat: SourceFileFormat | undefined
  labels: Readonly<Record<string, string>>
  // these two columns follow those of the imported file
  added: { row: string; error: string }
  errorOf: (reason: RowRefusalReason) => string
}

const plain: CsvDialect = {
  delimiter: ',',
  encoding: 'utf-8',
  hasMark: true,
  newline: '\r\n',
  hasHeader: true,
  firstRow: 1
}
const rowsAtOnce = 5_000

/**
 * In the dialect of the imported file, if this browser knows it. Without the file, the columns that
 * were not imported are empty or missing.
 */
export async function createOmittedRowsFile(
  kind: ImportKind,
  { item, sourceFormat, labels, added, errorOf }: OmittedFileOptions
): Promise<Blob> {
  const omitted = await fetchOmittedRows(kind, item.id)
  const sent = findSentFile(item.id)
  const { dialect, headings, columns } = sourceFormat ?? {
    dialect: plain,
    headings: wholeFields(kind).map(({ name }) => labels[name] ?? name),
    columns: wholeFields(kind).map(({ name }, column) => ({ field: name, column }))
  }
  const originals = sent ? await originalRows(sent, omitted) : new Map<number, readonly string[]>()
  const width = Math.max(headings.length, ...columns.map(({ column }) => column + 1))
  const rows = omitted.map(row => {
    const original = originals.get(row.row) ?? []
    const cells = Array.from(
      { length: Math.max(width, original.length) },
      (_, at) => original[at] ?? ''
    )
    const sentValues = joinParts(
      kind.fields,
      Object.fromEntries(columns.map(({ field, column }) => [field, cells[column] ?? '']))
    )
    for (const { field, column } of columns) {
      const whole = kind.fields.find(({ name }) => name === field)?.joins?.field
      const [of, now] = [whole ?? field, row.values[whole ?? field] ?? '']
      // a cell that was not corrected stays as it is in the file, with its spaces
      if (kind.normalize({ [of]: sentValues[of] ?? '' })[of] === now) continue
      // the new text of a field in two parts is in its first one
      const isSecond = whole !== undefined && columns.some(each => each.field === whole)
      cells[column] = isSecond ? '' : now
    }
    const number = sourceFormat ? spreadsheetRowNumber(row.row, sourceFormat) : row.row
    return [...cells, String(number), row.reasons.map(errorOf).join(' ')]
  })
  const header = dialect.hasHeader ? [[...pad(headings, width), added.row, added.error]] : []
  return new Blob([encodeCsv([...header, ...rows], dialect)], { type: 'text/csv' })
}

async function originalRows(
  sent: NonNullable<ReturnType<typeof findSentFile>>,
  omitted: readonly ImportRowFromServer[]
): Promise<Map<number, readonly string[]>> {
  const wanted = new Set(omitted.map(({ row }) => row))
  const found = new Map<number, readonly string[]>()
  let number = sent.dialect.hasHeader ? 0 : 1
  for (
    let from: number | undefined = sent.dialect.firstRow;
    from !== undefined && found.size < wanted.size;
  ) {
    const part = await readRowsWithAllCells(sent, from, rowsAtOnce)
    for (const { cells } of part.rows) {
      if (wanted.has(number)) found.set(number, cells)
      number += 1
    }
    from = part.next
  }
  return found
}

function pad(cells: readonly string[], width: number): string[] {
  return Array.from({ length: width }, (_, at) => cells[at] ?? '')
}
