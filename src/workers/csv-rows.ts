import Papa, { type ParseError } from 'papaparse'
import { unescapeFormulas } from '../core/csv/cells.ts'
import type { CsvDialect } from '../core/csv/dialect.ts'

/** Some consecutive rows of a file. */
export interface RowBatch {
  /** Row number of `rows[0]` in the file. The first row of the file has the number 1. */
  first: number
  rows: string[][]
  /** Numbers of the rows with a quotation mark at a wrong place. Their cells are uncertain. */
  malformed: number[]
  /** Number of the row with an opening quotation mark that is never closed. */
  unclosed?: number
}

/** The members of Papa's parse result that are used here. */
interface Parsed {
  data: string[][]
  errors: Pick<ParseError, 'code' | 'row'>[]
  meta: { cursor: number }
}

/** Size in bytes of the pieces in which a file is read and parsed. */
export const csvPieceBytes = 10 * 1024 * 1024

/**
 * Yields the rows of a CSV file piece by piece. An empty line becomes a row with one empty cell.
 * Removes each `'` that an export has put before a formula. Papa's own file reader is not used,
 * because it breaks a character whose bytes are split between two pieces.
 */
export async function* readRows(
  file: Blob,
  dialect: CsvDialect,
  bytesAtOnce = csvPieceBytes
): AsyncGenerator<RowBatch, void> {
  const isMixed = dialect.newline === 'mixed'
  const newline = dialect.newline === 'mixed' ? '\n' : dialect.newline
  const decoder = new TextDecoder(dialect.encoding)
  const parser = new Papa.Parser({ delimiter: dialect.delimiter, newline })
  let rest = ''
  let first = 1
  for (let start = 0; start < file.size; start += bytesAtOnce) {
    const isLast = start + bytesAtOnce >= file.size
    const bytes = await file.slice(start, start + bytesAtOnce).arrayBuffer()
    const text = rest + decoder.decode(bytes, { stream: !isLast })
    // as: see `Parsed`
    const { data, errors, meta } = parser.parse(text, 0, !isLast) as Parsed
    rest = isLast ? '' : text.slice(meta.cursor)
    // nothing follows the last line end
    if (isLast && data.at(-1)?.join('') === '' && data.at(-1)?.length === 1) data.pop()
    yield { first, rows: data.map(row => cleanRow(row, isMixed)), ...faults(first, data, errors) }
    first += data.length
  }
}

function faults(first: number, data: string[][], errors: Parsed['errors']) {
  // a row that continues in the next piece is parsed again
  const whole = errors.filter(({ row = 0 }) => row < data.length)
  const numbers = (code: ParseError['code']) =>
    whole.filter(error => error.code === code).map(({ row = 0 }) => first + row)
  const [unclosed] = numbers('MissingQuotes')
  const malformed = [...new Set(numbers('InvalidQuotes'))]
  return { malformed, ...(unclosed === undefined ? {} : { unclosed }) }
}

function cleanRow(row: string[], isMixed: boolean): string[] {
  const last = row.length - 1
  return row.map((cell, at) => {
    // this row ended with \r\n
    const whole = isMixed && at === last && cell.endsWith('\r') ? cell.slice(0, -1) : cell
    return unescapeFormulas(whole)
  })
}

/** Returns whether all cells of a row are blank. Such rows are not imported. */
export function isBlankRow(row: readonly string[]): boolean {
  return row.every(cell => cell.trim() === '')
}
