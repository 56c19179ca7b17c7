import { readPastedEmail } from '../input/pasted-text.ts'
import type { Encoding } from './encodings.ts'

/** The delimiters that are recognized by what they separate. */
export const delimiters = [',', ';', '\t', '|'] as const
/** The line end of a file. `mixed`: some rows end with `\n`, others with `\r\n`. */
export type Newline = '\n' | '\r\n' | '\r' | 'mixed'

/** The format of a CSV file: its delimiter, encoding and line ends, and where its table begins. */
export interface CsvDialect {
  /** One of `delimiters`, or the character that a line `sep=` names. */
  delimiter: string
  encoding: Encoding
  /** Whether the file begins with a byte order mark. */
  hasMark: boolean
  newline: Newline
  /** Whether the first row of the table contains the headings of the columns. */
  hasHeader: boolean
  /** Number of the first row of the table, from 1. Rows above it, such as a title, are left out. */
  firstRow: number
}

/** Maximum number of cells in a row. A file with a longer row is refused. */
export const maxColumns = 1_000

/** A line that tells spreadsheets the delimiter of the file: `sep=;`. They show it as no row. */
const separatorLine = /^"?sep="?([^"\r\n]?)"?[,;\t|]*(?:\r\n|\r|\n|$)/i
/** A line `sep=` is not longer, in any spelling. */
export const maxSeparatorLine = 32

/** Returns the delimiter that the first line of a file names: `sep=;` → `;` */
export function readSeparatorLine(text: string): string | undefined {
  return separatorLine.exec(text)?.[1] || undefined
}

/** Returns the text of a file without a first line such as `sep=;`. */
export function withoutSeparatorLine(text: string): string {
  const [line] = separatorLine.exec(text) ?? ['']
  return text.slice(line.length)
}

const comparedRows = 100

/**
 * Returns the delimiter that splits most rows of a sample into the same number of cells. Returns
 * the comma if no delimiter gives rows of several cells.
 */
export function detectDelimiter(sample: string): string {
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 }
  for (const delimiter of delimiters) {
    const score = scoreOf(firstRows(sample, delimiter), delimiter)
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

/**
 * Returns how well a delimiter fits a sample, or 0 if no row has several cells. Adds up the fraction
 * of the rows that have the same number of cells, and the fraction of those in which a cell is an
 * e-mail. Where a delimiter looks like punctuation, as in `Vale, Iris` and `1,5`, the first fraction
 * counts down to half. If two delimiters fit equally well, the one that gives more cells has the
 * higher score: 0.001 per cell, for at most 50 cells.
 */
function scoreOf(rows: readonly string[][], delimiter: string): number {
  const frequency = new Map<number, number>()
  for (const { length } of rows) frequency.set(length, (frequency.get(length) ?? 0) + 1)
  const [cells, count] = [...frequency]
    .filter(([length]) => length > 1)
    .reduce((best, each) => (weight(each) > weight(best) ? each : best), [0, 0])
  if (count === 0) return 0
  const withEmail = rows.filter(row => row.some(isEmail)).length
  const even = (count / rows.length) * (1 - punctuationShare(rows, delimiter) / 2)
  return even + withEmail / rows.length + Math.min(cells, 50) / 1_000

  function weight([length, of]: readonly [number, number]): number {
    return of / rows.length + Math.min(length, 50) / 1_000
  }
}

function punctuationShare(rows: readonly string[][], delimiter: string): number {
  let [all, punctuation] = [0, 0]
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      if (at === 0) continue
      all += 1
      const isDecimal = delimiter === ',' && /\d$/.test(row[at - 1] ?? '') && /^\d/.test(cell)
      if (isDecimal || /^\s+[^\s"]/.test(cell)) punctuation += 1
    }
  }
  return all === 0 ? 0 : punctuation / all
}

function isEmail(cell: string): boolean {
  return cell.includes('@') && readPastedEmail(cell.replace(/^\s*"|"\s*$/g, '')) !== undefined
}

/**
 * Returns the cells of the first 100 rows that are not blank, with their quotation marks. Delimiters
 * and line ends inside quotes do not separate cells or rows.
 */
function firstRows(sample: string, delimiter: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let [from, isQuoted, wasQuoted, isStart, isBlank] = [0, false, false, true, true]
  const endRow = (end: number) => {
    if (!isBlank) rows.push([...row, sample.slice(from, end)])
    row = []
    isStart = true
    isBlank = true
  }
  for (let at = 0; at < sample.length; at++) {
    if (rows.length === comparedRows) return rows
    const character = sample.charAt(at)
    if (isQuoted) {
      if (character === '"') isQuoted = false
    } else if (character === '\n' || character === '\r') {
      endRow(at)
      from = at + 1
    } else {
      isBlank = false
      // a quote inside an unquoted cell is text; the second one of "" opens the cell again
      if (character === '"') isQuoted = isStart || wasQuoted
      else if (character === delimiter) {
        row.push(sample.slice(from, at))
        from = at + 1
        // it is refused in any case
        if (row.length === maxColumns) return [...rows, row]
      }
      // blanks may stand before an opening quote
      isStart = character === delimiter || (isStart && character === ' ')
    }
    wasQuoted = !isQuoted && character === '"'
  }
  if (!isQuoted) endRow(sample.length)
  return rows
}

/** Returns the line end of the rows of a sample. Line breaks inside quotes do not count. */
export function detectNewline(sample: string): Newline {
  const unquoted = sample.replace(/"(?:[^"]|"")*"/g, '')
  const hasLong = unquoted.includes('\r\n')
  if (/(?<!\r)\n/.test(unquoted)) return hasLong ? 'mixed' : '\n'
  if (hasLong) return '\r\n'
  return unquoted.includes('\r') ? '\r' : '\n'
}
