import { type CellSeparator, csvCell } from '../csv/cells.ts'

// the five cells of a line before an empty file name
const unnamed = /^([0-9a-f-]{36})([,;])(?:(?:"(?:[^"]|"")*"|[^",;]*)\2){4}(?=\2)/

/** Adds names that the server does not know, by the id of the history entry. */
export function addFileNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(unnamed, (whole, id: string, separator: CellSeparator) => {
      const found = names.get(id)
      return found ? `${whole}${csvCell(found.join(', '), separator)}` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
