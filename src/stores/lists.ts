import { AppError } from '../contract/errors.ts'
import { personalAtom } from './personal-atoms.ts'
import { $session, onSignOut } from './sessions.ts'

export type ListStatus =
  | { status: 'idle' }
  | { status: 'loading' }
  | {
      status: 'ready'
      hasMore: boolean
      more: 'idle' | 'loading' | { error: AppError }
      /** Why the last refresh failed. The rows are those from before. */
      stale?: AppError
    }
  | { status: 'failed'; error: AppError }

export interface PageRequest {
  limit: number
  /** Id of the last row of the page before. Undefined for the first page. */
  cursor?: string
}

/** The rows of a list that has more than its pages, such as events of a stream. */
export interface RowSource<Row, Query> {
  /** Returns the rows that match the query, as far as they are known. */
  rowsFor(query: Query): readonly Row[]
  /** Adds the rows of a page and calls `show()` of the list. */
  add(page: readonly Row[]): void
}

interface ListOptions<Row, Query> {
  /** The query of a list that nobody has searched, sorted or filtered. */
  query: Query
  load(query: Query, page: PageRequest): Promise<Row[]>
  isSame(a: Query, b: Query): boolean
  /** Absent for a list that shows its pages in the order of the server. */
  source?: RowSource<Row, Query>
}

/** How far the pages of the present query have been loaded. */
interface Paging {
  /** Id of the last row of the last page. Up to this row the list is complete. */
  cursor?: string
  /**
   * Ids of the rows that pages contained. Other rows came from the event stream, and rows may be
   * missing between them and those of the pages.
   */
  ids: Set<string>
}

export type List<Row, Query> = ReturnType<typeof createList<Row & { id: string }, Query>>

const firstPageRows = 50
/** The most rows that the server returns at once. Few pages then serve people who scroll far. */
const nextPageRows = 200

/**
 * Creates the store of a list of the API that is loaded page by page, searched, sorted and filtered by
 * the server. Old rows stay visible while newer ones are loaded. The end of the session empties it.
 */
