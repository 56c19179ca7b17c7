import type { KeyObject } from 'node:crypto'
import { registerLimits } from '../../../contract/kit/limits.ts'
import type {
  CsvDialectInput,
  RegisterImport,
  RegisterImportFailure,
  RegisterRowReason
} from '../../../contract/register-imports.ts'
import type { DateOrder, RegisterColumn } from '../../../contract/registers.ts'
import { type CsvDialect, maxColumns } from '../../../core/csv/dialect.ts'
import { detectFileType, type Encoding, encodings } from '../../../core/csv/encodings.ts'
import { isBlankRow, type RowBatch, readRows } from '../../../core/csv/rows.ts'
import { splitSearchIntoWords } from '../../../core/text/search-words.ts'
import { keyedHashOf } from '../evidence/keyed-hashes.ts'
import {
  cellNamesOf,
  type RowCells,
  type RowPlace,
  sealRow,
  tagOfReference
} from './register-rows.ts'
import { sealFaultCells } from './register-seals.ts'

/** The file of an import, and the segment into which its rows go. */
export interface RegisterFile {
  import_id: string
  place: RowPlace
  dialect: CsvDialectInput
  columns: readonly RegisterColumn[]
  keys: { lookup: KeyObject; data: KeyObject }
}

/** A row that is refused, its cells sealed. */
export interface RowFault {
  row: number
  reasons: { code: RegisterRowReason; header?: string }[]
  sealed: Uint8Array<ArrayBuffer>
}

/** Rows in a form that one statement stores: equal parts one after the other. */
export interface SealedRows {
  /** The numbers of the rows in the file, the first after the header being 1. */
  numbers: number[]
  /** 32 bytes each. */
  tags: Uint8Array<ArrayBuffer>
  /** 16 bytes each. */
  contents: Uint8Array<ArrayBuffer>
  /** 32 bytes each. */
  hashes: Uint8Array<ArrayBuffer>
  sealed: Uint8Array<ArrayBuffer>
  /** Of the parts of `sealed`. */
  lengths: number[]
}

export interface FileBatch extends SealedRows {
  faults: RowFault[]
  /** Of the file, up to here. */
  rowsRead: number
  bytesRead: number
}

export interface FileEnd {
  failure?: { code: RegisterImportFailure; row?: number }
  warnings: RegisterImport['warnings']
}

const pieceBytes = 1024 * 1024
const rowsAtOnce = 1_000
// of sealed rows and faults, so that a batch of long rows stays small
const bytesAtOnce = 1024 * 1024
const sampleBytes = 64 * 1024

/** Yields batches of rows. After a failure, none of them counts. */
export async function* readRegisterFile(
  file: Blob,
  job: RegisterFile,
  random: (length: number) => Uint8Array
): AsyncGenerator<FileBatch, FileEnd> {
  const dialect = await findDialect(file, job.dialect)
  if (typeof dialect === 'string') return failed(dialect)
  const rows = createRowSealer(job, random)
  const known = createTagSet()
  const counting = createCountingCheck()
  let [bytesRead, rowsRead, isFirst, first, width] = [0, 0, true, dialect.firstRow - 1, 0]
  let batch = createBatch()
  for await (const piece of readRows(file, dialect, pieceBytes, registerLimits.row)) {
    bytesRead = Math.min(file.size, bytesRead + pieceBytes)
    const malformed = new Set(piece.malformed)
    for (const [at, cells] of piece.rows.entries()) {
      const inFile = piece.first + at
      if (inFile < dialect.firstRow || isBlankRow(cells)) continue
      if (cells.length > maxColumns) return failed('too_many_columns', inFile)
      if (isFirst) {
        isFirst = false
        width = cells.length
        if (!rows.findColumns(cells, dialect.hasHeader)) return failed('column_missing')
        if (dialect.hasHeader) {
          first = inFile
          continue
        }
      }
      const row = inFile - first
      rowsRead += 1
      if (rowsRead > registerLimits.rows) return failed('too_many_rows', row)
      const isOdd = malformed.has(inFile) || cells.slice(width).some(cell => cell.trim() !== '')
      const read = rows.read(cells, isOdd)
      if ('reasons' in read) batch.addFault(rows.sealFault(row, read.reasons, cells))
      else if (known.add(read.tag)) {
        counting.add(read.key)
        batch.add(row, rows.seal(read))
      } else batch.addFault(rows.sealFault(row, [{ code: 'duplicate' }], cells))
      if (batch.isFull()) {
        yield batch.end(rowsRead, bytesRead)
        batch = createBatch()
      }
    }
    const failure = failureOf(piece, first)
    if (failure) return failed(failure.code, failure.row)
    // also shows the progress
    yield batch.end(rowsRead, bytesRead)
    batch = createBatch()
  }
  if (rowsRead === 0) return failed('file_empty')
  const isReference = job.columns.some(({ use }) => use === 'reference')
  const isChecked = job.columns.some(({ use }) => use === 'check')
  const warnings: FileEnd['warnings'] = []
  if (isReference && !isChecked) {
    if (counting.isCounting()) warnings.push('counting_references')
    warnings.push('no_check_column')
  }
  return { warnings }
}

