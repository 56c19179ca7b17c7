import { type CellSeparator, csvCell } from '../csv/cells.ts'

/**
 * Matches the beginning of a line without a file name in the CSV file of a person's history: the
 * five cells before the empty cell of the name. Captures the id and the separator.
 */
const unnamed = /^([0-9a-f-]{36})([,;])(?:(?:"(?:[^"]|"")*"|[^",;]*)\2){4}(?=\2)/

/**
 * Adds the names of verified files to the CSV file of a person's history. The file comes from the
 * server, which does not know these names. `names` has the file names of each history entry, by the
 * id of the entry.
 */
export function addFileNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(unnamed, (whole, id: string, separator: CellSeparator) => {
      const found = names.get(id)
      return found ? `${whole}${csvCell(found.join(', '), separator)}` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
