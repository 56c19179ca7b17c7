import {
  type CsvDialect,
  detectDelimiter,
  detectNewline,
  readSeparatorLine
} from '../core/csv/dialect.ts'
import {
  createDecoder,
  createUtf8Check,
  detectFileType,
  type Encoding,
  guessEncoding
} from '../core/csv/encodings.ts'
import { csvPieceBytes, isBlankRow, type RowBatch, readRows } from './csv-rows.ts'

/**
 * Result of the inspection of a file: its kind and, for text, the CSV dialect and the first rows. A
 * text has at least one row that is not blank. `too_wide`: one of the first rows has more than 1,000
 * cells.
 */
export type FileInspection =
  | { kind: 'empty' | 'spreadsheet' | 'binary' | 'too_wide' }
  | { kind: 'text'; dialect: CsvDialect; rows: NumberedRow[] }

/**
 * How many rows of a file have the same kind of fault (`count`), and the number of the first such
 * row (`row`).
 */
export interface RowFaultCount {
  count: number
  row: number
}

/**
 * Result of reading a whole file, beginning with the first row of its table. `rows` is the number of
 * rows that are not blank.
 */
export interface FileScan {
  rows: number
  /** Number of cells of the first row that is not blank. */
  columns: number
  /**
   * Numbers of the first 1,000 blank rows. Rows are numbered from 1, including the header and blank
   * rows.
   */
  blank: number[]
  faults: {
    /** Rows with more cells than the first row, not counting blank ones at the end. */
    long?: RowFaultCount
    /** Rows with fewer cells than the first row has without blank ones at its end. */
    short?: RowFaultCount
    /**
     * Rows with a quotation mark at a wrong place: neither at the start nor at the end of a cell.
     */
    malformed?: RowFaultCount
    /** Rows with an opening quotation mark that is never closed. */
    unclosed?: RowFaultCount
    nul?: RowFaultCount
    /** A row with more than 1,000 cells. The file is not read further. */
    wide?: RowFaultCount
    /**
     * Rows with unknown characters. U+FFFD has taken the place of bytes that are not valid in the
     * file's encoding.
     */
    unknown?: RowFaultCount
  }
}

export interface NumberedRow {
  /** Number of the row in the file, from 1. The header and blank rows are counted, too. */
  row: number
  cells: string[]
}

/**
 * Some rows of a file, without blank rows. `next` is the number of the row at which the next page
 * begins. `next` is absent at the end of the file.
 */
export interface RowPage {
  rows: NumberedRow[]
  next?: number
}

const notedBlanks = 1_000
const sampleBytes = 256 * 1024
const firstRowCount = 200
/**
 * Size in bytes of the pieces in which a range of rows is read. They are small, because one piece
 * stays in memory between two ranges.
 */
const rangePieceBytes = 1024 * 1024

/**
 * Returns the kind of a file and, for a text, the CSV dialect and the first rows that are not
 * blank. With `chosen`, reads the rows in this dialect instead of detecting one.
 */
export async function inspectFile(file: Blob, chosen?: CsvDialect): Promise<FileInspection> {
  const bytes = new Uint8Array(await file.slice(0, sampleBytes).arrayBuffer())
  const first = detectFileType(bytes)
  if (first.kind !== 'text') return first
  const encoding = first.encoding ?? (await encodingOf(file))
  const dialect = chosen ?? detectDialect(bytes, encoding, first.hasMark)
  const rows = await firstRows(file, dialect)
  if (!rows) return { kind: 'too_wide' }
  return rows.length > 0 ? { kind: 'text', dialect, rows } : { kind: 'empty' }
}

async function encodingOf(file: Blob): Promise<Encoding> {
  const isUtf8 = createUtf8Check()
  let piece = new Uint8Array()
  for (let start = 0; start < file.size; start += csvPieceBytes) {
    piece = new Uint8Array(await file.slice(start, start + csvPieceBytes).arrayBuffer())
    if (!isUtf8(piece)) break
  }
  if (isUtf8()) return 'utf-8'
  return guessEncoding(piece)
}

