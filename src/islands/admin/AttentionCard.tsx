import type { ReactNode } from 'react'
import { useEffect } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import type { AttentionItem, AttentionOfCompany, NearLimit } from '../../contract/overview.ts'
import { formatBytes, formatDateTime } from '../../core/text/format.ts'
import { languageTag } from '../../i18n/index.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { pageHref } from '../kit/page-href.ts'
import { formatTimeOfDay, useWaitPhase } from '../kit/time.ts'
import { useTranslation } from '../kit/use-translation.ts'

type CheckState =
  | { status: 'loading' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; attention: { checked: string }; isStale: boolean }

interface AttentionCardProps {
  state: CheckState
  loading: string
  check: () => void
  isInOrder: boolean
  children: ReactNode
}

export function AttentionCard(props: AttentionCardProps) {
  const { state, loading, check, isInOrder, children } = props
  const { locale, t } = useTranslation()
  const waiting = useWaitPhase(state.status === 'loading')
  useRegularCheck(check)
  return (
    <section
      className="sheet flex flex-col gap-4"
      aria-labelledby="attention"
      data-attention={state.status}
    >
      <h2 id="attention" className="section-title">
        {t('overview.attention.title')}
      </h2>
      {state.status === 'loading' && (
        <p role="status" className="min-h-12 text-ink-soft">
          {(waiting === 'text' || waiting === 'slow') && loading}
        </p>
      )}
      {state.status === 'failed' && (
        <ErrorNote error={state.error}>
          <button type="button" className="btn btn-outline btn-sm self-start" onClick={check}>
            {t('overview.attention.again')}
          </button>
        </ErrorNote>
      )}
      {state.status === 'ready' && (
        <>
          {isInOrder && (
            <p className="verdict flex items-center gap-3" role="status">
              <Icon name="check" className="size-6 text-success" />
              {t('overview.attention.inOrder')}
            </p>
          )}
          {children}
          <p className="meta">
            {t(state.isStale ? 'overview.attention.stale' : 'overview.attention.checked', {
              time: formatTimeOfDay(new Date(state.attention.checked), locale)
            })}
          </p>
        </>
      )}
    </section>
  )
}

interface AttentionItemsProps {
  found: Pick<AttentionOfCompany, 'items' | 'unchecked'>
  company: string | undefined
  hasMailServer: boolean
}

export function AttentionItems({ found, company, hasMailServer }: AttentionItemsProps) {
  const { t } = useTranslation()
  return (
    <>
      <ul className="flex flex-col divide-y divide-base-300 empty:hidden">
        {found.items.map(item => (
          <Item key={item.kind} item={item} company={company} hasMailServer={hasMailServer} />
        ))}
      </ul>
      {found.unchecked.length > 0 && (
        <p>
          {t('overview.attention.unchecked', {
            what: found.unchecked.map(kind => t(`overview.attention.kinds.${kind}`)).join(', ')
          })}
        </p>
      )}
    </>
  )
}

interface ItemProps extends Omit<AttentionItemsProps, 'found'> {
  item: AttentionItem
}

const inks = { error: 'text-error', warning: 'text-warning', info: 'text-info' }

