import type { ReadableAtom } from 'nanostores'
import { AppError } from '../../contract/kit/errors.ts'
import type { ListStatus } from '../load-state.ts'
import { personalAtom } from '../personal-atoms.ts'
import { $session, addSessionEndListener } from '../sessions.ts'

export interface PageRequest {
  limit: number
  /** Id of the last row of the previous page. Undefined for the first page. */
  cursor?: string
}

interface ListOptions<Row, Query> {
  /** A refresh loads the shown rows again, at most this many. */
  mostRefreshed?: number
  /**
   * Given if rows also arrive outside the pages, in any order, and each row in several states. The
   * list then holds all rows that have arrived, and sorts and filters them itself.
   */
  live?: {
    compare(a: Row, b: Row): number
    isNewer(row: Row, held: Row): boolean
    /** Returns undefined if all rows match the query. */
    matcher(query: Query): ((row: Row) => boolean) | undefined
    /** Runs after rows were shown that are new or have changed. */
    onChange(rows: readonly Row[]): void
  }
}

interface Paging {
  /** Id of the last row of the last loaded page. Up to this row, the list is complete. */
  cursor?: string
  // rows next to one that has arrived outside the pages may be missing, so it is not among these
  ids: Set<string>
}

export type ListStore<Row extends { id: string }, Query extends object = object> = ReturnType<
  typeof createListStore<Row, Query>
>

const firstPageRows = 50
// the most that the server returns in one response
const nextPageRows = 200

/**
 * Creates the store of a list that the server sorts and returns page by page. `load` returns a page
 * of the rows that belong to `owner`, such as a company. `open()` sets the owner. The list is
 * emptied when the session ends.
 */
