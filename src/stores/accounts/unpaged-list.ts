import { computed } from 'nanostores'
import { AppError } from '../../contract/kit/errors.ts'
import { createListStore } from '../lists/lists.ts'
import type { LoadState } from '../load-state.ts'

/**
 * Creates the store of a list that one call loads as a whole. `load` gets the value that was passed
 * to `open()` of the store, such as the id of a company, and returns all rows that belong to it.
 */
export function createUnpagedList<Row extends { id: string }>(
  load: (owner: string) => Promise<Row[]>
) {
  const list = createListStore<Row, object>((_query, _page, owner) => load(owner))
  return {
    $list: computed(
      [list.$rows, list.$status],
      (rows, status): LoadState<{ rows: readonly Row[] }> => {
        if (status.status === 'failed') return status
        if (status.status !== 'ready') return { status: 'loading' }
        return status.stale ? { status: 'failed', error: status.stale } : { status: 'ready', rows }
      }
    ),

    /**
     * Loads the rows of `owner`. If the list already shows rows of this owner, they stay visible
     * meanwhile.
     */
    open: (owner: string): Promise<void> => list.open(owner, {}),

    /**
     * Hides a row and runs `call`, which deletes it on the server. The error `not_found` counts as
     * success. After any other error, shows the row again and rethrows the error.
     */
    remove: (id: string, call: () => Promise<unknown>): Promise<void> =>
      list.change(id, undefined, async () => {
        try {
          await call()
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'not_found') throw error
        }
      })
  }
}
