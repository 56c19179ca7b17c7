import { useStore } from '@nanostores/react'
import { useEffect, useEffectEvent, useState } from 'react'
import {
  $historyLoadStatus,
  $requests,
  loadRequestsToPrint
} from '../../stores/history/requests.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface PrintButtonProps {
  /** Whether the details of an entry are open. The browser then prints them alone. */
  isCovered: boolean
}

/**
 * A button that prints the entries that match the filter. Loads the older ones first, also when the
 * person prints with the keyboard. Phones print from a menu of the browser, so they have no button.
 */
export function PrintButton({ isCovered }: PrintButtonProps) {
  const { t } = useTranslation()
  const count = useStore($requests, { ssr: 'initial' }).length
  const status = useStore($historyLoadStatus, { ssr: 'initial' })
  const [isLoading, setLoading] = useState(false)
  const start = async () => {
    if (isLoading) return
    setLoading(true)
    const isComplete = await loadRequestsToPrint()
    setLoading(false)
    // with another filter, or after a failure that the list says, the person decides again
    if (isComplete) print()
  }
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, shiftKey, altKey } = event
    if (key !== 'p' || ctrlKey === metaKey || shiftKey || altKey || isCovered) return
    if (status.status !== 'ready' || !status.hasMore) return
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
        aria-disabled={isLoading}
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
