import type { ReactNode } from 'react'
import type { ListStatus } from '../../stores/lists/paged-list.ts'
import { AdminPageMissing } from '../kit/AdminPageMissing.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { DataTable, type DataTableProps } from './DataTable.tsx'
import { EmptyState, NoMatches } from './EmptyState.tsx'
import { SearchBox } from './FilterFields.tsx'
import { ListFrame } from './ListFrame.tsx'

interface Screen<Row> {
  list: { load: () => Promise<unknown>; loadMore: () => Promise<unknown> }
  rows: readonly Row[]
  status: ListStatus
  q: string
  sort: string
  found: string | undefined
  isNarrowed: boolean
  filterCount: number
  isMissing: boolean
  set: (changes: Record<string, string | undefined>) => void
  clear: () => void
}

interface ListScreenProps<Row> extends Omit<ListTableProps<Row>, 'empty'> {
  search: string
  create: { href: string; text: string }
  empty: { title: string; text: string }
  filters?: ReactNode
}

export function ListScreen<Row extends { id: string }>(props: ListScreenProps<Row>) {
  const { search, create, empty, filters, ...list } = props
  const { rows, q, isNarrowed, isMissing, set } = list.screen
  if (isMissing) return <AdminPageMissing />
  const link = (
    <a className="btn btn-primary" href={create.href}>
      {create.text}
    </a>
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <search
          className="flex min-w-0 max-w-2xl grow flex-wrap items-end gap-3"
          aria-label={list.label}
        >
          <SearchBox label={search} value={q} onSearch={next => set({ q: next })} />
          {filters}
        </search>
        {(rows.length > 0 || isNarrowed) && link}
      </div>
      <ListTable {...list} empty={<EmptyState {...empty}>{link}</EmptyState>} />
    </div>
  )
}

interface ListTableProps<Row>
  extends Omit<DataTableProps<Row>, 'rows' | 'sort' | 'onSort' | 'isBusy'> {
  screen: Screen<Row>
  loading: string
  /** Says that no row matches the filters. */
  noneFiltered?: string
  empty: ReactNode
  tools?: ReactNode
  /** `2 people` */
  foundText?: (count: number, hasMore: boolean) => string
}

export function ListTable<Row extends { id: string }>(props: ListTableProps<Row>) {
  const { screen, loading, noneFiltered = '', empty, tools, foundText, ...table } = props
  const { list, rows, status, sort, found, isNarrowed, filterCount, set, clear } = screen
  const { t } = useTranslation()
  const count = rows.length
  return (
    <ListFrame
      status={status}
      count={count}
      loading={loading}
      empty={
        isNarrowed ? (
          <NoMatches title={found ? t('lists.none', { query: found }) : noneFiltered}>
            <button type="button" className="btn btn-outline" onClick={clear}>
              {t(filterCount > 0 ? 'lists.filters.clearAll' : 'lists.clear')}
            </button>
          </NoMatches>
        ) : (
          empty
        )
      }
      onRetry={() => void list.load()}
      onMore={() => void list.loadMore()}
    >
      <div className="flex flex-wrap items-center justify-end gap-2 empty:hidden">
        {isNarrowed && status.status === 'ready' && (
          <p role="status" className="me-auto text-ink-soft text-sm">
            {foundText?.(count, status.hasMore) ??
              t(status.hasMore ? 'lists.foundMore' : 'lists.found', { count })}
          </p>
        )}
        {tools}
      </div>
      <DataTable
        {...table}
        rows={rows}
        sort={sort}
        onSort={next => set({ sort: next })}
        isBusy={status.status === 'loading'}
      />
    </ListFrame>
  )
}
