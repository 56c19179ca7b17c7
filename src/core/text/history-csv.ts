import { csvCell } from './csv.ts'

/**
 * Matches the first cells of a verification's row: id, kind, time, state, code and an empty name.
 */
const check = /^([0-9a-f-]{36}),verify,([^,"]*),([^,"]*),([^,"]*),,/

/** Adds the names of verified files to the CSV of a history. Only the browser knows these names. */
export function addFileNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(check, (whole, id: string) => {
      const found = names.get(id)
      return found ? `${whole.slice(0, -1)}${csvCell(found.join('; '))},` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