export function createList<Row extends { id: string }, Query>(options: ListOptions<Row, Query>) {
  const $rows = personalAtom<readonly Row[]>([])
  const $status = personalAtom<ListStatus>({ status: 'idle' })
  const $query = personalAtom(options.query)
  let paging: Paging = { ids: new Set() }
  /** What the rows belong to: the company, for a list of the administration. */
  let owner: string | undefined
  /** Number of the last refresh, so that an earlier one that comes later changes nothing. */
  let refreshes = 0

  // what is still under way belongs to nobody any more
  onSignOut(() => {
    paging = { ids: new Set() }
    owner = undefined
  })

  /** Shows what the source has for the query. */
  function show(): void {
    if (options.source) $rows.set(options.source.rowsFor($query.get()))
  }

  /** Changes the query without loading anything. Returns whether it differs from the one before. */
  function setQuery(query: Query): boolean {
    if (options.isSame(query, $query.get())) return false
    $query.set(query)
    paging = { ids: new Set() }
    show()
    return true
  }

  /** Loads the first page, and says so until it is there. Returns whether it could be loaded. */
  async function load(): Promise<boolean> {
    $status.set({ status: 'loading' })
    return refresh()
  }

  /** Loads the first page while the rows stay as they are. Returns whether it could be loaded. */
  async function refresh(): Promise<boolean> {
    if ($session.get().status === 'out') return false
    const mine = paging
    refreshes += 1
    const number = refreshes
    try {
      const page = await options.load($query.get(), { limit: firstPageRows })
      if (mine !== paging || (number !== refreshes && !options.source)) return false
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
    // if the last row of the first page is unknown, there is a gap after it, which further pages close
    const isGap = last !== undefined && !paging.ids.has(last.id)
    const isWhole = page.length < firstPageRows
    const joins = before.status === 'ready' && !isGap
    if (options.source) options.source.add(page)
    else $rows.set(joins && !isWhole ? joinRows(page, $rows.get(), last) : page)
    for (const { id } of page) paging.ids.add(id)
    if (joins && !isWhole) $status.set({ ...withoutStale(before) })
    else finishPage(last, !isWhole)
  }

  function takeFailure(error: AppError): void {
    const before = $status.get()
    if (before.status === 'ready') $status.set({ ...before, stale: error })
    else {
      // the rows match another query
      if (!options.source) $rows.set([])
      $status.set({ status: 'failed', error })
    }
  }

  function finishPage(last: Row | undefined, hasMore: boolean): void {
    if (last) paging.cursor = last.id
    $status.set({ status: 'ready', hasMore, more: 'idle' })
  }

  /** Loads the next page. Does nothing while one is loading, and where there is none. */
  async function loadMore(): Promise<void> {
    const before = $status.get()
    if (before.status !== 'ready' || before.more === 'loading' || !before.hasMore) return
    $status.set({ ...before, more: 'loading' })
    const mine = paging
    const { cursor } = mine
    try {
      const page = await options.load($query.get(), {
        limit: nextPageRows,
        ...(cursor === undefined ? {} : { cursor })
      })
      if (mine !== paging) return
      const known = new Set($rows.get().map(({ id }) => id))
      if (options.source) options.source.add(page)
      else $rows.set([...$rows.get(), ...page.filter(({ id }) => !known.has(id))])
      for (const { id } of page) paging.ids.add(id)
      // otherwise a refresh has found a gap before this page, which will be loaded again in its turn
      if (cursor === mine.cursor) finishPage(page.at(-1), page.length === nextPageRows)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (mine !== paging) return
      if (error.code === 'not_found' && cursor !== undefined) {
        // the last row was deleted meanwhile, so its place is unknown
        paging = { ids: new Set() }
        await load()
      } else $status.set({ ...before, more: { error } })
    }
  }

  return {
    $rows,
    $status,
    $query,
    show,
    setQuery,
    load,
    refresh,
    loadMore,

    /**
     * Shows the rows of an owner that match the query. Rows of another owner disappear at once; rows
     * of another query stay until the new ones are there.
     */
    async open(whose: string, query: Query): Promise<void> {
      if ($session.get().status === 'out') return
      const isOther = whose !== owner
      owner = whose
      if (isOther) {
        paging = { ids: new Set() }
        $rows.set([])
      }
      const isNew = setQuery(query)
      if (isOther || isNew || $status.get().status !== 'ready') await load()
      else await refresh()
    },

    /** Says that the list is being loaded, before it can be. */
    begin: () => $status.set({ status: 'loading' }),
    fail: (error: AppError) => $status.set({ status: 'failed', error }),

    /**
     * Shows a row as it will be, or not at all where `next` is undefined, while `save` runs. Shows it
     * as it was if `save` fails, and throws its error.
     */
    async change(id: string, next: Row | undefined, save: () => Promise<unknown>): Promise<void> {
      const mine = paging
      const before = $rows.get()
      const at = before.findIndex(row => row.id === id)
      const old = before[at]
      if (old) $rows.set(next ? before.with(at, next) : before.toSpliced(at, 1))
      try {
        await save()
      } catch (error) {
        if (old && mine === paging) $rows.set(restoreRow($rows.get(), old, at))
        throw error
      }
    }
  }
}

/** Joins a first page with the rows of later pages, which follow its last row. */
function joinRows<Row extends { id: string }>(
  page: readonly Row[],
  rows: readonly Row[],
  last: Row | undefined
): readonly Row[] {
  const ids = new Set(page.map(({ id }) => id))
  const after = rows.findIndex(({ id }) => id === last?.id)
  return [...page, ...rows.slice(after + 1).filter(({ id }) => !ids.has(id))]
}

function restoreRow<Row extends { id: string }>(rows: readonly Row[], old: Row, at: number) {
  const now = rows.findIndex(({ id }) => id === old.id)
  return now < 0 ? rows.toSpliced(at, 0, old) : rows.with(now, old)
}

function withoutStale<Status extends { stale?: AppError }>({ stale: _, ...rest }: Status) {
  return rest
}
