import { csvCell } from '../csv/cells.ts'

/**
 * Matches the beginning of a line about a verification in the CSV file of a person's history, up to
 * and including the empty cell of the file name. Captures id, time, state and code.
 */
const check = /^([0-9a-f-]{36}),verify,([^,"]*),([^,"]*),([^,"]*),,/

/**
 * Adds the names of verified files to the CSV file of a person's history. The file comes from the
 * server, which does not know these names. `names` has the file names of each history entry, by the
 * id of the entry.
 */
export function addFileNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(check, (whole, id: string) => {
      const found = names.get(id)
      return found ? `${whole.slice(0, -1)}${csvCell(found.join('; '))},` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
