import { escapeFormulas } from './cells.ts'
import type { CsvDialect } from './dialect.ts'
import { encodeText } from './encodings.ts'

/**
 * Returns a CSV file with formulas escaped. It is UTF-8 with a mark if the dialect's encoding lacks
 * a character.
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
