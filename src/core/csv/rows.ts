import Papa, { type ParseError } from 'papaparse'
import { unescapeFormulas } from './cells.ts'
import { type CsvDialect, maxColumns, maxSeparatorLine, withoutSeparatorLine } from './dialect.ts'
import { createDecoder } from './encodings.ts'

export interface RowBatch {
  first: number
  rows: string[][]
  /** Rows with a quotation mark at a wrong place. Their cells are uncertain. */
  malformed: number[]
  unclosed?: number
  /** A row with more than 1,000 cells, which is not read. No batch follows. */
  wide?: number
  /** A row that does not end within `maxRowText`, perhaps for an `unclosed` quote. The last batch. */
  endless?: number
}

// the members of Papa's parse result that are used here
interface Parsed {
  data: string[][]
  errors: Pick<ParseError, 'code' | 'row'>[]
  meta: { cursor: number }
}

export const csvPieceBytes = 10 * 1024 * 1024

/**
 * Leaves out a first line such as `sep=;`, and each `'` that an export has put before a formula.
 * Papa's own file reader would break a character whose bytes are split between two pieces.
 */
export async function* readRows(
  file: Blob,
  dialect: CsvDialect,
  bytesAtOnce = csvPieceBytes,
  maxRowText = Number.POSITIVE_INFINITY
): AsyncGenerator<RowBatch, void> {
  const isMixed = dialect.newline === 'mixed'
  const newline = dialect.newline === 'mixed' ? '\n' : dialect.newline
  const decoder = createDecoder(dialect.encoding)
  const parser = new Papa.Parser({ delimiter: dialect.delimiter, newline })
  let rest = ''
  let first = 1
  let isBegun = false
  for (let start = 0; start < file.size; start += bytesAtOnce) {
    const isLast = start + bytesAtOnce >= file.size
    const bytes = await file.slice(start, start + bytesAtOnce).arrayBuffer()
    rest += decoder.decode(bytes, { stream: !isLast })
    if (!isBegun) {
      if (!isLast && rest.length < maxSeparatorLine) continue
      rest = withoutSeparatorLine(rest)
      isBegun = true
    }
    const { text, wideRow } = withClosedUpQuotes(rest, dialect.delimiter)
    if (wideRow !== undefined) {
      yield { first, rows: [], malformed: [], wide: first + wideRow }
      return
    }
    // as: see `Parsed`
    const { data, errors, meta } = parser.parse(text, 0, !isLast) as Parsed
    rest = isLast ? '' : text.slice(meta.cursor)
    // nothing follows the last line end
    if (isLast && data.at(-1)?.join('') === '' && data.at(-1)?.length === 1) data.pop()
    yield { first, rows: data.map(row => cleanRow(row, isMixed)), ...faults(first, data, errors) }
    first += data.length
    if (rest.length > maxRowText) {
      // as: see `Parsed`
      const { errors: open } = parser.parse(rest, 0, false) as Parsed
      const isUnclosed = open.some(({ code }) => code === 'MissingQuotes')
      yield {
        first,
        rows: [],
        malformed: [],
        endless: first,
        ...(isUnclosed && { unclosed: first })
      }
      return
    }
  }
}

// Papa would read the mark as a letter: `Iris, "a@example.com"`. Returns the first row with too
// many cells without reading on, because Papa takes seconds to read a row of millions of cells.
function withClosedUpQuotes(
  text: string,
  delimiter: string
): { text: string; wideRow: number | undefined } {
  const parts: string[] = []
  let [from, at, row, cells] = [0, 0, 0, 1]
  while (at < text.length) {
    // at the start of a cell
    let opening = at
    while (text[opening] !== delimiter && isBlank(text[opening])) opening += 1
    if (text[opening] === '"') {
      if (opening > at) {
        parts.push(text.slice(from, at))
        from = opening
      }
      at = endOfQuotes(text, opening)
    }
    while (at < text.length && !endsCell(text[at])) at += 1
    if (text[at] === delimiter) {
      cells += 1
      if (cells > maxColumns) return { text, wideRow: row }
    } else {
      cells = 1
      if (text[at] === '\r' && text[at + 1] === '\n') at += 1
      row += 1
    }
    at += 1
  }
  return { text: parts.join('') + text.slice(from), wideRow: undefined }

  function endsCell(character: string | undefined): boolean {
    return character === delimiter || character === '\n' || character === '\r'
  }
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\u00a0'
}

function endOfQuotes(text: string, opening: number): number {
  let closing = text.indexOf('"', opening + 1)
  while (closing >= 0 && text[closing + 1] === '"') closing = text.indexOf('"', closing + 2)
  return closing < 0 ? text.length : closing + 1
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

export function isBlankRow(row: readonly string[]): boolean {
  return row.every(cell => cell.trim() === '')
}