function failed(code: RegisterImportFailure, row?: number): FileEnd {
  return { warnings: [], failure: { code, ...(row !== undefined && { row }) } }
}

function failureOf({ unclosed, wide, endless }: RowBatch, first: number): FileEnd['failure'] {
  // 0 for the header, and for what stands above it
  const rowOf = (inFile: number) => Math.max(inFile - first, 0)
  if (unclosed !== undefined) return { code: 'quote_unclosed', row: rowOf(unclosed) }
  if (wide !== undefined) return { code: 'too_many_columns', row: rowOf(wide) }
  if (endless !== undefined) return { code: 'row_too_long', row: rowOf(endless) }
  return undefined
}

// the mark of a file says more than what was chosen for an earlier one
async function findDialect(
  file: Blob,
  { delimiter, newline, encoding, has_header, first_row }: CsvDialectInput
): Promise<CsvDialect | RegisterImportFailure> {
  const type = detectFileType(new Uint8Array(await file.slice(0, sampleBytes).arrayBuffer()))
  if (type.kind === 'empty') return 'file_empty'
  if (type.kind !== 'text') return 'encoding_unknown'
  const marked = type.hasMark ? type.encoding : undefined
  const known = marked ?? encodings.find(each => each === encoding.toLowerCase())
  if (!known) return 'encoding_unknown'
  const shape = { delimiter, newline, hasHeader: has_header, firstRow: first_row }
  return { ...shape, encoding: known satisfies Encoding, hasMark: type.hasMark }
}

interface ReadRow {
  /** The reference; empty for a fingerprint. */
  key: string
  tag: Buffer
  cells: RowCells
}

function createRowSealer(
  { import_id, place, columns, keys }: RegisterFile,
  random: (length: number) => Uint8Array
) {
  const names = cellNamesOf(columns)
  // where the columns are in this file
  let found: { column: RegisterColumn; at: number }[] = []
  return {
    findColumns(cells: readonly string[], hasHeader: boolean): boolean {
      const headers = cells.map(cell => cell.trim())
      found = []
      for (const column of columns) {
        const header = column.header.trim()
        const isThere = !hasHeader || headers[column.index] === header
        const at = isThere ? column.index : headers.indexOf(header)
        const isTwice = !isThere && headers.indexOf(header, at + 1) >= 0
        if (at < 0 || at >= cells.length || isTwice) return false
        found.push({ column, at })
      }
      return new Set(found.map(({ at }) => at)).size === found.length
    },
    read(cells: readonly string[], isOdd: boolean): ReadRow | { reasons: RowFault['reasons'] } {
      const reasons: RowFault['reasons'] = isOdd ? [{ code: 'malformed' }] : []
      const kept: [string, string][] = []
      const checks: string[] = []
      let [key, digest, bytes] = ['', undefined as Buffer | undefined, 0]
      for (const { column, at } of found) {
        const { header } = column
        const read = readCell(column, cells[at] ?? '')
        if (read.reason) {
          reasons.push({ code: read.reason, header })
          continue
        }
        bytes += Buffer.byteLength(read.value)
        const name = names.get(column.index)
        if (name !== undefined) kept.push([name, read.value])
        if (column.use === 'check') checks.push(read.value)
        if (column.use === 'reference') key = read.value
        if (column.use === 'fingerprint') digest = Buffer.from(read.value, 'hex')
      }
      if (bytes > registerLimits.row) reasons.push({ code: 'too_long' })
      if (reasons.length > 0) return { reasons }
      const tag = digest
        ? keyedHashOf(keys.lookup, 'sha256', digest)
        : tagOfReference(keys.lookup, place.source_id, key, checks)
      // fromEntries also takes a header `__proto__`
      return { key, tag, cells: Object.fromEntries(kept) }
    },
    seal: ({ tag, cells }: ReadRow) => ({ tag, ...sealRow(keys, place, { tag, cells, random }) }),
    sealFault(row: number, reasons: RowFault['reasons'], cells: readonly string[]): RowFault {
      const shown = found.map(({ at }) => (cells[at] ?? '').slice(0, registerLimits.cell))
      const sealed = sealFaultCells(keys, { ...place, import_id, row }, shown, random)
      return { row, reasons, sealed }
    }
  }
}

