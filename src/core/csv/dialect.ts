import type { Encoding } from './encodings.ts'

/** The characters that can separate the cells of a row. */
export const delimiters = [',', ';', '\t', '|'] as const
export type Delimiter = (typeof delimiters)[number]
/** The line end of a file. `mixed`: some rows end with `\n`, others with `\r\n`. */
export type Newline = '\n' | '\r\n' | '\r' | 'mixed'

/** The format of a CSV file: its delimiter, encoding and line ends. */
export interface CsvDialect {
  delimiter: Delimiter
  encoding: Encoding
  /** Whether the file begins with a byte order mark. */
  hasMark: boolean
  newline: Newline
  hasHeader: boolean
}

const comparedRows = 100

/**
 * Returns the delimiter that splits most rows of a sample into the same number of cells. Returns
 * the comma if no delimiter gives rows of several cells.
 */
export function detectDelimiter(sample: string): Delimiter {
  let best: { delimiter: Delimiter; score: number } = { delimiter: ',', score: 0 }
  for (const delimiter of delimiters) {
    const score = scoreOf(cellCounts(sample, delimiter))
    if (score > best.score) best = { delimiter, score }
  }
  return best.delimiter
}

/**
 * Returns how well a delimiter fits a sample. `counts` contains the number of cells of each row.
 * Each number above one gets a score: the fraction of the rows that have this number of cells, plus
 * 0.001 per cell, for at most 50 cells. Returns the highest score, or 0 if no row has several
 * cells. If two delimiters fit equally well, the one that gives more cells has the higher score.
 */
function scoreOf(counts: readonly number[]): number {
  const frequency = new Map<number, number>()
  for (const count of counts) frequency.set(count, (frequency.get(count) ?? 0) + 1)
  let score = 0
  for (const [count, rows] of frequency) {
    if (count > 1) score = Math.max(score, rows / counts.length + Math.min(count, 50) / 1_000)
  }
  return score
}

/**
 * Returns the number of cells of each row, for the first 100 rows that are not blank. Delimiters
 * and line ends inside quotes do not separate cells or rows.
 */
function cellCounts(sample: string, delimiter: Delimiter): number[] {
  const counts: number[] = []
  let [cells, isQuoted, wasQuoted, isStart, isBlank] = [1, false, false, true, true]
  const endRow = () => {
    if (!isBlank) counts.push(cells)
    cells = 1
    isStart = true
    isBlank = true
  }
  for (const character of sample) {
    if (counts.length === comparedRows) return counts
    if (isQuoted) {
      if (character === '"') isQuoted = false
    } else if (character === '\n' || character === '\r') endRow()
    else {
      isBlank = false
      // a quote inside an unquoted cell is text; the second one of "" opens the cell again
      if (character === '"') isQuoted = isStart || wasQuoted
      else if (character === delimiter) cells += 1
      isStart = character === delimiter
    }
    wasQuoted = !isQuoted && character === '"'
  }
  if (!isQuoted) endRow()
  return counts
}

/** Returns the line end of the rows of a sample. Line breaks inside quotes do not count. */
export function detectNewline(sample: string): Newline {
  const unquoted = sample.replace(/"(?:[^"]|"")*"/g, '')
  const hasLong = unquoted.includes('\r\n')
  if (/(?<!\r)\n/.test(unquoted)) return hasLong ? 'mixed' : '\n'
  if (hasLong) return '\r\n'
  return unquoted.includes('\r') ? '\r' : '\n'
}
