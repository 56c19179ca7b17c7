import { AppError } from '../../contract/kit/errors.ts'
import { type ListStore, withoutRows } from './lists.ts'

type AnyList<Row extends { id: string }> = Pick<ListStore<Row>, '$rows' | 'owner' | 'edit'>

/**
 * Shows at the top a row that was added to what belongs to `owner`. Returns false if the list shows
 * another owner.
 */
export function putRow<Row extends { id: string }>(
  list: AnyList<Row>,
  owner: string,
  row: Row
): boolean {
  return list.edit(owner, rows => [row, ...withoutRows(rows, [row])])
}

/** Hides a row that no longer belongs to `owner`. Returns false if the list shows another owner. */
export function dropRow<Row extends { id: string }>(
  list: AnyList<Row>,
  owner: string,
  row: Row
): boolean {
  return list.edit(owner, rows => withoutRows(rows, [row]))
}

/**
 * Hides a row and runs `call`, which deletes it on the server. The error `not_found` counts as
 * success. After any other error, shows the row again and rethrows the error.
 */
export async function removeRow<Row extends { id: string }>(
  list: AnyList<Row>,
  id: string,
  call: () => Promise<unknown>
): Promise<void> {
  const owner = list.owner()
  const at = list.$rows.get().findIndex(row => row.id === id)
  const row = list.$rows.get()[at]
  if (row) list.edit(owner, rows => withoutRows(rows, [row]))
  try {
    await call()
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return
    if (row) list.edit(owner, rows => withoutRows(rows, [row]).toSpliced(at, 0, row))
    throw error
  }
}
