import { useStore } from '@nanostores/react'
import { useCallback, useEffect, useMemo } from 'react'
import { $categories, loadCategories } from '../../stores/categories.ts'
import { hasAnyFilter } from '../../stores/history/request-filter.ts'
import {
  $historyLoadStatus,
  $requestFilter,
  $requests,
  findRequest,
  loadMoreRequests,
  loadRequests,
  reloadHistory,
  setRequestFilter
} from '../../stores/history/requests.ts'
import { $session } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { lazyComponent, useLazyComponent } from '../kit/LazyComponent.tsx'
import { useNow } from '../kit/time.ts'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { ListFrame } from '../lists/ListFrame.tsx'
import { useListAddress, withoutEmptyFilters } from '../lists/use-address.ts'
import { HistoryFilters } from './HistoryFilters.tsx'
import {
  formatHistoryQuery,
  type HistoryQuery,
  parseHistoryQuery,
  requestFilterOf
} from './history-query.ts'
import { LiveUpdateNote } from './LiveUpdateNote.tsx'

interface RequestHistoryProps {
  isDemo: boolean
}

export const RequestHistory = withTranslation(function RequestHistory({
  isDemo
}: RequestHistoryProps) {
  const { locale } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  const { address, change } = useListAddress(parseHistoryQuery, formatHistoryQuery)
  const categories = useStore($categories, { ssr: 'initial' })
  const known = categories.status === 'ready' ? categories.categories : noCategories
  const names = useMemo(
    () => new Map(known.map(({ id, names }) => [id, names[locale]])),
    [known, locale]
  )

  useEffect(() => {
    if (session.status !== 'in' || !address) return
    setRequestFilter(requestFilterOf(address))
    loadRequests()
  }, [session.status, address])

  useEffect(() => {
    if (session.status === 'in') void loadCategories()
  }, [session.status])

  return (
    <div className="flex flex-col gap-4">
      <HistoryFilters address={address ?? {}} categories={known} onChange={change} />
      <Results address={address ?? {}} names={names} onChange={change} />
      {address?.request && (
        <Details
          key={address.request}
          id={address.request}
          names={names}
          isDemo={isDemo}
          onClose={() => change(withoutEmptyFilters({ ...address, request: undefined }))}
        />
      )}
    </div>
  )
})

const noCategories: never[] = []

const EmptyHistory = lazyComponent(async () => (await import('./EmptyHistory.tsx')).EmptyHistory)

interface ResultsProps {
  address: HistoryQuery
  names: ReadonlyMap<string, string>
  onChange: (address: HistoryQuery) => void
}

function Results({ address, names, onChange }: ResultsProps) {
  const { t } = useTranslation()
  const requests = useStore($requests, { ssr: 'initial' })
  const status = useStore($historyLoadStatus, { ssr: 'initial' })
  const filter = useStore($requestFilter, { ssr: 'initial' })
  const isNarrowed = hasAnyFilter(filter)
  const now = useNow(30_000)
  // loads the code of the list and the requests at the same time
  const list = useLazyComponent(async () => (await import('./HistoryList.tsx')).HistoryList)
  const more = status.status === 'ready' ? status.more : 'idle'
  const hasMore = status.status === 'ready' && status.hasMore
  const onEnd = useCallback(() => {
    // after a failure only the person loads more, with a button
    if (hasMore && more === 'idle') void loadMoreRequests()
  }, [hasMore, more])

  if (requests.length > 0 && list.error) {
    return (
      <div data-state="error">
        <ErrorNote error={list.error} retry={list.retry} />
      </div>
    )
  }
  return (
    <ListFrame
      status={status}
      count={requests.length}
      isPending={!list.Component}
      loading={t('history.loading')}
      partial={t('history.partial')}
      saysStale
      empty={
        <EmptyHistory
          isFiltered={isNarrowed}
          query={address.q}
          onClear={() => onChange(withoutEmptyFilters({ request: address.request }))}
        />
      }
      onRetry={() => void reloadHistory()}
      onMore={() => void loadMoreRequests()}
    >
      <LiveUpdateNote now={now} />
      {isNarrowed && status.status === 'ready' && (
        <p role="status" className="text-ink-soft text-sm" data-found>
          {t(hasMore ? 'history.foundMore' : 'history.found', { count: requests.length })}
        </p>
      )}
      {list.Component && (
        <list.Component
          // another filter is another list, so React discards the rows of the old one
          key={JSON.stringify(filter)}
          requests={requests}
          categories={names}
          now={now ?? Date.now()}
          hasMore={hasMore || status.status !== 'ready'}
          isCovered={address.request !== undefined}
          hrefOf={id => formatHistoryQuery({ ...address, request: id })}
          onOpen={id => onChange({ ...address, request: id })}
          onEnd={onEnd}
        />
      )}
    </ListFrame>
  )
}

interface DetailsProps {
  id: string
  names: ReadonlyMap<string, string>
  isDemo: boolean
  onClose: () => void
}

function Details({ id, names, isDemo, onClose }: DetailsProps) {
  useStore($requests, { ssr: 'initial' })
  const drawer = useLazyComponent(async () => (await import('./HistoryDetails.tsx')).HistoryDetails)
  if (drawer.error) return <ErrorNote error={drawer.error} retry={drawer.retry} />
  return (
    drawer.Component && (
      <drawer.Component
        id={id}
        request={findRequest(id)}
        categories={names}
        isDemo={isDemo}
        onClose={onClose}
      />
    )
  )
}
