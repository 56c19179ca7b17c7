import { type Dialect, detectDelimiter, detectNewline } from '../core/csv/dialect.ts'
import { createUtf8Check, detectFileKind, type Encoding } from '../core/csv/encodings.ts'
import { csvPieceBytes, isBlankRow, type RowBatch, readRows } from './csv-rows.ts'

/** What kind of file it is. For text, also the CSV dialect and the first rows, at least one. */
export type FileInspection =
  | { kind: 'empty' | 'spreadsheet' | 'binary' }
  | { kind: 'text'; dialect: Dialect; rows: string[][] }

/**
 * A kind of fault in the rows of a file. `count` is the number of rows that have it, and `row` the
 * number of the first such row.
 */
export interface RowFault {
  count: number
  row: number
}

/** Result of reading a whole file. `rows` does not count blank rows. */
export interface FileCount {
  rows: number
  /** Number of cells of the first row. */
  columns: number
  /** Numbers of the first blank rows. */
  blank: number[]
  faults: {
    /** Rows with more cells than the first row. */
    long?: RowFault
    /** Rows with fewer cells than the first row. */
    short?: RowFault
    /**
     * Rows with a quotation mark at a wrong place: neither at the start nor at the end of a cell.
     */
    malformed?: RowFault
    /** Rows with an opening quotation mark that is never closed. */
    unclosed?: RowFault
    /** Rows with NUL characters, which no text contains. */
    nul?: RowFault
    /** Rows with bytes that are not valid in the encoding. */
    unknown?: RowFault
  }
}

/** A row of a file with its number. */
export interface NumberedRow {
  /** Number of the row in the file, from 1. Blank rows and the header count. */
  row: number
  cells: string[]
}

/**
 * Some rows that are not blank. `next` is the number of the row to continue with. Absent at the end
 * of the file.
 */
export interface RowPage {
  rows: NumberedRow[]
  next?: number
}

/** The most blank rows that are returned by number. */
const notedBlanks = 1_000
const sampleBytes = 256 * 1024
const previewRows = 21
/**
 * A range of rows is read in pieces of this many bytes. They are small, because a piece stays in
 * memory.
 */
const rangePieceBytes = 1024 * 1024

/**
 * Returns what kind of file it is and, for a CSV file, the dialect and the first rows. With
 * `chosen`, reads the rows in this dialect instead of detecting one.
 */
export async function inspectFile(file: Blob, chosen?: Dialect): Promise<FileInspection> {
  const bytes = new Uint8Array(await file.slice(0, sampleBytes).arrayBuffer())
  const first = detectFileKind(bytes)
  if (first.kind !== 'text') return first
  const encoding = first.encoding ?? (await encodingOf(file))
  const dialect = chosen ?? detectDialect(bytes, encoding, first.hasMark)
  const rows = await firstRows(file, dialect)
  return rows.length > 0 ? { kind: 'text', dialect, rows } : { kind: 'empty' }
}

async function encodingOf(file: Blob): Promise<Encoding> {
  const isUtf8 = createUtf8Check()
  for (let start = 0; start < file.size; start += csvPieceBytes) {
    const piece = await file.slice(start, start + csvPieceBytes).arrayBuffer()
    if (!isUtf8(new Uint8Array(piece))) return 'windows-1252'
  }
  return isUtf8() ? 'utf-8' : 'windows-1252'
}

function detectDialect(bytes: Uint8Array, encoding: Encoding, hasMark: boolean): Dialect {
  const sample = new TextDecoder(encoding).decode(bytes, { stream: true })
  const [delimiter, newline] = [detectDelimiter(sample), detectNewline(sample)]
  return { delimiter, newline, encoding, hasMark, hasHeader: true }
}

async function firstRows(file: Blob, dialect: Dialect): Promise<string[][]> {
  const rows: string[][] = []
  for await (const batch of readRows(file.slice(0, sampleBytes), dialect)) rows.push(...batch.rows)
  // the sample may end in the middle of a row
  if (file.size > sampleBytes && rows.length > 1) rows.pop()
  return rows.filter(row => !isBlankRow(row)).slice(0, previewRows)
}

/**
 * Reads a whole file, counts its rows and finds its faults. `onProgress` gets the number of bytes
 * that have been read.
 */
export async function countRows(
  file: Blob,
  dialect: Dialect,
  onProgress: (bytesDone: number) => void = () => {}
): Promise<FileCount> {
  const counted: FileCount = { rows: 0, columns: 0, blank: [], faults: {} }
  const { faults } = counted
  const note = (fault: keyof FileCount['faults'], row: number) => {
    const known = faults[fault]
    faults[fault] = { row: known?.row ?? row, count: (known?.count ?? 0) + 1 }
  }
  let bytesDone = 0
  for await (const { first, rows, malformed, unclosed } of readRows(file, dialect)) {
    for (const row of malformed) note('malformed', row)
    if (unclosed !== undefined) note('unclosed', unclosed)
    for (const [at, cells] of rows.entries()) {
      if (isBlankRow(cells)) {
        if (counted.blank.length < notedBlanks) counted.blank.push(first + at)
        continue
      }
      if (counted.columns === 0) counted.columns = cells.length
      counted.rows += 1
      if (cells.length > counted.columns) note('long', first + at)
      if (cells.length < counted.columns) note('short', first + at)
      if (cells.some(cell => cell.includes('\0'))) note('nul', first + at)
      if (cells.some(cell => cell.includes('\uFFFD'))) note('unknown', first + at)
    }
    bytesDone = Math.min(file.size, bytesDone + csvPieceBytes)
    onProgress(bytesDone)
  }
  return counted
}

/**
 * Returns a function that returns at most `most` rows of a file, from the row with the number
 * `from`. It remembers where it stopped, so it finds the following rows without reading the file
 * from the start. `key` identifies the file and the dialect. With `columns`, the rows have only
 * these cells.
 */
export function createRangeReader() {
  let reading: { key: string; batches: AsyncGenerator<RowBatch, void> } | undefined
  let batch: RowBatch | undefined

  return async (
    key: string,
    file: Blob,
    dialect: Dialect,
    { from, most, columns }: { from: number; most: number; columns?: readonly number[] | undefined }
  ): Promise<RowPage> => {
    if (reading?.key !== key || !batch || from < batch.first) {
      reading = { key, batches: readRows(file, dialect, rangePieceBytes) }
      batch = undefined
    }
    const rows: NumberedRow[] = []
    let next = from
    for (;;) {
      if (!batch || next >= batch.first + batch.rows.length) {
        const { value } = await reading.batches.next()
        if (!value) return { rows }
        batch = value
        continue
      }
      if (rows.length === most) return { rows, next }
      const cells = batch.rows[next - batch.first] ?? []
      const kept = columns ? columns.map(at => cells[at] ?? '') : cells
      if (!isBlankRow(cells)) rows.push({ row: next, cells: kept })
      next += 1
    }
  }
}
