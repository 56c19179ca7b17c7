/**
 * Matches the start of a spreadsheet formula, in half or full width, after any number of
 * apostrophes.
 */
const formula = /^'*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20]/

/** Written at the start of a file, so that spreadsheets read it as UTF-8. */
export const byteOrderMark = '\uFEFF'

/**
 * Returns a record in the format of RFC 4180. A cell that a spreadsheet would evaluate gets a
 * leading `'`.
 * `['=1+1', 'a "b"', undefined]` → `'=1+1,"a ""b""",` and a line end
 */
export function csvRecord(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** Returns one cell, quoted where necessary. */
export function csvCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  const text = String(value)
  const inert = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
