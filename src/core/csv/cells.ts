// In `a;=1`, the position before `=`: French spreadsheets split at `;` even inside quotes. Formulas
// also begin with full-width signs, tabs, carriage returns and NUL.
const formulaStart = /(?<=^|[,;\t\r\n])(?=["']*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20])/g
const guard = /(?<=^|[,;\t\r\n])'(?=["']*[=+\-@\t\r\0\uFF1D\uFF0B\uFF0D\uFF20])/g

/** Tells spreadsheets that a CSV file is UTF-8. */
export const byteOrderMark = '\uFEFF'

export type CellSeparator = ',' | ';'

/**
 * Returns a line of a CSV file (RFC 4180): `['=1+1', 'a;=1', 'a "b"']` → `'=1+1,a;'=1,"a
 * ""b"""\r\n`
 */
export function csvRecord(
  cells: readonly (string | number | undefined)[],
  separator: CellSeparator = ','
): string {
  return `${cells.map(cell => csvCell(cell, separator)).join(separator)}\r\n`
}

/** Returns a cell of a CSV file, quoted and with formulas escaped. */
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

/** Puts a `'` wherever a spreadsheet could see the start of a formula: `a;=1` → `a;'=1` */
export function escapeFormulas(text: string): string {
  return text.replace(formulaStart, "'")
}

/** Undoes `escapeFormulas()`: `'=1+1` → `=1+1`. `'quoted'` stays as it is. */
export function unescapeFormulas(text: string): string {
  return text.replace(guard, '')
}
