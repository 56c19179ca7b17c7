import { useStore } from '@nanostores/react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { formatPercent, roundTimeLeft } from '../../core/text/format.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'
import { $categories, type CategoriesState } from '../../stores/categories.ts'
import {
  canBePaused,
  countUnfinished,
  type DepositQueueSummary,
  listRankOf
} from '../../stores/deposits/deposit-states.ts'
import type { QueuedDeposit } from '../../stores/deposits/deposits.ts'
import {
  $depositQueueSummary,
  cancelAll,
  choosePictureVersionForAll,
  pauseAll,
  removeEnded,
  resumeAll,
  resumeDeposit,
  retryAll
} from '../../stores/deposits/deposits.ts'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { runKeepingFocus } from '../kit/keep-focus.ts'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { VerificationPageAddress } from '../kit/VerificationPageAddress.tsx'
import { DepositRow } from './DepositRow.tsx'
import { DepositStamp, lastRecorded } from './DepositStamp.tsx'
import { depositErrorText } from './deposit-labels.ts'

interface DepositListProps {
  deposits: readonly QueuedDeposit[]
  onAnother: () => void
}

const shownAtOnce = 25

export function DepositList({ deposits, onAnother }: DepositListProps) {
  const { locale, t } = useTranslation()
  const summary = useStore($depositQueueSummary, { ssr: 'initial' })
  const categories = useStore($categories, { ssr: 'initial' })
  const [shown, setShown] = useState(shownAtOnce)
  const [held, setHeld] = useState<string[]>()
  const list = useRef<HTMLElement>(null)
  const open = countUnfinished(summary)
  // while the person is asked, only deposits that are being recorded still run
  const cancellable = open - summary.active
  const hasEnded = open === 0
  const limit = limitOf(deposits)
  const stamp = hasEnded ? lastRecorded(deposits) : undefined
  const ordered = deposits.toSorted(
    (a, b) => listRankOf(a.$state.get()) - listRankOf(b.$state.get())
  )
  const hidden = deposits.length - shown

  return (
    <section ref={list} className="sheet grid gap-4" aria-label={t('deposit.list')} tabIndex={-1}>
      <div className="grid gap-2">
        {stamp && <DepositStamp request={stamp} count={summary.done} />}
        {(!stamp || summary.done < summary.total) && (
          <h2 className="font-semibold text-lg tabular-nums">
            {depositSummaryText(summary, t, locale)}
          </h2>
        )}
        {!hasEnded && (
          <ProgressBar label={t('deposit.progressOfAll')} ratio={summary.percent / 100} />
        )}
        <div className="flex flex-wrap gap-2">
          {summary.active > 0 && deposits.length > 1 && (
            <Action label={t('deposit.action.pauseAll')} onClick={pauseAll} />
          )}
          {summary.paused > 0 && deposits.length > 1 && (
            <Action label={t('deposit.action.resumeAll')} onClick={resumeAll} />
          )}
          {!hasEnded && deposits.length > 1 && (
            <button
              type="button"
              className="btn btn-sm"
              onClick={() => {
                const running = deposits.filter(({ $state }) => canBePaused($state.get()))
                pauseAll()
                setHeld(running.map(({ id }) => id))
              }}
            >
              {t('deposit.action.cancelAll')}
            </button>
          )}
          {summary.choosing > 1 &&
            (['reduced', 'original'] as const).map(choice => (
              <Action
                key={choice}
                label={t(`deposit.action.${choice === 'reduced' ? 'allReduced' : 'allOriginals'}`, {
                  count: summary.choosing
                })}
                onClick={() => choosePictureVersionForAll(choice)}
              />
            ))}
          {summary.retryable > 0 && (
            <Action
              label={t('deposit.action.retryFailed', { count: summary.retryable })}
              onClick={retryAll}
            />
          )}
          {hasEnded && <Action label={t('deposit.action.another')} onClick={onAnother} />}
          {hasEnded && <Action label={t('deposit.action.dismiss')} onClick={removeEnded} />}
        </div>
      </div>
      {hasEnded && summary.done + summary.duplicate > 0 && (
        <VerificationPageAddress visibilities={visibilitiesOf(deposits, categories)} />
      )}
      {limit && (
        <ErrorNote error={limit} text={depositErrorText(limit, t, locale)}>
          <p>
            {t('deposit.limited')} {t('deposit.limitedAsk')}
          </p>
        </ErrorNote>
      )}
      <ul className="divide-y divide-base-300 border-base-300 border-t">
        {ordered.slice(0, shown).map(deposit => (
          <DepositRow key={deposit.id} deposit={deposit} />
        ))}
      </ul>
      {hidden > 0 && (
        <More
          key={shown}
          label={t('deposit.action.more', { count: Math.min(hidden, shownAtOnce) })}
          onMore={() => setShown(shown + shownAtOnce)}
        />
      )}
      {held && cancellable > 0 && (
        <ConfirmDialog
          question={t('deposit.cancelAll.question', { count: cancellable })}
          yes={t('deposit.cancelAll.yes')}
          no={t('deposit.cancelAll.no')}
          onClose={() => setHeld(undefined)}
          onNo={() => held.forEach(resumeDeposit)}
          onYes={() => {
            cancelAll()
            // the button that opened the dialog is removed with the uploads
            list.current?.focus()
          }}
        />
      )}
    </section>
  )
}

