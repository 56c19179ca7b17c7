import { useStore } from '@nanostores/react'
import { useState } from 'react'
import type { AppError } from '../../contract/errors.ts'
import { formatPercent, timeLeft } from '../../core/format.ts'
import { type Locale, languageTag, type T } from '../../i18n/index.ts'
import type { QueuedDeposit } from '../../stores/deposit-acts.ts'
import type { DepositSummary } from '../../stores/deposit-states.ts'
import {
  $depositSummary,
  cancelAll,
  dismiss,
  pauseAll,
  resumeAll,
  retryAll
} from '../../stores/deposits.ts'
import { DepositRow, textOf } from './DepositRow.tsx'
import { ErrorNote } from './ErrorNote.tsx'
import { HandOver } from './HandOver.tsx'
import { keepFocus } from './keep-focus.ts'
import { Progress } from './Progress.tsx'

interface DepositListProps {
  t: T
  locale: Locale
  deposits: readonly QueuedDeposit[]
  onAnother: () => void
}

const shownAtOnce = 25

/** The queue with its total. It stays until it is dismissed, and then shows what failed first. */
export function DepositList({ t, locale, deposits, onAnother }: DepositListProps) {
  const summary = useStore($depositSummary, { ssr: 'initial' })
  const [shown, setShown] = useState(shownAtOnce)
  const hasEnded = summary.active + summary.paused + summary.missing === 0
  const limit = limitOf(deposits)
  const ordered = hasEnded && summary.failed > 0 ? failuresFirst(deposits) : deposits
  const hidden = deposits.length - shown

  return (
    <section className="sheet grid gap-4" aria-label={t('deposit.list')} tabIndex={-1}>
      <div className="grid gap-2">
        <h2 className="font-semibold text-lg tabular-nums">{sentence(summary, t, locale)}</h2>
        {!hasEnded && <Progress label={t('deposit.progressOfAll')} ratio={summary.percent / 100} />}
        <div className="flex flex-wrap gap-2">
          {summary.active > 0 && deposits.length > 1 && (
            <Action label={t('deposit.action.pauseAll')} onClick={pauseAll} />
          )}
          {summary.paused > 0 && deposits.length > 1 && (
            <Action label={t('deposit.action.resumeAll')} onClick={resumeAll} />
          )}
          {!hasEnded && deposits.length > 1 && (
            <Action label={t('deposit.action.cancelAll')} onClick={cancelAll} />
          )}
          {summary.retryable > 0 && (
            <Action
              label={t('deposit.action.retryFailed', { count: summary.retryable })}
              onClick={retryAll}
            />
          )}
          {hasEnded && <Action label={t('deposit.action.another')} onClick={onAnother} />}
          {hasEnded && <Action label={t('deposit.action.dismiss')} onClick={dismiss} />}
        </div>
      </div>
      {hasEnded && summary.done + summary.duplicate > 0 && <HandOver locale={locale} t={t} />}
      {limit && (
        <ErrorNote error={limit} t={t} locale={locale} text={textOf(limit, t, locale)}>
          <p>
            {t('deposit.limited')} {t('deposit.limitedAsk')}
          </p>
        </ErrorNote>
      )}
      <ul className="divide-y divide-base-300 border-base-300 border-t">
        {ordered.slice(0, shown).map(deposit => (
          <DepositRow key={deposit.id} t={t} locale={locale} deposit={deposit} />
        ))}
      </ul>
      {hidden > 0 && (
        <Action
          label={t('deposit.action.more', { count: Math.min(hidden, shownAtOnce) })}
          onClick={() => setShown(shown + shownAtOnce)}
        />
      )}
    </section>
  )
}

function Action({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" className="btn btn-sm" onClick={event => keepFocus(event, onClick)}>
      {label}
    </button>
  )
}

function failuresFirst(deposits: readonly QueuedDeposit[]): QueuedDeposit[] {
  const rank = ({ $state }: QueuedDeposit) => ($state.get().status === 'failed' ? 0 : 1)
  return deposits.toSorted((a, b) => rank(a) - rank(b))
}

/** One reason for all: they wait for the same room. */
function limitOf(deposits: readonly QueuedDeposit[]): AppError | undefined {
  for (const { $state } of deposits) {
    const state = $state.get()
    if (state.status === 'paused' && state.by === 'limit') return state.error
  }
  return undefined
}

export function sentence(summary: DepositSummary, t: T, locale: Locale): string {
  const { active, paused, missing, done, failed, cancelled, total, secondsLeft } = summary
  const ended = done + failed + cancelled + summary.duplicate
  const percent = formatPercent(summary.percent / 100, locale)
  if (active > 0 && secondsLeft !== undefined) {
    const { unit, value } = timeLeft(secondsLeft)
    const left = t(`deposit.left.${unit}`, { count: value })
    return t('deposit.summary.runningLeft', { ended, total, percent, left })
  }
  if (active > 0) return t('deposit.summary.running', { ended, total, percent })
  if (paused > 0) return t('deposit.summary.pausedAll', { ended, total, percent })
  const parts = [
    { name: 'missing', count: missing },
    { name: 'done', count: done },
    { name: 'duplicate', count: summary.duplicate },
    { name: 'failed', count: failed },
    { name: 'cancelled', count: cancelled }
  ]
  const said = parts
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => t(`deposit.summary.${name}`, { count }))
  return new Intl.ListFormat(languageTag(locale), { type: 'unit' }).format(said)
}