function Item({ item, company, hasMailServer }: ItemProps) {
  const { locale, t } = useTranslation()
  const { kind, severity, count, since, limits = [], domains = [] } = item
  const isNamed = domains.length === count
  const mend =
    kind === 'invitations_by_hand' || (kind === 'people_waiting' && !hasMailServer)
      ? t('overview.attention.mend.by_hand')
      : t(`overview.attention.mend.${kind}`, { command: commandFor(item) })
  return (
    <li className="grid gap-x-3 gap-y-1 py-3 sm:grid-cols-[auto_1fr]" data-kind={kind}>
      <p className={`flex items-center gap-2 self-start font-semibold sm:w-52 ${inks[severity]}`}>
        <Icon name="alert" className="size-5" />
        {t(`overview.attention.severity.${severity}`)}
      </p>
      <div className="flex min-w-0 flex-col gap-1">
        <p className="font-semibold">
          {t(`overview.attention.items.${kind}`, { count })}
          {since && kind !== 'invitations_by_hand' && (
            <span className="meta font-normal">
              {' '}
              {t('overview.attention.since', { time: formatDateTime(new Date(since), locale) })}
            </span>
          )}
        </p>
        {company !== undefined && limits.length > 0 && (
          <ul className="flex flex-col gap-1">
            {limits.map(near => (
              <li key={`${near.group.id} ${near.limited}`} className="min-w-0">
                <LimitLink company={company} near={near} />
              </li>
            ))}
          </ul>
        )}
        {company !== undefined && domains.length > 0 && (
          <ul className="flex flex-col gap-1">
            {domains.map(({ id, host }) => (
              <li key={id} className="min-w-0">
                <a
                  className="link wrap-anywhere"
                  href={pageHref(locale, 'domain', { company, domain: id })}
                >
                  {host}
                </a>
              </li>
            ))}
          </ul>
        )}
        <p className="wrap-anywhere text-ink-soft">
          {mend}{' '}
          {company !== undefined && !isNamed && <FindingLink kind={kind} company={company} />}
        </p>
      </div>
    </li>
  )
}

function commandFor({ kind, log }: AttentionItem): string {
  if (log !== undefined) return `npm run vidimus -- log retire ${log}`
  return `npm run vidimus -- ${kind === 'deposits_held' ? 'deposit retry' : 'log list'}`
}

function LimitLink({ company, near }: { company: string; near: NearLimit }) {
  const { locale, t } = useTranslation()
  const { group, limited, used, limit, resets_at } = near
  const numbers = new Intl.NumberFormat(languageTag(locale))
  const figures =
    limited === 'requests'
      ? { used: numbers.format(used), limit: numbers.format(limit) }
      : { used: formatBytes(used, locale), limit: formatBytes(limit, locale) }
  return (
    <>
      <a
        className="link wrap-anywhere"
        href={pageHref(locale, 'group', { company, group: group.id })}
      >
        {t('overview.attention.of', {
          group: group.name,
          ...figures,
          what: t(`overview.attention.limit.${limited}`)
        })}
      </a>
      {resets_at && (
        <span className="meta">
          {' '}
          {t('overview.attention.resets', { time: formatDateTime(new Date(resets_at), locale) })}
        </span>
      )}
    </>
  )
}

interface FindingLinkProps extends Pick<AttentionItem, 'kind'> {
  company: string
}

function FindingLink({ kind, company }: FindingLinkProps): ReactNode {
  const { locale, t } = useTranslation()
  const target = findingTarget(kind)
  if (!target) return null
  const { page, state, words } = target
  return (
    <a className="link" href={`${pageHref(locale, page, { company })}?state=${state}`}>
      {t(`overview.attention.go.${words}`)}
    </a>
  )
}

function findingTarget(kind: AttentionItem['kind']) {
  switch (kind) {
    case 'people_waiting':
      return { page: 'users', state: 'waiting', words: 'people_waiting' } as const
    case 'invitations_expired':
    case 'invitations_by_hand':
      return { page: 'users', state: 'invited', words: 'invitations_expired' } as const
    case 'domains_unverified':
    case 'domains_failing':
    case 'domains_quarantined':
    case 'domains_taken':
      return { page: 'domains', state: kind.replace('domains_', ''), words: 'domains' } as const
    case 'no_administrator':
      return { page: 'users', state: 'active', words: 'no_administrator' } as const
    default:
      return undefined
  }
}

const everyMs = 60_000

/**
 * Runs `check` immediately, every minute while the page is visible, and when the person returns.
 */
function useRegularCheck(check: () => void): void {
  useEffect(() => {
    const checkIfSeen = () => {
      if (document.visibilityState === 'visible') check()
    }
    check()
    const timer = setInterval(checkIfSeen, everyMs)
    window.addEventListener('focus', check)
    document.addEventListener('visibilitychange', checkIfSeen)
    return () => {
      clearInterval(timer)
      window.removeEventListener('focus', check)
      document.removeEventListener('visibilitychange', checkIfSeen)
    }
  }, [check])
}
