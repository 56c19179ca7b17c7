import { useStore } from '@nanostores/react'
import { type ReactNode, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'
import { formatPercent } from '../../core/text/format.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { maxQueued } from '../../stores/deposits/deposit-states.ts'
import type { DepositCategory } from '../../stores/deposits/deposits.ts'
import {
  $depositSummary,
  $deposits,
  addFiles,
  restoreDeposits,
  resumeUpload
} from '../../stores/deposits/deposits.ts'
import { $session } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { DepositList, sentence } from './DepositList.tsx'

export interface DepositQueueProps {
  t: T
  locale: Locale
  /** Chosen files that wait for the queue and for their category. */
  files: readonly File[]
  category: DepositCategory | undefined
  /** The files are in the queue, all but those that found no place. */
  onTaken: (turnedAway: TurnedAway) => void
  onAnother: () => void
  /** Stands where nothing is deposited yet. */
  children: ReactNode
}

export interface TurnedAway {
  count: number
  limit: number
}

/** What happens to files once they are chosen: the queue and its list. */
export function DepositQueue(props: DepositQueueProps) {
  const { t, locale, files, category, onTaken, onAnother, children } = props
  const session = useStore($session, { ssr: 'initial' })
  const deposits = useStore($deposits, { ssr: 'initial' })

  const [lost, setLost] = useState<AppError>()

  useEffect(() => {
    if (session.status !== 'in') return
    const resumed = new URLSearchParams(location.search).get('resume')
    if (!resumed) return void restoreDeposits()
    resumeUpload(resumed).catch((error: unknown) =>
      setLost(asAppError(error, 'An upload could not be resumed'))
    )
  }, [session.status])

  useEffect(() => {
    if (files.length === 0 || !category) return
    onTaken({ count: addFiles(files, category), limit: maxQueued })
  }, [files, category, onTaken])

  return (
    <div data-state={deposits.length === 0 ? 'empty' : 'ready'}>
      {lost && (
        <ErrorNote
          error={lost}
          t={t}
          locale={locale}
          text={lost.code === 'not_found' ? t('deposit.resumedLate') : undefined}
        />
      )}
      {deposits.length === 0 ? (
        children
      ) : (
        <DepositList t={t} locale={locale} deposits={deposits} onAnother={onAnother} />
      )}
      <Announcements t={t} locale={locale} />
    </div>
  )
}

/** Speaks at each quarter and at the end, and shows the percentage where the window's title is seen. */
function Announcements({ t, locale }: { t: T; locale: Locale }) {
  const summary = useStore($depositSummary, { ssr: 'initial' })
  const quarter = Math.floor(summary.percent / 25) * 25
  const running = summary.active > 0
  const percent = formatPercent(summary.percent / 100, locale)

  useEffect(() => {
    if (!running) return
    const { title } = document
    const shown = t('deposit.windowTitle', { percent, title })
    document.title = shown
    return () => {
      // after a navigation the title is another page's
      if (document.title === shown) document.title = title
    }
  }, [running, percent, t])

  return (
    <p role="status" className="sr-only">
      {running && quarter > 0 && t(`deposit.announce.${quarter}`)}
      {!running && summary.total > 0 && sentence(summary, t, locale)}
    </p>
  )
}