function detectDialect(bytes: Uint8Array, encoding: Encoding, hasMark: boolean): CsvDialect {
  const sample = createDecoder(encoding).decode(bytes, { stream: true })
  const delimiter = readSeparatorLine(sample) ?? detectDelimiter(sample)
  const newline = detectNewline(sample)
  return { delimiter, newline, encoding, hasMark, hasHeader: true, firstRow: 1 }
}

/** Returns the first rows, or undefined if one of them has too many cells. */
async function firstRows(file: Blob, dialect: CsvDialect): Promise<NumberedRow[] | undefined> {
  const rows: NumberedRow[] = []
  for await (const batch of readRows(file.slice(0, sampleBytes), dialect)) {
    if (batch.wide !== undefined) return undefined
    rows.push(...batch.rows.map((cells, at) => ({ row: batch.first + at, cells })))
  }
  // the sample may end in the middle of a row
  if (file.size > sampleBytes && rows.length > 1) rows.pop()
  return rows.filter(({ cells }) => !isBlankRow(cells)).slice(0, firstRowCount)
}

/**
 * Reads a whole file. Returns its number of rows and the faults of the rows, beginning with the first
 * row of its table. Calls `onProgress` with the number of bytes read so far.
 */
export async function countRowsAndFaults(
  file: Blob,
  dialect: CsvDialect,
  onProgress: (bytesDone: number) => void = () => {}
): Promise<FileScan> {
  const counted: FileScan = { rows: 0, columns: 0, blank: [], faults: {} }
  const { faults } = counted
  // an export may put separators behind the last column, in the headings or in the other rows
  let named = 0
  const note = (fault: keyof FileScan['faults'], row: number) => {
    const known = faults[fault]
    faults[fault] = { row: known?.row ?? row, count: (known?.count ?? 0) + 1 }
  }
  let bytesDone = 0
  for await (const { first, rows, malformed, unclosed, wide } of readRows(file, dialect)) {
    for (const row of malformed) note('malformed', row)
    if (unclosed !== undefined) note('unclosed', unclosed)
    if (wide !== undefined) note('wide', wide)
    for (const [at, cells] of rows.entries()) {
      if (first + at < dialect.firstRow) continue
      if (isBlankRow(cells)) {
        if (counted.blank.length < notedBlanks) counted.blank.push(first + at)
        continue
      }
      if (counted.columns === 0) {
        counted.columns = cells.length
        named = filledLength(cells)
      }
      counted.rows += 1
      if (filledLength(cells) > counted.columns) note('long', first + at)
      if (cells.length < named) note('short', first + at)
      if (cells.some(cell => cell.includes('\0'))) note('nul', first + at)
      if (cells.some(cell => cell.includes('\uFFFD'))) note('unknown', first + at)
    }
    bytesDone = Math.min(file.size, bytesDone + csvPieceBytes)
    onProgress(bytesDone)
  }
  return counted
}

/** Returns how many cells a row has without the blank ones at its end. */
function filledLength(cells: readonly string[]): number {
  return cells.findLastIndex(cell => cell.trim() !== '') + 1
}

/** The rows to return: at most `most` rows from the row with the number `from`. */
export interface RowRange {
  from: number
  most: number
  /** Indexes of the columns to return. All columns if absent. */
  columns?: readonly number[] | undefined
}

/**
 * Returns a function that reads a range of rows of a file (`RowRange`) and leaves out blank rows.
 * The function remembers its position in the file, so that it need not read the file from the start
 * for the next range. Its parameter `key` identifies the file and the dialect.
 */
export function createRowRangeReader() {
  let reading: { key: string; batches: AsyncGenerator<RowBatch, void> } | undefined
  let batch: RowBatch | undefined

  return async (
    key: string,
    file: Blob,
    dialect: CsvDialect,
    { from, most, columns }: RowRange
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
