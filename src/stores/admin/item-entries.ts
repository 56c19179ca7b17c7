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
 * Creates the store of a list that belongs to the item of a page, such as the members of a group.
 * `load` loads one page of the list. `watch` is the function of this name from the item's store
 * (`createShownItem()`). With it, the list drops responses for an item that is no longer shown.
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
   * Makes a call that adds or removes `entry`, then changes the list in the same way. `added` has
   * the entry to show at the top, and is empty if the call removes the entry. If the page no longer
   * shows the item, leaves the list unchanged and returns false.
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
     * Makes a call that adds an entry, and shows the entry at the top of the list. Returns whether
     * the page still shows the item.
     */
    add: (id: string, entry: Entry, call: () => Promise<unknown>): Promise<boolean> =>
      change(id, entry, call, [entry]),

    remove: (id: string, entry: Entry, call: () => Promise<unknown>): Promise<boolean> =>
      change(id, entry, call, [])
  }
}
