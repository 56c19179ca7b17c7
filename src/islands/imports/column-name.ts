/** Returns the letters that spreadsheets give a column: 0 → `A`, 26 → `AA` */
export function columnName(at: number): string {
  const last = String.fromCharCode(65 + (at % 26))
  return at < 26 ? last : columnName(Math.floor(at / 26) - 1) + last
}