function Action({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" className="btn btn-sm" onClick={event => runKeepingFocus(event, onClick)}>
      {label}
    </button>
  )
}

function More({ label, onMore }: { label: string; onMore: () => void }) {
  const place = useRef<HTMLDivElement>(null)
  const more = useEffectEvent(onMore)

  useEffect(() => {
    const watched = place.current
    if (!watched) return
    const watching = new IntersectionObserver(
      entries => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) more()
      },
      { rootMargin: '300px' }
    )
    watching.observe(watched)
    return () => watching.disconnect()
  }, [])

  return (
    <div ref={place}>
      <Action label={label} onClick={onMore} />
    </div>
  )
}

function limitOf(deposits: readonly QueuedDeposit[]): AppError | undefined {
  for (const { $state } of deposits) {
    const state = $state.get()
    if (state.status === 'paused' && state.by === 'limit') return state.error
  }
  return undefined
}

export function depositSummaryText(
  summary: DepositQueueSummary,
  t: Translate,
  locale: Locale
): string {
  const { active, paused, choosing, missing, done, failed, cancelled, secondsLeft } = summary
  const { ended, total } = summary.batch
  const percent = formatPercent(summary.percent / 100, locale)
  if (active > 0 && secondsLeft !== undefined) {
    const { unit, value } = roundTimeLeft(secondsLeft)
    const left = t(`deposit.left.${unit}`, { count: value })
    return t('deposit.summary.runningLeft', { ended, total, percent, left })
  }
  if (active > 0) return t('deposit.summary.running', { ended, total, percent })
  if (paused > 0) return t('deposit.summary.pausedAll', { ended, total, percent })
  const parts = [
    { name: 'choosing', count: choosing },
    { name: 'missing', count: missing },
    { name: done > 0 && summary.sealed === done ? 'sealed' : 'done', count: done },
    { name: 'duplicate', count: summary.duplicate },
    { name: 'failed', count: failed },
    { name: 'cancelled', count: cancelled }
  ] as const
  const said = parts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => t(`deposit.summary.${name}`, { count }))
  return new Intl.ListFormat(languageTag(locale), { type: 'unit' }).format(said)
}

function visibilitiesOf(deposits: readonly QueuedDeposit[], categories: CategoriesState) {
  const known = categories.status === 'ready' ? categories.categories : []
  return deposits.flatMap(({ $state }) => {
    const state = $state.get()
    if (state.status !== 'done' && state.status !== 'duplicate') return []
    return [known.find(({ id }) => id === state.request.category_id)?.visibility]
  })
}
