import { csvCell } from './csv.ts'

/** The first cells of a check: its id, kind, time, state, code, and the name that is still empty. */
const check = /^([0-9a-f-]{36}),verify,([^,"]*),([^,"]*),([^,"]*),,/

/** The CSV of a history with the names of checked files, which stand in no answer of the server. */
export function withNames(csv: string, names: ReadonlyMap<string, readonly string[]>): string {
  const named = (line: string) =>
    line.replace(check, (whole, id: string) => {
      const found = names.get(id)
      return found ? `${whole.slice(0, -1)}${csvCell(found.join('; '))},` : whole
    })
  return csv.split('\r\n').map(named).join('\r\n')
}