export function createListStore<Row extends { id: string }, Query extends object = object>(
  loadPage: (query: Query, page: PageRequest, owner: string) => Promise<Row[]>,
  { mostRefreshed = firstPageRows, live }: ListOptions<Row, Query> = {}
) {
  const none: readonly Row[] = []
  const wholeList = {} as Query // as: all values of a query are optional
  const $rows = personalAtom(none)
  const $status = personalAtom<ListStatus>({ status: 'idle' })
  const $query = personalAtom(wholeList)
  const [idle, byId] = [$status.get(), new Map<string, Row>()]
  let held = none
  let owner: string | undefined
  let paging: Paging = { ids: new Set() }
  let refreshes = 0

  addSessionEndListener(clear)

  function clear(): void {
    restart()
    byId.clear()
    held = none
    owner = undefined
    $rows.set(none)
    $status.set(idle)
    $query.set(wholeList)
  }

  // the answers to earlier calls belong to another `paging`, and are dropped
  function restart(): void {
    paging = { ids: new Set() }
  }

  function show(rows: readonly Row[]): void {
    held = rows
    const isMatch = live?.matcher($query.get())
    $rows.set(isMatch ? rows.filter(isMatch) : rows)
  }

  function setQuery(query: Query): boolean {
    if (isSameQuery(query, $query.get())) return false
    $query.set(query)
    restart()
    show(held)
    return true
  }

  async function open(whose: string, query: Query): Promise<void> {
    if ($session.get().status === 'out') return
    const isOther = whose !== owner
    owner = whose
    if (isOther) {
      restart()
      show(none)
    }
    const isNew = setQuery(query)
    if (isOther || isNew || $status.get().status !== 'ready') await load()
    else await refresh()
  }

  function load(): Promise<boolean> {
    $status.set({ status: 'loading' })
    return refresh()
  }

  async function refresh(): Promise<boolean> {
    const mine = paging
    refreshes += 1
    const number = refreshes
    const limit = Math.min(mostRefreshed, Math.max(firstPageRows, held.length))
    try {
      const page = await loadPage($query.get(), { limit }, owner ?? '')
      if (mine !== paging || (!live && number !== refreshes)) return false
      takeFirstPage(page, limit)
      return true
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (mine === paging) takeFailure(error)
      return false
    }
  }

  function takeFirstPage(page: Row[], limit: number): void {
    const before = $status.get()
    const last = page.at(-1)
    // if the last row is unknown, there is a gap after it, which further pages close
    const isKnown = last !== undefined && paging.ids.has(last.id)
    const isHead = before.status === 'ready' && isKnown && page.length === limit
    addPage(page, isHead ? 'head' : 'start')
    if (isHead) {
      const { stale: _, ...rest } = before
      $status.set(rest)
    } else finish(last, page.length === limit)
  }

  function takeFailure(error: AppError): void {
    const before = $status.get()
    if (before.status === 'ready') $status.set({ ...before, stale: error })
    else {
      // the rows that are still shown match an earlier query
      if (!live) show(none)
      $status.set({ status: 'failed', error })
    }
  }

  function addPage(page: Row[], place: 'start' | 'head' | 'next'): void {
    if (place === 'start') paging.ids.clear()
    for (const { id } of page) paging.ids.add(id)
    if (live) merge(page)
    else if (place === 'start') show(page)
    else {
      // rows before the last row of the first page that are not in it no longer exist
      const lastAt = held.findIndex(({ id }) => id === page.at(-1)?.id)
      const kept = withoutRows(place === 'next' ? held : held.slice(lastAt + 1), page)
      show(place === 'next' ? [...kept, ...page] : [...page, ...kept])
    }
  }

  function merge(incoming: readonly Row[]): void {
    if (!live) return
    const changed = incoming.filter(row => {
      const known = byId.get(row.id)
      if (known && !live.isNewer(row, known)) return false
      byId.set(row.id, row)
      return true
    })
    if (changed.length === 0) return
    const next = [...held]
    for (const row of changed) {
      const at = insertionIndex(next, row, live.compare)
      next.splice(at, next[at]?.id === row.id ? 1 : 0, row)
    }
    show(next)
    live.onChange(changed)
  }

  function finish(last: Row | undefined, hasMore: boolean): void {
    if (last) paging.cursor = last.id
    $status.set({ status: 'ready', hasMore, more: 'idle' })
  }

  async function loadMore(): Promise<void> {
    const before = $status.get()
    if (before.status !== 'ready' || before.more === 'loading' || !before.hasMore) return
    $status.set({ ...before, more: 'loading' })
    const mine = paging
    const { cursor } = mine
    try {
      const place = cursor === undefined ? {} : { cursor }
      const page = await loadPage($query.get(), { limit: nextPageRows, ...place }, owner ?? '')
      if (mine !== paging) return
      addPage(page, 'next')
      // otherwise a refresh has found missing rows before this page, which is loaded again later
      if (cursor === mine.cursor) finish(page.at(-1), page.length === nextPageRows)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (mine !== paging) return
      if (error.code === 'not_found') {
        // the row of the cursor was deleted meanwhile, so its place is unknown
        restart()
        await load()
      } else $status.set({ ...before, more: { error } })
    }
  }

  return {
    $rows,
    $status,
    $query,

    /**
     * Shows the rows of an owner that match the query. Rows of another owner disappear immediately.
     * Rows of another query stay until the new rows are loaded.
     */
    open,
    /** Shows no rows and drops late answers, as before the first `open()`. */
    clear,
    /** Changes the query without loading anything. Returns whether it differs from the one before. */
    setQuery,
    /** Loads the first page, with the status `loading` meanwhile. Returns whether this succeeded. */
    load,
    /** Loads the first page again while the rows stay visible. Returns whether this succeeded. */
    refresh,
    loadMore,

    /**
     * Loads pages until at least `count` rows are loaded, or all, or a page could not be loaded.
     * Returns false if the query has changed or the session has ended meanwhile.
     */
    async loadUpTo(count: number): Promise<boolean> {
      const query = $query.get()
      const isSame = () => query === $query.get() && $status.get().status !== 'idle'
      while (isSame() && $rows.get().length < count) {
        const before = $status.get()
        if (before.status !== 'ready' || !before.hasMore) break
        if (before.more === 'loading') await nextChange($status)
        else await loadMore()
        const now = $status.get()
        if (now.status === 'ready' && typeof now.more === 'object') break
      }
      return isSame()
    },

    /** Adds rows to a `live` list, each in its newest state. */
    merge,
    /** Returns a row that a `live` list holds, also if it does not match the query. */
    find: (id: string) => byId.get(id),
    /** Returns all rows that a `live` list holds. */
    all: () => [...byId.values()],

    owner: () => owner,
    /** Shows the changed rows, unless the list shows those of another owner than `whose`. */
    edit(whose: string | undefined, change: (rows: readonly Row[]) => readonly Row[]): boolean {
      if (whose === owner) show(change(held))
      return whose === owner
    }
  }
}

/** Returns the index where a row belongs in a sorted list. */
export function insertionIndex<Row>(
  sorted: readonly Row[],
  row: Row,
  compare: (a: Row, b: Row) => number
): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const at = sorted[middle]
    if (at && compare(at, row) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** A missing value equals `undefined`. */
export function isSameQuery(a: object, b: object): boolean {
  const names = Object.keys({ ...a, ...b })
  return names.every(name => Reflect.get(a, name) === Reflect.get(b, name))
}

export function withoutRows<Row extends { id: string }>(
  rows: readonly Row[],
  gone: readonly Row[]
) {
  const ids = new Set(gone.map(({ id }) => id))
  return rows.filter(({ id }) => !ids.has(id))
}

function nextChange($store: ReadableAtom): Promise<void> {
  return new Promise(resolve => {
    const stop = $store.listen(() => {
      stop()
      resolve()
    })
  })
}
