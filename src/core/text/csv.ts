/** What begins a formula in a spreadsheet, in half or full width, however many quotes stand before it. */
const formula = /^'*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20]/

/** So that spreadsheets read UTF-8. */
export const csvMark = '\uFEFF'

/**
 * One record as RFC 4180 has it. What a spreadsheet would compute gets a `'` in front, so that it is text.
 * `['=1+1', 'a "b"', undefined]` → `'=1+1,"a ""b""",` and a line end
 */
export function csvRecord(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** One cell, quoted where it has to be. */
export function csvCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  const text = String(value)
  const inert = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}
