import { AppError } from '../../contract/kit/errors.ts'
import type { LoadState } from '../load-state.ts'
import { personalAtom } from '../personal-atoms.ts'

/**
 * State of a list that belongs to the item of an administration page, such as the members of a
 * group. `hasMore`: the server may have further entries.
 */
export type ItemEntriesState<Entry> = LoadState<{ items: readonly Entry[]; hasMore: boolean }>

const pageSize = 50

interface Page {
  limit: number
  cursor: string | undefined
  /** Search words. Undefined for all entries. */
  q: string | undefined
}

/**
 * Creates the store of a list that belongs to the item of an administration page, such as the
 * members of a group. `load` loads the entries that `page` asks for. `watch` is the method `watch`
 * of the item's store, which `createShownItem()` has created. The list uses it to drop responses
 * for an item that is no longer shown.
 */
export function createItemEntriesStore<Entry extends { id: string }>(
  watch: (id: string) => () => boolean,
  load: (id: string, page: Page) => Promise<Entry[]>
) {
  const $entries = personalAtom<ItemEntriesState<Entry>>({ status: 'loading' })
  const $q = personalAtom('')

  /**
   * Loads the first page of the entries. With `after`, the id of an entry in the list, adds the
   * page that follows that entry. If that page fails to load, keeps the current entries and throws.
   */
  async function loadPage(id: string, after?: string): Promise<void> {
    const [isStillShown, q] = [watch(id), $q.get()]
    try {
      const items = await load(id, { limit: pageSize, cursor: after, q: q || undefined })
      if (!isStillShown() || q !== $q.get()) return
      const before = $entries.get()
      const known = after !== undefined && before.status === 'ready' ? before.items : []
      const ids = new Set(items.map(each => each.id))
      const kept = known.filter(each => !ids.has(each.id))
      const hasMore = items.length === pageSize
      $entries.set({ status: 'ready', items: [...kept, ...items], hasMore })
    } catch (error) {
      if (!(error instanceof AppError) || after !== undefined) throw error
      if (isStillShown() && q === $q.get()) $entries.set({ status: 'failed', error })
    }
  }

  /**
   * Makes a call that adds an entry to the item `id`, or removes one (for example, a member of a
   * group). Then makes the same change in the shown list. `added` is `[entry]` if the call adds the
   * entry, and empty if the call removes it. An added entry appears at the top. Returns false and
   * leaves the list unchanged if the page no longer shows the item.
   */
  async function change(
    id: string,
    entry: Entry,
    call: () => Promise<unknown>,
    added: readonly Entry[]
  ): Promise<boolean> {
    const isStillShown = watch(id)
    await call()
    if (!isStillShown()) return false
    const before = $entries.get()
    if (before.status === 'ready') {
      const others = before.items.filter(each => each.id !== entry.id)
      $entries.set({ ...before, items: [...added, ...others] })
    }
    return true
  }

  return {
    $entries,

    $q,

    restart(): void {
      $q.set('')
      $entries.set({ status: 'loading' })
    },

    load: loadPage,

    async search(id: string, text: string): Promise<void> {
      $q.set(text)
      await loadPage(id)
    },

    /**
     * Makes a call that adds `entry` to the item `id` (for example, a member to a group). Then
     * shows the entry at the top of the list. Returns false and leaves the list unchanged if the
     * page no longer shows the item.
     */
    add: (id: string, entry: Entry, call: () => Promise<unknown>): Promise<boolean> =>
      change(id, entry, call, [entry]),

    remove: (id: string, entry: Entry, call: () => Promise<unknown>): Promise<boolean> =>
      change(id, entry, call, [])
  }
}