function readCell(
  { use, date }: RegisterColumn,
  cell: string
): { value: string; reason?: RegisterRowReason } {
  const value = cell.trim()
  if (cell.includes('\0') || cell.includes('\uFFFD')) return { value, reason: 'malformed' }
  if (value.length * 3 > registerLimits.cell && Buffer.byteLength(value) > registerLimits.cell)
    return { value, reason: 'too_long' }
  if (splitSearchIntoWords(value).length === 0)
    return use === 'shown' ? { value: '' } : { value, reason: 'required' }
  if (use === 'fingerprint') {
    const hex = /^(?:sha-?256:)?([0-9a-f]{64})$/i.exec(value)?.[1]
    return hex ? { value: hex.toLowerCase() } : { value, reason: 'fingerprint_format' }
  }
  if (!date) return { value }
  const day = readDate(value, date)
  return day ? { value: day } : { value, reason: 'date_format' }
}

const separated = /^(\d{1,4})\s?[-/. ]\s?(\d{1,2})\s?[-/. ]\s?(\d{1,4})$/
// a spreadsheet may write the time of day behind it
const midnight = /[T ]00:00(?::00(?:\.0+)?)?Z?$/

// Returns `YYYY-MM-DD`, or undefined. The year has four digits: `3/2/2001` in the order `dmy` →
// `2001-02-03`. A text that begins with the year is read as such in any order.
function readDate(text: string, order: DateOrder): string | undefined {
  const plain = text.replace(midnight, '')
  const [, first = '', second = '', third = ''] =
    separated.exec(plain) ?? /^(\d{4})(\d\d)(\d\d)$/.exec(plain) ?? []
  const isYearFirst = first.length === 4
  if (!isYearFirst && (order === 'ymd' || third.length !== 4)) return undefined
  if (isYearFirst && third.length > 2) return undefined
  const [year, month, day] = isYearFirst
    ? [first, second, third]
    : order === 'dmy'
      ? [third, second, first]
      : [third, first, second]
  if (day.length > 2 || month.length > 2) return undefined
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const time = new Date(`${iso}T00:00:00Z`)
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(iso)
  return isReal ? iso : undefined
}

type Sealed = ReturnType<ReturnType<typeof createRowSealer>['seal']>

function createBatch() {
  const numbers: number[] = []
  const rows: Sealed[] = []
  const faults: RowFault[] = []
  let bytes = 0
  return {
    add(row: number, sealed: Sealed) {
      numbers.push(row)
      rows.push(sealed)
      bytes += sealed.sealed.length
    },
    addFault(fault: RowFault) {
      faults.push(fault)
      bytes += fault.sealed.length
    },
    isFull: () => rows.length + faults.length >= rowsAtOnce || bytes >= bytesAtOnce,
    end: (rowsRead: number, bytesRead: number): FileBatch => ({
      numbers,
      tags: joined(rows.map(({ tag }) => tag)),
      contents: joined(rows.map(({ content }) => content)),
      hashes: joined(rows.map(({ row_hash }) => row_hash)),
      sealed: joined(rows.map(({ sealed }) => sealed)),
      lengths: rows.map(({ sealed }) => sealed.length),
      faults,
      rowsRead,
      bytesRead
    })
  }
}

// not from Node's pool, so that it can be transferred
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

// A million tags in 32 MB outside the heap. Tags are keyed hashes, so two that are equal in 16 bytes
// are equal.
function createTagSet() {
  const slots = 2 ** 21
  const words = 4
  const kept = new Uint32Array(slots * words)
  return {
    /** Returns false if it is there already. */
    add(tag: Buffer): boolean {
      const parts = [0, 4, 8, 12].map(at => tag.readUInt32LE(at))
      for (let slot = tag.readUInt32LE(16) % slots; ; slot = (slot + 1) % slots) {
        const at = slot * words
        if (parts.every((part, word) => kept[at + word] === part)) return false
        if (kept.subarray(at, at + words).some(word => word !== 0)) continue
        kept.set(parts, at)
        return true
      }
    }
  }
}

const fewestCounted = 10

// references of which most are one more than that of the row before
function createCountingCheck() {
  let [prefix, last, rows, steps] = ['', Number.NaN, 0, 0]
  return {
    add(reference: string) {
      const [, before = '', digits = ''] = /^(.*?)(\d{0,15})$/s.exec(reference) ?? []
      const number = digits === '' ? Number.NaN : Number(digits)
      rows += 1
      if (before === prefix && number === last + 1) steps += 1
      prefix = before
      last = number
    },
    isCounting: () => rows >= fewestCounted && steps >= rows / 2
  }
}
