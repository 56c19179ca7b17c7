/**
 * Matches a text that a spreadsheet would evaluate as a formula: after any number of apostrophes,
 * one of the characters that begin a formula, in normal or full width.
 */
const formula = /^'*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20]/

/**
 * The character U+FEFF. At the start of a CSV file, it tells spreadsheets that the file is UTF-8.
 */
export const byteOrderMark = '\uFEFF'

/**
 * Returns a line of a CSV file (RFC 4180) with its line end. A cell that a spreadsheet would
 * evaluate as a formula gets a leading `'`. `['=1+1', 'a "b"', undefined]` → `'=1+1,"a ""b""",`
 */
export function csvRecord(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/**
 * Returns a value as a cell of a CSV file, in quotes if necessary. A text that a spreadsheet would
 * evaluate as a formula gets a leading `'`.
 */
export function csvCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  const text = String(value)
  const inert = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
