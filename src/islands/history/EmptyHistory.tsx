import { useStore } from '@nanostores/react'
import type { ReactNode } from 'react'
import { localizedPath } from '../../i18n/index.ts'
import { $user, hasRight } from '../../stores/users.ts'
import { useWords } from '../kit/use-words.ts'

interface NoMatchingRequestsProps {
  /** The search text, or undefined where only filters are set. */
  query: string | undefined
  onClear: () => void
}

/** Shown where no request matches the filters. */
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

/** Shown to a person who has no deposits or verifications yet. */
export function EmptyHistory() {
  const { locale, t } = useWords()
  const user = useStore($user, { ssr: 'initial' })
  const mayDeposit = user !== undefined && hasRight('deposit')
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
  /** States what this page will show. */
  title: string
  /** States why that is useful. */
  text: string
  /** One button and at most one link. */
  children: ReactNode
}

/** Draws an outline of the future list with a title, a text and actions. */
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
