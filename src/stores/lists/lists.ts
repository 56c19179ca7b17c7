import { personalAtom } from '../personal-atoms.ts'
import { $session, addSessionEndListener } from '../sessions.ts'
import { createPagedList, isSameQuery, type PageRequest } from './paged-list.ts'
import { emptySelection, type RowSelection } from './selection.ts'

/**
 * Creates the store of a list that is loaded page by page and keeps the order of the server. Rows
 * can be selected, and changes can be shown before they are saved. `load` returns a page of the
 * rows that belong to `owner`, such as a company. `open()` sets the owner.
 */
export function createListStore<Row extends { id: string }, Query extends object>(
  load: (query: Query, page: PageRequest, owner: string) => Promise<Row[]>
) {
  let rows: readonly Row[] = []
  /** Id of what the rows belong to, such as a company. */
  let owner: string | undefined
  const $selection = personalAtom<RowSelection>(emptySelection)

  const list = createPagedList<Row, Query>({
    load: (present, page) => load(present, page, owner ?? ''),
    source: {
      dropsLatePages: true,
      rowsFor: () => rows,
      add(page, place) {
        const ids = new Set(page.map(({ id }) => id))
        const others = rows.filter(({ id }) => !ids.has(id))
        if (place === 'start') show(page)
        else if (place === 'next') show([...others, ...page])
        else {
          // rows before the page's last row that are not in the page no longer exist
          const after = rows.slice(rows.findIndex(({ id }) => id === page.at(-1)?.id) + 1)
          show([...page, ...after.filter(({ id }) => !ids.has(id))])
        }
      },
      // the rows that are still shown match an earlier query
      onFailure: () => show([])
    }
  })

  addSessionEndListener(() => {
    rows = []
    owner = undefined
  })

  function show(next: readonly Row[]): void {
    rows = next
    list.show()
  }

  return {
    ...list,

    /** The selected rows. They stay selected while the person visits other pages. */
    $selection,

    /**
     * Shows the rows of an owner, such as a company, that match the query. Rows of another owner
     * disappear immediately. Rows of another query stay until the new rows are loaded.
     */
    async open(whose: string, present: Query): Promise<void> {
      if ($session.get().status === 'out') return
      const isOther = whose !== owner
      owner = whose
      if (isOther) {
        list.restart()
        show([])
      }
      // which rows are "all that match" depends on the search and the filters
      const isOtherSet = !isSameQuery(unsorted(list.$query.get()), unsorted(present))
      if (isOther || (isOtherSet && $selection.get().all !== undefined)) {
        $selection.set(emptySelection)
      }
      const isNew = list.setQuery(present)
      if (isOther || isNew || list.$status.get().status !== 'ready') await list.load()
      else await list.refresh()
    },

    /**
     * Replaces a row by `next`, or removes it if `next` is undefined. Then runs `save`. If `save`
     * fails, restores the row and rethrows the error.
     */
    async change(id: string, next: Row | undefined, save: () => Promise<unknown>): Promise<void> {
      const at = rows.findIndex(row => row.id === id)
      const old = rows[at]
      const whose = owner
      if (old) show(next ? rows.with(at, next) : rows.toSpliced(at, 1))
      try {
        await save()
      } catch (error) {
        if (old && whose === owner) show(withRow(rows, old, at))
        throw error
      }
    }
  }
}

/** Returns the query without its sort order, so that queries that match the same rows are equal. */
function unsorted(query: object): object {
  return { ...query, sort: undefined }
}

/** Replaces the row with the same id. If there is none, inserts `row` at the index `at`. */
function withRow<Row extends { id: string }>(rows: readonly Row[], row: Row, at: number) {
  const here = rows.findIndex(({ id }) => id === row.id)
  return here < 0 ? rows.toSpliced(at, 0, row) : rows.with(here, row)
}
