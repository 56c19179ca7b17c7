import { useStore } from '@nanostores/react'
import { type ReactNode, useEffect, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'
import { formatPercent } from '../../core/text/format.ts'
import { maxUnfinishedDeposits } from '../../stores/deposits/deposit-states.ts'
import type { DepositCategory } from '../../stores/deposits/deposits.ts'
import {
  $depositQueueSummary,
  $queuedDeposits,
  addFiles,
  addUnfinishedUpload,
  restoreUnfinishedUploads
} from '../../stores/deposits/deposits.ts'
import { $session } from '../../stores/sessions.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { DepositList, depositSummaryText } from './DepositList.tsx'

interface DepositQueueProps {
  files: readonly File[]
  category: DepositCategory | undefined
  onTaken: (rejected: FilesBeyondQueueLimit) => void
  onAnother: () => void
  children: ReactNode
}

export interface FilesBeyondQueueLimit {
  count: number
  limit: number
}

export function DepositQueue(props: DepositQueueProps) {
  const { files, category, onTaken, onAnother, children } = props
  const { t } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  const deposits = useStore($queuedDeposits, { ssr: 'initial' })

  const [lost, setLost] = useState<AppError>()

  useEffect(() => {
    if (session.status !== 'in') return
    const resumed = new URLSearchParams(location.search).get('resume')
    if (!resumed) return void restoreUnfinishedUploads()
    addUnfinishedUpload(resumed).catch((error: unknown) =>
      setLost(asAppError(error, 'An upload could not be resumed'))
    )
  }, [session.status])

  useEffect(() => {
    if (files.length === 0 || !category) return
    const count = files.length - addFiles(files, category)
    onTaken({ count, limit: maxUnfinishedDeposits })
  }, [files, category, onTaken])

  return (
    <div data-state={deposits.length === 0 ? 'empty' : 'ready'}>
      {lost && (
        <ErrorNote
          error={lost}
          text={lost.code === 'not_found' ? t('deposit.resumedLate') : undefined}
        />
      )}
      {deposits.length === 0 ? children : <DepositList deposits={deposits} onAnother={onAnother} />}
      <Announcements />
    </div>
  )
}

function Announcements() {
  const { locale, t } = useTranslation()
  const summary = useStore($depositQueueSummary, { ssr: 'initial' })
  const quarter = ([75, 50, 25] as const).find(each => summary.percent >= each)
  const running = summary.active > 0
  const percent = formatPercent(summary.percent / 100, locale)

  useEffect(() => {
    if (!running) return
    const { title } = document
    const shown = t('deposit.windowTitle', { percent, title })
    document.title = shown
    return () => {
      // after a navigation the title is that of another page
      if (document.title === shown) document.title = title
    }
  }, [running, percent, t])

  return (
    <p role="status" className="sr-only">
      {running && quarter && t(`deposit.announce.${quarter}`)}
      {!running && summary.total > 0 && depositSummaryText(summary, t, locale)}
    </p>
  )
}
