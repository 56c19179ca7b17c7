import { csvCell } from '../csv/cells.ts'

/**
 * Matches the first cells of a verification's line in the CSV file of a history: id, kind, time,
 * state, code and an empty name.
 */
const check = /^([0-9a-f-]{36}),verify,([^,"]*),([^,"]*),([^,"]*),,/

/**
 * Adds the names of verified files to the CSV file of a history. `names` has the file names by the
 * id of the history entry. The server does not know these names.
 */
export function addFileNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(check, (whole, id: string) => {
      const found = names.get(id)
      return found ? `${whole.slice(0, -1)}${csvCell(found.join('; '))},` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
