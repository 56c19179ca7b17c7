import { useStore } from '@nanostores/react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { $streamConnectionState } from '../../stores/history/requests.ts'
import { formatTimeOfDay } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'

// hidden while the device is offline, because a banner says so
export function LiveUpdateNote({ now }: { now: number | undefined }) {
  const { locale, t } = useTranslation()
  const stream = useStore($streamConnectionState, { ssr: 'initial' })
  const isCut = stream === 'offline' || stream === 'unreachable'
  const asOf = useLastTime(!isCut, now)
  const isOnline = useOnline()
  const text = isCut
    ? t('history.unreachable', { time: formatTimeOfDay(new Date(asOf ?? Date.now()), locale) })
    : t(`history.${stream}`)
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
      {text}
    </p>
  )
}

function useLastTime(holds: boolean, now: number | undefined): number | undefined {
  const [time, setTime] = useState(now)
  useEffect(() => {
    if (holds) setTime(now)
  }, [holds, now])
  return time
}

function useOnline(): boolean {
  return useSyncExternalStore(
    listenOnline,
    () => navigator.onLine,
    () => true
  )
}

function listenOnline(tell: () => void): () => void {
  addEventListener('online', tell)
  addEventListener('offline', tell)
  return () => {
    removeEventListener('online', tell)
    removeEventListener('offline', tell)
  }
}
