import { useStore } from '@nanostores/react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { $categories, loadCategories } from '../../stores/categories.ts'
import { isFiltered } from '../../stores/history/request-filter.ts'
import {
  $filter,
  $historyStatus,
  $requests,
  findRequest,
  loadMoreRequests,
  loadRequests,
  retryRequests,
  setFilter
} from '../../stores/history/requests.ts'
import { $session } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useLazyPart } from '../kit/LazyPart.tsx'
import { useNow, useWaiting } from '../kit/time.ts'
import { useWords, withWords } from '../kit/use-words.ts'
import { EmptyHistory, NoMatchingRequests } from './EmptyHistory.tsx'
import { HistoryFilters } from './HistoryFilters.tsx'
import {
  filterOf,
  type HistoryUrl,
  readHistoryUrl,
  withoutEmpty,
  writeHistoryUrl
} from './history-url.ts'
import { StreamNote } from './StreamNote.tsx'

export const History = withWords(function History() {
  const { locale } = useWords()
  const session = useStore($session, { ssr: 'initial' })
  const { address, change } = useAddress()
  const categories = useStore($categories, { ssr: 'initial' })
  const known = categories.status === 'ready' ? categories.categories : noCategories
  const names = useMemo(
    () => new Map(known.map(({ id, names }) => [id, names[locale]])),
    [known, locale]
  )

  useEffect(() => {
    if (session.status !== 'in' || !address) return
    setFilter(filterOf(address))
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
          onClose={() => change(withoutEmpty({ ...address, request: undefined }))}
        />
      )}
    </div>
  )
})

const noCategories: never[] = []

interface ResultsProps {
  address: HistoryUrl
  names: ReadonlyMap<string, string>
  onChange: (address: HistoryUrl) => void
}

/** The list of requests that match the filters, or the reason why it is empty. */
function Results({ address, names, onChange }: ResultsProps) {
  const { t } = useWords()
  const requests = useStore($requests, { ssr: 'initial' })
  const status = useStore($historyStatus, { ssr: 'initial' })
  const filter = useStore($filter, { ssr: 'initial' })
  const now = useNow(30_000)
  // loads the code of the list and the requests at the same time
  const list = useLazyPart(async () => (await import('./HistoryList.tsx')).HistoryList)
  const isLoading = status.status === 'idle' || status.status === 'loading'
  const isBlank = requests.length === 0 ? isLoading : !list.Part
  const waiting = useWaiting(isBlank)
  const more = status.status === 'ready' ? status.more : 'idle'
  const hasMore = status.status === 'ready' && status.hasMore
  const onEnd = useCallback(() => {
    // after a failure only the person loads more, with a button
    if (hasMore && more === 'idle') void loadMoreRequests()
  }, [hasMore, more])

  const retry = (
    <button type="button" className="btn btn-outline btn-sm" onClick={() => void retryRequests()}>
      {t('history.retry')}
    </button>
  )
  if (requests.length > 0 && list.error) {
    return (
      <div data-state="error">
        <LoadFailure part={list} />
      </div>
    )
  }
  if (isBlank) {
    return (
      <div data-state="loading" className="sheet min-h-64">
        {waiting !== 'silent' && <Skeleton />}
        <p role="status" className="mt-4 flex items-center gap-4 text-ink-soft">
          {waiting === 'text' && t('history.loading')}
          {waiting === 'slow' && t('history.slow')}
          {waiting === 'slow' && retry}
        </p>
      </div>
    )
  }
  if (requests.length === 0 && status.status === 'failed') {
    return (
      <div data-state="error">
        <ErrorNote error={status.error}>
          <div>{retry}</div>
        </ErrorNote>
      </div>
    )
  }
  if (requests.length === 0) {
    if (!isFiltered(filter)) return <EmptyHistory />
    return (
      <NoMatchingRequests
        query={address.q}
        onClear={() => onChange(withoutEmpty({ request: address.request }))}
      />
    )
  }

  const isPartial = typeof more === 'object' || status.status === 'failed'
  return (
    <div data-state={isPartial ? 'partial' : 'ready'} className="flex flex-col gap-4">
      <StreamNote now={now} />
      {isFiltered(filter) && status.status === 'ready' && (
        <p role="status" className="text-ink-soft text-sm" data-found>
          {t(hasMore ? 'history.foundMore' : 'history.found', { count: requests.length })}
        </p>
      )}
      {list.Part && (
        <list.Part
          // another filter is another list, so React discards the rows of the old one
          key={JSON.stringify(filter)}
          requests={requests}
          categories={names}
          now={now ?? Date.now()}
          isCovered={address.request !== undefined}
          hrefOf={id => writeHistoryUrl({ ...address, request: id })}
          onOpen={id => onChange({ ...address, request: id })}
          onEnd={onEnd}
        />
      )}
      {status.status === 'failed' && (
        <ErrorNote error={status.error}>
          <div>{retry}</div>
        </ErrorNote>
      )}
      {typeof more === 'object' && (
        <ErrorNote error={more.error}>
          <p>{t('history.partial')}</p>
        </ErrorNote>
      )}
      {hasMore && (
        <button
          type="button"
          className="btn btn-outline self-center"
          aria-disabled={more === 'loading'}
          onClick={() => void loadMoreRequests()}
        >
          {more === 'loading' && (
            <span className="loading loading-spinner loading-sm" aria-hidden="true" />
          )}
          {t('history.more')}
        </button>
      )}
      {status.status === 'ready' && !hasMore && requests.length > 50 && (
        <p className="text-center text-ink-soft text-sm">{t('history.end')}</p>
      )}
    </div>
  )
}

/**
 * Returns the filters and the open request from the page's address, and a function that changes
 * them. People can bookmark and share the address.
 */
function useAddress() {
  const [address, setAddress] = useState<HistoryUrl>()
  useEffect(() => setAddress(readHistoryUrl(location.search)), [])
  const change = useCallback((next: HistoryUrl) => {
    setAddress(next)
    const { pathname, hash } = location
    // replaces the entry, so that Back opens the previous page and not every typed letter
    history.replaceState(history.state, '', `${pathname}${writeHistoryUrl(next)}${hash}`)
  }, [])
  return { address, change }
}

interface DetailsProps {
  id: string
  names: ReadonlyMap<string, string>
  onClose: () => void
}

/** The details of a request. Their code is loaded when the first request is opened. */
function Details({ id, names, onClose }: DetailsProps) {
  useStore($requests, { ssr: 'initial' })
  const drawer = useLazyPart(async () => (await import('./HistoryDetails.tsx')).HistoryDetails)
  if (drawer.error) return <LoadFailure part={drawer} />
  return (
    drawer.Part && (
      <drawer.Part id={id} request={findRequest(id)} categories={names} onClose={onClose} />
    )
  )
}

interface LoadFailureProps {
  part: Pick<ReturnType<typeof useLazyPart>, 'error' | 'retry'>
}

function LoadFailure({ part }: LoadFailureProps) {
  const { t } = useWords()
  if (!part.error) return null
  return (
    <ErrorNote error={part.error}>
      <div>
        <button type="button" className="btn btn-outline btn-sm" onClick={() => void part.retry()}>
          {t('history.retry')}
        </button>
      </div>
    </ErrorNote>
  )
}

function Skeleton() {
  return (
    <div aria-hidden="true" className="flex flex-col gap-6">
      {['first', 'second', 'third'].map(name => (
        <div key={name} className="flex items-center gap-4">
          <div className="skeleton size-8 rounded-full" />
          <div className="skeleton h-4 grow" />
        </div>
      ))}
    </div>
  )
}
