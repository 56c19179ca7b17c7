/**
 * Matches each position in a text at which a spreadsheet could see the start of a formula: in
 * `a;=1`, the position before `=`. Such a position is at the beginning of the text, or after a
 * character at which a spreadsheet may split the text. French spreadsheets split at `;`, even
 * inside quotes. A formula begins with `=`, `+`, `-` or `@`, in normal or full width, or with a
 * tab, a carriage return or NUL. Quotes and apostrophes may stand between the position and the
 * formula.
 */
const formulaStart = /(?<=^|[,;\t\r\n])(?=["']*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20])/g
const guard = /(?<=^|[,;\t\r\n])'(?=["']*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20])/g

/** At the start of a CSV file, this character tells spreadsheets that the file is UTF-8. */
export const byteOrderMark = '\uFEFF'

/** What separates the cells of a CSV file. French spreadsheets expect a semicolon. */
export type CellSeparator = ',' | ';'

/**
 * Returns a line of a CSV file (RFC 4180) with its line end. Puts a `'` at each position in a cell
 * at which a spreadsheet could see the start of a formula.
 * `['=1+1', 'a;=1', 'a "b"', undefined]` → `'=1+1,a;'=1,"a ""b""",` and the line end
 */
export function csvRecord(
  cells: readonly (string | number | undefined)[],
  separator: CellSeparator = ','
): string {
  return `${cells.map(cell => csvCell(cell, separator)).join(separator)}\r\n`
}

/**
 * Returns a value as a cell of a CSV file, in quotes if necessary. Puts a `'` at each position in
 * the value at which a spreadsheet could see the start of a formula. `undefined` becomes an empty
 * cell.
 */
export function csvCell(
  value: string | number | undefined,
  separator: CellSeparator = ','
): string {
  if (value === undefined) return ''
  const inert = escapeFormulas(String(value))
  return /["\r\n]/.test(inert) || inert.includes(separator)
    ? `"${inert.replaceAll('"', '""')}"`
    : inert
}

/**
 * Returns a text with a `'` at each position at which a spreadsheet could see the start of a
 * formula. Other texts stay as they are. `=1+1` → `'=1+1`, `a;=1` → `a;'=1`
 */
export function escapeFormulas(text: string): string {
  return text.replace(formulaStart, "'")
}

/**
 * Removes each `'` that `escapeFormulas()` has put into a text: `'=1+1` → `=1+1`. Other texts,
 * such as `'quoted'`, stay as they are.
 */
export function unescapeFormulas(text: string): string {
  return text.replace(guard, '')
}
