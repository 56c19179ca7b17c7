import { useStore } from '@nanostores/react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import {
  type Locale,
  languageTag,
  localizedPath,
  type T,
  translator,
  type Words
} from '../../i18n/index.ts'
import { $categories, loadCategories } from '../../stores/categories.ts'
import { isFiltered } from '../../stores/history/request-filter.ts'
import {
  $filter,
  $historyStatus,
  $requests,
  $streamState,
  findRequest,
  loadMoreRequests,
  loadRequests,
  retryRequests,
  type StreamState,
  setFilter
} from '../../stores/history/requests.ts'
import { $session } from '../../stores/sessions.ts'
import { $user, can } from '../../stores/users.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useNow, useWaiting } from '../kit/time.ts'
import { useLazyPart } from '../kit/use-lazy-part.ts'
import { EmptyState } from './EmptyState.tsx'
import { HistoryFilters } from './HistoryFilters.tsx'
import {
  filterOf,
  type HistoryUrl,
  readHistoryUrl,
  withoutEmpty,
  writeHistoryUrl
} from './history-url.ts'
import { useOnline } from './use-online.ts'

interface HistoryProps {
  locale: Locale
  /** Namespaces `history`, `errors` and `common`. */
  words: Words
}

export function History({ locale, words }: HistoryProps) {
  const t = translator(locale, words)
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
      <HistoryFilters
        address={address ?? {}}
        categories={known}
        locale={locale}
        t={t}
        onChange={change}
      />
      <Found address={address ?? {}} names={names} locale={locale} t={t} onChange={change} />
      {address?.request && (
        <Details
          key={address.request}
          id={address.request}
          names={names}
          locale={locale}
          t={t}
          onClose={() => change(withoutEmpty({ ...address, request: undefined }))}
        />
      )}
    </div>
  )
}

const noCategories: never[] = []

interface FoundProps {
  address: HistoryUrl
  names: ReadonlyMap<string, string>
  locale: Locale
  t: T
  onChange: (address: HistoryUrl) => void
}

