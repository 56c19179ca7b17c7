import { useStore } from '@nanostores/react'
import type { ReactNode } from 'react'
import { localizedPath } from '../../i18n/index.ts'
import { $user, can } from '../../stores/users.ts'
import { useWords } from '../kit/use-words.ts'

interface NoMatchingRequestsProps {
  /** What was searched for, if anything. */
  query: string | undefined
  onClear: () => void
}

/** The history where nothing matches the filters. */
export function NoMatchingRequests({ query, onClear }: NoMatchingRequestsProps) {
  const { t } = useWords()
  return (
    <div data-state="empty">
      <p role="status" className="sr-only">
        {t('history.none.title')}
      </p>
      <EmptyState
        title={query ? t('history.none.query', { query }) : t('history.none.title')}
        text={t('history.none.text')}
      >
        <button type="button" className="btn btn-outline" onClick={onClear}>
          {t('history.filters.clear')}
        </button>
      </EmptyState>
    </div>
  )
}

/** The history of somebody who has deposited and checked nothing yet. */
export function EmptyHistory() {
  const { locale, t } = useWords()
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

interface EmptyStateProps {
  /** Says what will be here. */
  title: string
  /** Says why that is useful. */
  text: string
  /** One button, at most one link beside it. */
  children: ReactNode
}

/** Draws the outline of what will be here. */
function EmptyState({ title, text, children }: EmptyStateProps) {
  return (
    <section className="sheet flex flex-col items-center gap-4 py-12 text-center">
      <svg
        viewBox="0 0 240 72"
        aria-hidden="true"
        className="w-60 max-w-full text-line"
        fill="none"
        stroke="currentColor"
        strokeLinecap="round"
      >
        {[12, 36, 60].map(y => (
          <g key={y}>
            <circle cx="16" cy={y} r="8" strokeWidth="2.5" strokeDasharray="0.1 5" />
            <path d={`M40 ${y - 4}H${200 - y}M40 ${y + 5}H${120 - y / 2}`} strokeWidth="1" />
          </g>
        ))}
      </svg>
      <h2 className="verdict max-w-prose">{title}</h2>
      <p className="max-w-prose text-ink-soft">{text}</p>
      <div className="flex flex-wrap items-center justify-center gap-4">{children}</div>
    </section>
  )
}
