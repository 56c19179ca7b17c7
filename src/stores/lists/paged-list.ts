import type { ReadableAtom } from 'nanostores'
import { AppError } from '../../contract/kit/errors.ts'
import { personalAtom } from '../personal-atoms.ts'
import { addSessionEndListener } from '../sessions.ts'

export type ListStatus =
  | { status: 'idle' }
  | { status: 'loading' }
  | {
      status: 'ready'
      hasMore: boolean
      more: 'idle' | 'loading' | { error: AppError }
      /** Why the last refresh failed. The rows of the earlier load stay visible. */
      stale?: AppError
    }
  | { status: 'failed'; error: AppError }

export interface PageRequest {
  limit: number
  /** Id of the last row of the previous page. Undefined for the first page. */
  cursor?: string
}

/**
 * Where a loaded page belongs in the list. `start`: it is the first page and replaces all rows.
 * `head`: it is the first page, loaded again, and its last row is already in the list, so the rows
 * after it stay. `next`: it follows the page that was loaded last.
 */
export type PagePosition = 'start' | 'head' | 'next'

/** Holds the rows of a list and decides in which order they are shown. */
export interface RowSource<Row, Query> {
  /**
   * Returns the rows to show for the query, in the order in which they are shown. Loads nothing:
   * rows that the source does not hold yet are missing from the result.
   */
  rowsFor(query: Query): readonly Row[]
  /** Adds the rows of a loaded page to the source, then calls the list's `show()`. */
  add(page: readonly Row[], place: PagePosition): void
  /** Whether to drop the answer to a refresh if a later refresh has begun meanwhile. */
  dropsLatePages?: boolean
  /** Runs when the first page of a query could not be loaded. */
  onFailure?(): void
}

interface PagedListOptions<Row, Query> {
  load(query: Query, page: PageRequest): Promise<Row[]>
  source: RowSource<Row, Query>
}

interface Paging {
  /** Id of the last row of the last loaded page. Up to this row, the list is complete. */
  cursor?: string
  /**
   * Ids of the rows in the loaded pages. Rows that come only from the event stream are not
   * included, because rows next to them may not be loaded yet.
   */
  ids: Set<string>
}

const firstPageRows = 50
/**
 * Number of rows in each page after the first: the most that the server returns in one response.
 * Large pages mean few calls for people who scroll far.
 */
const nextPageRows = 200

/**
 * Creates the store of a list that is loaded page by page. The server searches, sorts and filters
 * the list. Old rows stay visible while newer ones are loaded. The list is emptied when the session
 * ends.
 */
export function createPagedList<Row extends { id: string }, Query extends object>({
  load: loadPage,
  source
}: PagedListOptions<Row, Query>) {
  const $rows = personalAtom<readonly Row[]>([])
  const $status = personalAtom<ListStatus>({ status: 'idle' })
  const $query = personalAtom({} as Query) // as: all values of a query are optional
  let paging: Paging = { ids: new Set() }
  /**
   * Number of refreshes so far. With `dropsLatePages`, the page that a refresh loads is dropped if
   * a later refresh has begun.
   */
  let refreshes = 0

  // answers that come after the session are dropped
  addSessionEndListener(restart)

  /** Makes the list ignore the answers to earlier calls, and begin again with the first page. */
  function restart(): void {
    paging = { ids: new Set() }
  }

  function show(): void {
    $rows.set(source.rowsFor($query.get()))
  }

  /** Changes the query without loading anything. Returns whether it differs from the one before. */
  function setQuery(query: Query): boolean {
    if (isSameQuery(query, $query.get())) return false
    $query.set(query)
    restart()
    show()
    return true
  }

  /** Loads the first page, with the status `loading` meanwhile. Returns whether this succeeded. */
  function load(): Promise<boolean> {
    $status.set({ status: 'loading' })
    return refresh()
  }

  /**
   * Loads the first page again while the current rows stay visible. Returns whether this succeeded.
   */
  async function refresh(): Promise<boolean> {
    const mine = paging
    refreshes += 1
    const number = refreshes
    try {
      const page = await loadPage($query.get(), { limit: firstPageRows })
      if (mine !== paging || (source.dropsLatePages && number !== refreshes)) return false
      takeFirstPage(page)
      return true
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (mine === paging) takeFailure(error)
      return false
    }
  }

  function takeFirstPage(page: Row[]): void {
    const before = $status.get()
    const last = page.at(-1)
    // if the last row is unknown, there is a gap after it, which further pages close
    const isKnown = last !== undefined && paging.ids.has(last.id)
    const isHead = before.status === 'ready' && isKnown && page.length === firstPageRows
    addPage(page, isHead ? 'head' : 'start')
    if (isHead) {
      const { stale: _, ...rest } = before
      $status.set(rest)
    } else finish(last, page.length === firstPageRows)
  }

  function takeFailure(error: AppError): void {
    const before = $status.get()
    if (before.status === 'ready') $status.set({ ...before, stale: error })
    else {
      source.onFailure?.()
      $status.set({ status: 'failed', error })
    }
  }

  function addPage(page: Row[], place: PagePosition): void {
    if (place === 'start') paging.ids.clear()
    for (const { id } of page) paging.ids.add(id)
    source.add(page, place)
  }

  function finish(last: Row | undefined, hasMore: boolean): void {
    if (last) paging.cursor = last.id
    $status.set({ status: 'ready', hasMore, more: 'idle' })
  }

  /**
   * Loads the next page. Does nothing if a page is being loaded already, or if there is no further
   * page.
   */
  async function loadMore(): Promise<void> {
    const before = $status.get()
    if (before.status !== 'ready' || before.more === 'loading' || !before.hasMore) return
    $status.set({ ...before, more: 'loading' })
    const mine = paging
    const { cursor } = mine
    try {
      const place = cursor === undefined ? {} : { cursor }
      const page = await loadPage($query.get(), { limit: nextPageRows, ...place })
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

  /**
   * Loads pages until at least `count` rows are loaded, or all, or a page could not be loaded.
   * Returns false if the query has changed or the session has ended meanwhile.
   */
  async function loadUpTo(count: number): Promise<boolean> {
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
  }

  return { $rows, $status, $query, show, setQuery, restart, load, refresh, loadMore, loadUpTo }
}

function nextChange($store: ReadableAtom): Promise<void> {
  return new Promise(resolve => {
    const stop = $store.listen(() => {
      stop()
      resolve()
    })
  })
}

/** Returns whether two queries have the same values. A missing value equals `undefined`. */
export function isSameQuery(a: object, b: object): boolean {
  const names = Object.keys({ ...a, ...b })
  return names.every(name => Reflect.get(a, name) === Reflect.get(b, name))
}
