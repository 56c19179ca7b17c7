import { useStore } from '@nanostores/react'
import { localizedPath } from '../../i18n/index.ts'
import { $user, hasFeatureOrPermission } from '../../stores/signed-in-user.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { EmptyState, NoMatches } from '../lists/EmptyState.tsx'

interface EmptyHistoryProps {
  isFiltered: boolean
  /** Undefined if only filters are set. */
  query: string | undefined
  onClear: () => void
}

export function EmptyHistory({ isFiltered, query, onClear }: EmptyHistoryProps) {
  const { t } = useTranslation()
  if (!isFiltered) return <NoRequests />
  return (
    <NoMatches
      title={query ? t('history.none.query', { query }) : t('history.none.title')}
      text={t('history.none.text')}
    >
      <button type="button" className="btn btn-outline" onClick={onClear}>
        {t('history.filters.clear')}
      </button>
    </NoMatches>
  )
}

function NoRequests() {
  const { locale, t } = useTranslation()
  const user = useStore($user, { ssr: 'initial' })
  const mayDeposit = user !== undefined && hasFeatureOrPermission('deposit')
  const verify = mayDeposit ? 'link link-secondary' : 'btn btn-primary'
  return (
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
  )
}
