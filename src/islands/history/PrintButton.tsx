import { useStore } from '@nanostores/react'
import { useEffect, useEffectEvent, useState } from 'react'
import {
  $historyLoadStatus,
  $requests,
  loadRequestsToPrint
} from '../../stores/history/requests.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface PrintButtonProps {
  // the browser then prints the details alone
  isCovered: boolean
}

// phones print from a menu of the browser
export function PrintButton({ isCovered }: PrintButtonProps) {
  const { t } = useTranslation()
  const count = useStore($requests, { ssr: 'initial' }).length
  const status = useStore($historyLoadStatus, { ssr: 'initial' })
  const [isLoading, setLoading] = useState(false)
  const isReady = status.status === 'ready'
  const start = async () => {
    if (isLoading || !isReady) return
    setLoading(true)
    const isWanted = await loadRequestsToPrint()
    setLoading(false)
    // after a failure, the sheet says that older entries are missing
    if (isWanted) print()
  }
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event
    if (key.toLowerCase() !== 'p' || ctrlKey === metaKey || shiftKey || altKey || isCovered) return
    if (!isReady || !status.hasMore) return
    event.preventDefault()
    void start()
  })
  useEffect(() => {
    const follow = (event: KeyboardEvent) => onKey(event)
    addEventListener('keydown', follow)
    return () => removeEventListener('keydown', follow)
  }, [])
  return (
    <>
      <button
        type="button"
        className="btn btn-outline max-sm:hidden"
        aria-disabled={isLoading || !isReady}
        onClick={() => void start()}
      >
        {t('history.print.start')}
      </button>
      <span role="status" className="text-ink-soft text-sm tabular-nums empty:hidden">
        {isLoading && t('history.print.loading', { count })}
      </span>
    </>
  )
}
