import type { ReactNode } from 'react'
import type { ListStatus } from '../../stores/lists/paged-list.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useWaitPhase } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface ListFrameProps {
  status: ListStatus
  /** Number of loaded rows. */
  count: number
  /** Whether the code that draws the rows is still being loaded. */
  isPending?: boolean
  loading: string
  /** Replaces the standard text if further rows could not be loaded. */
  partial?: string
  empty: ReactNode
  /** Whether `children` themselves warn that the rows may be out of date. */
  saysStale?: boolean
  onRetry: () => void
  onMore: () => void
  children: ReactNode
}

// longer lists say at their end that no more rows follow
const manyRows = 50

/** A list with its states. `children` are the rows. */
export function ListFrame(props: ListFrameProps) {
  const { status, count, isPending = false, saysStale, onRetry, onMore, children } = props
  const { t } = useTranslation()
  const isLoading = status.status === 'idle' || status.status === 'loading'
  const isBlank = count === 0 ? isLoading : isPending
  const waiting = useWaitPhase(isBlank)
  const retry = (
    <button type="button" className="btn btn-outline btn-sm" onClick={onRetry}>
      {t('common.retry')}
    </button>
  )
  if (isBlank) {
    return (
      <div data-state="loading" className="sheet min-h-64">
        {waiting !== 'silent' && <Skeleton />}
        <p role="status" className="mt-4 flex items-center gap-4 text-ink-soft">
          {waiting === 'text' && props.loading}
          {waiting === 'slow' && t('lists.slow')}
          {waiting === 'slow' && retry}
        </p>
      </div>
    )
  }
  const failure = status.status === 'failed' && (
    <ErrorNote error={status.error}>
      <div>{retry}</div>
    </ErrorNote>
  )
  if (count === 0)
    return <div data-state={failure ? 'error' : 'empty'}>{failure || props.empty}</div>

  const { hasMore, more, stale } = status.status === 'ready' ? status : noPages
  const isStale = stale !== undefined && !saysStale
  const isPartial = typeof more === 'object' || failure || isStale
  return (
    <div data-state={isPartial ? 'partial' : 'ready'} className="flex flex-col gap-4">
      {isStale && (
        <ErrorNote error={stale}>
          <p>{t('lists.stale')}</p>
          <div>{retry}</div>
        </ErrorNote>
      )}
      {children}
      {failure}
      {typeof more === 'object' && (
        <ErrorNote error={more.error}>
          <p>{props.partial ?? t('lists.partial')}</p>
        </ErrorNote>
      )}
      {hasMore && (
        <button
          type="button"
          className="btn btn-outline self-center"
          aria-disabled={more === 'loading'}
          onClick={onMore}
        >
          {more === 'loading' && (
            <span className="loading loading-spinner loading-sm" aria-hidden="true" />
          )}
          {t('lists.more')}
        </button>
      )}
      {status.status === 'ready' && !hasMore && count > manyRows && (
        <p className="text-center text-ink-soft text-sm">{t('lists.end')}</p>
      )}
    </div>
  )
}

const noPages = { hasMore: false, more: 'idle', stale: undefined } as const

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