/** What the filters leave, or why there is nothing. */
function Found({ address, names, locale, t, onChange }: FoundProps) {
  const requests = useStore($requests, { ssr: 'initial' })
  const status = useStore($historyStatus, { ssr: 'initial' })
  const filter = useStore($filter, { ssr: 'initial' })
  const now = useNow(30_000)
  // while the rows are fetched, so is what draws them
  const list = useLazyPart(async () => (await import('./HistoryList.tsx')).HistoryList)
  const isLoading = status.status === 'idle' || status.status === 'loading'
  const isBlank = requests.length === 0 ? isLoading : !list.Part
  const waiting = useWaiting(isBlank)
  const more = status.status === 'ready' ? status.more : 'idle'
  const hasMore = status.status === 'ready' && status.hasMore
  const onEnd = useCallback(() => {
    // after a failure the person decides
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
        <Lost part={list} locale={locale} t={t} />
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
        <ErrorNote error={status.error} locale={locale} t={t}>
          <div>{retry}</div>
        </ErrorNote>
      </div>
    )
  }
  if (requests.length === 0) {
    if (!isFiltered(filter)) return <Empty locale={locale} t={t} />
    return <NoMatch address={address} t={t} onChange={onChange} />
  }

  const isPartial = typeof more === 'object' || status.status === 'failed'
  return (
    <div data-state={isPartial ? 'partial' : 'ready'} className="flex flex-col gap-4">
      <StreamNote now={now} locale={locale} t={t} />
      {isFiltered(filter) && status.status === 'ready' && (
        <p role="status" className="text-ink-soft text-sm" data-found>
          {t(hasMore ? 'history.foundMore' : 'history.found', { count: requests.length })}
        </p>
      )}
      {list.Part && (
        <list.Part
          // another filter is another list: nothing of the old one is held in place
          key={JSON.stringify(filter)}
          requests={requests}
          categories={names}
          locale={locale}
          t={t}
          now={now ?? Date.now()}
          isCovered={address.request !== undefined}
          hrefOf={id => writeHistoryUrl({ ...address, request: id })}
          onOpen={id => onChange({ ...address, request: id })}
          onEnd={onEnd}
        />
      )}
      {status.status === 'failed' && (
        <ErrorNote error={status.error} locale={locale} t={t}>
          <div>{retry}</div>
        </ErrorNote>
      )}
      {typeof more === 'object' && (
        <ErrorNote error={more.error} locale={locale} t={t}>
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

/** Filters and open details live in the page's address, so that it can be kept and passed on. */
function useAddress() {
  const [address, setAddress] = useState<HistoryUrl>()
  useEffect(() => setAddress(readHistoryUrl(location.search)), [])
  const change = useCallback((next: HistoryUrl) => {
    setAddress(next)
    const { pathname, hash } = location
    // in place: Back leads to the page before, not through every letter that was typed
    history.replaceState(history.state, '', `${pathname}${writeHistoryUrl(next)}${hash}`)
  }, [])
  return { address, change }
}

interface DetailsProps {
  id: string
  names: ReadonlyMap<string, string>
  locale: Locale
  t: T
  onClose: () => void
}

/** Loaded with the first request that is opened. */
function Details({ id, names, locale, t, onClose }: DetailsProps) {
  useStore($requests, { ssr: 'initial' })
  const drawer = useLazyPart(async () => (await import('./HistoryDetails.tsx')).HistoryDetails)
  if (drawer.error) return <Lost part={drawer} locale={locale} t={t} />
  return (
    drawer.Part && (
      <drawer.Part
        id={id}
        request={findRequest(id)}
        categories={names}
        locale={locale}
        t={t}
        onClose={onClose}
      />
    )
  )
}

interface LostProps {
  part: Pick<ReturnType<typeof useLazyPart>, 'error' | 'retry'>
  locale: Locale
  t: T
}

function Lost({ part, locale, t }: LostProps) {
  if (!part.error) return null
  return (
    <ErrorNote error={part.error} locale={locale} t={t}>
      <div>
        <button type="button" className="btn btn-outline btn-sm" onClick={() => void part.retry()}>
          {t('history.retry')}
        </button>
      </div>
    </ErrorNote>
  )
}

/** The dot is drawn, the state is said; of a device without a network the page's banner says it. */
function StreamNote({ now, locale, t }: { now: number | undefined; locale: Locale; t: T }) {
  const stream = useStore($streamState, { ssr: 'initial' })
  const isCut = stream === 'offline' || stream === 'unreachable'
  const asOf = useLastTime(!isCut, now)
  const isOnline = useOnline()
  return (
    <p
      role="status"
      data-stream={stream}
      className={`flex items-center gap-2 text-ink-soft text-sm print:hidden ${isOnline ? '' : 'invisible'}`}
    >
      <svg viewBox="0 0 8 8" aria-hidden="true" className="size-2 shrink-0 text-secondary">
        <circle
          cx="4"
          cy="4"
          r="3"
          fill={stream === 'live' ? 'currentColor' : 'none'}
          stroke="currentColor"
        />
      </svg>
      {textOf(stream)}
    </p>
  )

  function textOf(state: StreamState): string {
    if (!isCut) return t(`history.${state}`)
    const time = new Date(asOf ?? Date.now())
    const shown = { hour: 'numeric', minute: '2-digit' } as const
    return t('history.unreachable', { time: time.toLocaleTimeString(languageTag(locale), shown) })
  }
}

function NoMatch({ address, t, onChange }: Pick<FoundProps, 'address' | 't' | 'onChange'>) {
  const { q } = address
  return (
    <div data-state="empty">
      <p role="status" className="sr-only">
        {t('history.none.title')}
      </p>
      <EmptyState
        title={q ? t('history.none.query', { query: q }) : t('history.none.title')}
        text={t('history.none.text')}
      >
        <button
          type="button"
          className="btn btn-outline"
          onClick={() => onChange(withoutEmpty({ request: address.request }))}
        >
          {t('history.filters.clear')}
        </button>
      </EmptyState>
    </div>
  )
}

function Empty({ locale, t }: { locale: Locale; t: T }) {
  const user = useStore($user, { ssr: 'initial' })
  const mayDeposit = user !== undefined && can('deposit')
  const verify = mayDeposit ? 'link link-secondary' : 'btn btn-primary'
  return (
    <div data-state="empty">
      <EmptyState title={t('history.empty.title')} text={t('history.empty.text')}>
        {mayDeposit && (
          <a className="btn btn-primary" href={localizedPath(locale, '/deposit')}>
            {t('history.empty.deposit')}
          </a>
        )}
        <a className={verify} href={localizedPath(locale, '/verify')}>
          {t('history.empty.verify')}
        </a>
      </EmptyState>
    </div>
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

/** When something last held. */
function useLastTime(holds: boolean, now: number | undefined): number | undefined {
  const [time, setTime] = useState(now)
  useEffect(() => {
    if (holds) setTime(now)
  }, [holds, now])
  return time
}
