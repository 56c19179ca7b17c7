import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import type { ProcessedRequest } from '../contract/requests.ts'
import { type Locale, languageTag, localizedPath, translator, type Words } from '../i18n/index.ts'
import type { StreamState } from '../stores/event-stream.ts'
import {
  $historyStatus,
  $requests,
  $streamState,
  loadMoreRequests,
  loadRequests,
  newestFirst,
  retryRequests
} from '../stores/requests.ts'
import { $session } from '../stores/sessions.ts'
import { $user, can } from '../stores/users.ts'
import { EmptyState } from './parts/EmptyState.tsx'
import { ErrorNote } from './parts/ErrorNote.tsx'
import { RequestRow, type RowProps } from './parts/RequestRow.tsx'
import { useNow, useWaiting } from './parts/time.ts'

interface HistoryProps {
  locale: Locale
  /** Namespaces `history`, `errors` and `common`. */
  words: Words
}

/** Rows may not move from under a person who reads below this many pixels. */
const scrolledPx = 64

export function History({ locale, words }: HistoryProps) {
  const t = translator(locale, words)
  const session = useStore($session, { ssr: 'initial' })
  const requests = useStore($requests, { ssr: 'initial' })
  const status = useStore($historyStatus, { ssr: 'initial' })
  const stream = useStore($streamState, { ssr: 'initial' })
  const now = useNow(30_000)
  const isCut = stream === 'offline' || stream === 'unreachable'
  const asOf = useLastTime(!isCut, now)
  const isLoading = status.status === 'idle' || status.status === 'loading'
  const waiting = useWaiting(isLoading)

  useEffect(() => {
    if (session.status === 'in') loadRequests()
  }, [session.status])

  const retry = (
    <button type="button" className="btn btn-outline btn-sm" onClick={() => void retryRequests()}>
      {t('history.retry')}
    </button>
  )
  if (isLoading && requests.length === 0) {
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
  if (status.status === 'failed' && requests.length === 0) {
    return (
      <div data-state="error">
        <ErrorNote error={status.error} locale={locale} t={t}>
          <div>{retry}</div>
        </ErrorNote>
      </div>
    )
  }
  if (requests.length === 0) return <Empty locale={locale} words={words} />

  const more = status.status === 'ready' ? status.more : 'idle'
  const row = { locale, t, now: now ?? Date.now() }
  return (
    <div
      data-state={typeof more === 'object' ? 'partial' : 'ready'}
      className="flex flex-col gap-4"
    >
      <StreamNote stream={stream} text={streamText(stream)} />
      <Rows requests={requests} row={row} />
      {typeof more === 'object' && (
        <ErrorNote error={more.error} locale={locale} t={t}>
          <p>{t('history.partial')}</p>
        </ErrorNote>
      )}
      {status.status === 'ready' && status.hasMore && (
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
      {status.status === 'ready' && !status.hasMore && requests.length > 50 && (
        <p className="text-center text-ink-soft text-sm">{t('history.end')}</p>
      )}
    </div>
  )

  function streamText(state: StreamState): string {
    if (!isCut) return t(`history.${state}`)
    const time = new Date(asOf ?? Date.now())
    const shown = { hour: 'numeric', minute: '2-digit' } as const
    return t(`history.${state}`, { time: time.toLocaleTimeString(languageTag(locale), shown) })
  }
}

/** The dot is drawn, the state is said. */
function StreamNote({ stream, text }: { stream: StreamState; text: string }) {
  return (
    <p role="status" data-stream={stream} className="flex items-center gap-2 text-ink-soft text-sm">
      <svg viewBox="0 0 8 8" aria-hidden="true" className="size-2 shrink-0 text-secondary">
        <circle
          cx="4"
          cy="4"
          r="3"
          fill={stream === 'live' ? 'currentColor' : 'none'}
          stroke="currentColor"
        />
      </svg>
      {text}
    </p>
  )
}

/**
 * New rows wait behind a pill while the person is scrolled down, points at the list or is inside it;
 * known rows change in place.
 */
function Rows({
  requests,
  row
}: {
  requests: readonly ProcessedRequest[]
  row: Omit<RowProps, 'request'>
}) {
  const { t } = row
  const isScrolled = useScrolled()
  const [isHovered, setHovered] = useState(false)
  const [isFocused, setFocused] = useState(false)
  const isHeld = isScrolled || isHovered || isFocused
  const [top, setTop] = useState(requests[0])
  if (!isHeld && top !== requests[0]) setTop(requests[0])

  const held = top
  const waiting = held ? requests.filter(request => newestFirst(request, held) < 0).length : 0
  const announced = useSlowly(waiting, 5000)
  const shown = requests.slice(waiting)
  const root = useRef<HTMLDivElement>(null)
  const reveal = () => {
    setTop(requests[0])
    window.scrollTo({ top: 0 })
    // beside the list, not in it: a focus inside holds new rows back
    root.current?.focus({ preventScroll: true })
  }
  return (
    <div ref={root} className="relative" tabIndex={-1}>
      {waiting > 0 && (
        <div className="pointer-events-none sticky top-20 z-10 flex h-0 justify-center">
          <button
            type="button"
            className="btn btn-secondary btn-sm pointer-events-auto -translate-y-1/2"
            onClick={reveal}
          >
            {t('history.new', { count: waiting })}
          </button>
        </div>
      )}
      <p role="status" className="sr-only">
        {announced > 0 ? t('history.new', { count: announced }) : ''}
      </p>
      <ul
        className="sheet divide-y divide-base-300 py-2"
        aria-label={t('history.list')}
        onPointerEnter={event => setHovered(event.pointerType === 'mouse')}
        onPointerLeave={() => setHovered(false)}
        onFocus={() => setFocused(true)}
        onBlur={({ currentTarget, relatedTarget }) => {
          setFocused(currentTarget.contains(relatedTarget))
        }}
      >
        {shown.map(request => (
          <RequestRow key={request.id} request={request} {...row} />
        ))}
      </ul>
    </div>
  )
}

function Empty({ locale, words }: HistoryProps) {
  const t = translator(locale, words)
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

function useScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const look = () => setScrolled(window.scrollY > scrolledPx)
    look()
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  return isScrolled
}

/** A number that changes at most once per `ms`, for what is read aloud. */
function useSlowly(value: number, ms: number): number {
  const [slow, setSlow] = useState(value)
  useEffect(() => {
    if (slow === value) return
    const timer = setTimeout(() => setSlow(value), slow === 0 ? 0 : ms)
    return () => clearTimeout(timer)
  }, [value, slow, ms])
  return slow
}
