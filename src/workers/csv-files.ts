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
 * A text has at least one row that is not blank. `too_wide`: one of the first rows has more than
 * 1,000 cells.
 */
export type FileInspection =
  | { kind: 'empty' | 'spreadsheet' | 'binary' | 'too_wide' }
  | { kind: 'text'; dialect: CsvDialect; rows: NumberedRow[] }

export interface RowFaultCount {
  count: number
  row: number
}

export interface FileScan {
  rows: number
  columns: number
  /** The first 1,000, numbered from 1, including the header and blank rows. */
  blank: number[]
  faults: {
    /** More cells than the first row, not counting blank ones at the end. */
    long?: RowFaultCount
    /** Fewer cells than the first row has without blank ones at its end. */
    short?: RowFaultCount
    /** A quotation mark that is neither at the start nor at the end of a cell. */
    malformed?: RowFaultCount
    unclosed?: RowFaultCount
    nul?: RowFaultCount
    /** A row with more than 1,000 cells. The file is not read further. */
    wide?: RowFaultCount
    /** U+FFFD has taken the place of bytes that are not valid in the file's encoding. */
    unknown?: RowFaultCount
  }
}

export interface NumberedRow {
  /** From 1. The header and blank rows are counted, too. */
  row: number
  cells: string[]
}

/** `next` is the number of the row at which the next page begins, absent at the end of the file. */
export interface RowPage {
  rows: NumberedRow[]
  next?: number
}

const notedBlanks = 1_000
const sampleBytes = 256 * 1024
const firstRowCount = 200
// small, because one piece stays in memory between two ranges
const rangePieceBytes = 1024 * 1024

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

function filledLength(cells: readonly string[]): number {
  return cells.findLastIndex(cell => cell.trim() !== '') + 1
}

export interface RowRange {
  from: number
  most: number
  columns?: readonly number[] | undefined
}

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
