import { readPastedEmail } from '../input/pasted-text.ts'
import type { Encoding } from './encodings.ts'

export const delimiters = [',', ';', '\t', '|'] as const
// `mixed`: some rows end with `\n`, others with `\r\n`
export type Newline = '\n' | '\r\n' | '\r' | 'mixed'

export interface CsvDialect {
  /** One of `delimiters`, or what a line `sep=` names. */
  delimiter: string
  encoding: Encoding
  hasMark: boolean
  newline: Newline
  hasHeader: boolean
  /** From 1. Rows above it, such as a title, are left out. */
  firstRow: number
}

export const maxColumns = 1_000

/** A line that tells spreadsheets the delimiter: `sep=;`. They do not show it. */
const separatorLine = /^"?sep="?([^"\r\n]?)"?[,;\t|]*(?:\r\n|\r|\n|$)/i
export const maxSeparatorLine = 32

export function readSeparatorLine(text: string): string | undefined {
  return separatorLine.exec(text)?.[1] || undefined
}

export function withoutSeparatorLine(text: string): string {
  const [line] = separatorLine.exec(text) ?? ['']
  return text.slice(line.length)
}

const comparedRows = 100

/** Returns the delimiter that splits most rows into the same number of cells, else the comma. */
export function detectDelimiter(sample: string): string {
  let best: { delimiter: string; score: number } = { delimiter: ',', score: 0 }
  for (const delimiter of delimiters) {
    const score = scoreOf(firstRows(sample, delimiter), delimiter)
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

// The share of rows of the same width, plus the share of those with an e-mail. A delimiter that
// looks like punctuation, as in `Vale, Iris` and `1,5`, counts down to half. More cells decide a
// tie.
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

export function detectNewline(sample: string): Newline {
  const unquoted = sample.replace(/"(?:[^"]|"")*"/g, '')
  const hasLong = unquoted.includes('\r\n')
  if (/(?<!\r)\n/.test(unquoted)) return hasLong ? 'mixed' : '\n'
  if (hasLong) return '\r\n'
  return unquoted.includes('\r') ? '\r' : '\n'
}
