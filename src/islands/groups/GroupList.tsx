import { useStore } from '@nanostores/react'
import { useEffect, useMemo } from 'react'
import type { Group } from '../../contract/groups.ts'
import { pathOf } from '../../core/pages/page-table.ts'
import { formatByteLimit, formatBytes } from '../../core/text/format.ts'
import { type Locale, languageTag, localizedPath, type T } from '../../i18n/index.ts'
import { isMissingError } from '../../stores/companies.ts'
import { type GroupQuery, groupList, groupSorts } from '../../stores/group-list.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { NotHere } from '../kit/NotHere.tsx'
import { useWords, withWords } from '../kit/use-words.ts'
import { type Column, DataTable } from '../lists/DataTable.tsx'
import { EmptyState, NoMatches } from '../lists/EmptyState.tsx'
import { ListFrame } from '../lists/ListFrame.tsx'
import { SearchBox } from '../lists/SearchBox.tsx'
import { UsageBar } from '../lists/UsageBar.tsx'
import { useAddress } from '../lists/use-address.ts'

/** Lists the groups of a company, to be searched by name and sorted. */
export const GroupList = withWords(function GroupList() {
  const { locale, t } = useWords()
  const session = useStore($session, { ssr: 'initial' })
  const route = useStore($route, { ssr: 'initial' })
  const rows = useStore(groupList.$rows, { ssr: 'initial' })
  const status = useStore(groupList.$status, { ssr: 'initial' })
  const query = useStore(groupList.$query, { ssr: 'initial' })
  const { address, change } = useAddress(readQuery, writeQuery)
  const columns = useMemo(() => columnsOf(locale, t), [locale, t])
  const params: Record<string, string> = route?.params ?? {}
  const { company } = params

  useEffect(() => {
    if (session.status === 'in' && address && company !== undefined) {
      void groupList.open(company, address)
    }
  }, [session.status, address, company])

  if (status.status === 'failed' && isMissingError(status.error)) return <NotHere />
  const { q, sort } = address ?? {}
  const create = (
    <a
      className="btn btn-primary"
      href={localizedPath(locale, pathOf('createGroup', { company: company ?? '' }))}
    >
      {t('groups.new')}
    </a>
  )
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <search className="min-w-0 max-w-md grow" aria-label={t('admin.groups.list')}>
          <SearchBox
            label={t('admin.groups.search')}
            value={q ?? ''}
            onSearch={next => change(queryOf({ q: next, sort }))}
          />
        </search>
        {(rows.length > 0 || query.q) && create}
      </div>
      <ListFrame
        status={status}
        count={rows.length}
        loading={t('admin.groups.loading')}
        partial={t('lists.partial')}
        stale={t('lists.stale')}
        empty={
          query.q ? (
            <NoMatches title={t('lists.none', { query: query.q })}>
              <button
                type="button"
                className="btn btn-outline"
                onClick={() => change(queryOf({ sort }))}
              >
                {t('lists.clear')}
              </button>
            </NoMatches>
          ) : (
            <EmptyState title={t('admin.groups.empty.title')} text={t('admin.groups.empty.text')}>
              {create}
            </EmptyState>
          )
        }
        onRetry={() => void groupList.load()}
        onMore={() => void groupList.loadMore()}
      >
        {query.q && status.status === 'ready' && (
          <p role="status" className="text-ink-soft text-sm">
            {t(status.hasMore ? 'lists.foundMore' : 'lists.found', { count: rows.length })}
          </p>
        )}
        <DataTable
          label={t('admin.groups.list')}
          columns={columns}
          rows={rows}
          hrefOf={group =>
            localizedPath(locale, pathOf('group', { company: company ?? '', group: group.id }))
          }
          sort={sort ?? 'name'}
          onSort={next => change(queryOf({ q, sort: next }))}
          isBusy={status.status === 'loading'}
        />
      </ListFrame>
    </div>
  )
})

function columnsOf(locale: Locale, t: T): Column<Group>[] {
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const dates = new Intl.DateTimeFormat(languageTag(locale), { dateStyle: 'medium' })
  return [
    {
      id: 'name',
      label: t('admin.groups.name'),
      isSortable: true,
      cell: group => (
        <>
          {group.name}
          {group.is_default && (
            <span className="badge badge-outline ms-2">{t('admin.groups.default')}</span>
          )}
        </>
      )
    },
    {
      id: 'members',
      label: t('admin.groups.members'),
      cell: group => numbers.format(group.user_count)
    },
    {
      id: 'requests',
      label: t('admin.groups.requests'),
      cell: ({ usage, max_requests }) => (
        <UsageBar
          label={t('admin.groups.requests')}
          used={usage.requests_used}
          limit={max_requests}
          format={value => numbers.format(value)}
        />
      )
    },
    {
      id: 'storage',
      label: t('admin.groups.storage'),
      cell: ({ usage, max_storage }) => (
        <UsageBar
          label={t('admin.groups.storage')}
          used={usage.storage_used}
          limit={max_storage}
          format={value =>
            value === max_storage ? formatByteLimit(value, locale) : formatBytes(value, locale)
          }
        />
      )
    },
    {
      id: 'created',
      label: t('admin.groups.created'),
      isSortable: true,
      isSecondary: true,
      cell: group => dates.format(new Date(group.created))
    }
  ]
}

/** Reads `?q=sales&sort=-name`; ignores what `writeQuery` does not write. */
function readQuery(search: string): GroupQuery {
  const query = new URLSearchParams(search)
  const q = query.get('q') ?? ''
  return queryOf({ q: /^\P{Cc}{1,100}$/u.test(q) ? q : '', sort: query.get('sort') ?? '' })
}

function writeQuery(query: GroupQuery): string {
  const written = new URLSearchParams({ ...query })
  return written.size > 0 ? `?${written}` : ''
}

function queryOf({ q, sort }: { q?: string | undefined; sort?: string | undefined }): GroupQuery {
  const known = groupSorts.find(each => each === sort)
  return { ...(q ? { q } : {}), ...(known && known !== 'name' ? { sort: known } : {}) }
}
