import { escapeFormulas } from './cells.ts'
import type { CsvDialect } from './dialect.ts'
import { encodeText } from './encodings.ts'

/**
 * Returns the bytes of a CSV file with the given rows, in the given dialect. Puts a `'` before
 * everything that a spreadsheet could evaluate as a formula, even inside a cell: `=1` → `'=1`,
 * `a;=1` → `a;'=1`. If the dialect's encoding lacks a character of the rows, the file is UTF-8 with
 * a byte order mark instead.
 */
export function encodeCsv(
  rows: readonly (readonly string[])[],
  dialect: CsvDialect
): Uint8Array<ArrayBuffer> {
  const newline = dialect.newline === 'mixed' ? '\r\n' : dialect.newline
  const text = rows.map(row => `${writeRow(row, dialect)}${newline}`).join('')
  const bytes = encodeText(text, dialect.encoding, dialect.hasMark)
  // the BOM tells spreadsheets that a file is UTF-8
  return bytes ?? new TextEncoder().encode(`\uFEFF${text}`)
}

function writeRow(row: readonly string[], { delimiter }: CsvDialect): string {
  const cells = row.map(cell => {
    const inert = escapeFormulas(cell)
    const isPlain = !/["\r\n]/.test(inert) && !inert.includes(delimiter) && inert.trim() === inert
    return isPlain ? inert : `"${inert.replaceAll('"', '""')}"`
  })
  // an empty line would be no row
  return cells.length === 1 && cells[0] === '' ? '""' : cells.join(delimiter)
}
