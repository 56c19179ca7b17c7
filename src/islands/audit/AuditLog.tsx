import { useStore } from '@nanostores/react'
import { useEffect, useMemo } from 'react'
import type { AuditLogEntry } from '../../contract/audit.ts'
import { auditList } from '../../stores/admin/audit.ts'
import { isUnknownOrInvalidIdError } from '../../stores/admin/companies.ts'
import { $route } from '../../stores/routes.ts'
import { $session } from '../../stores/sessions.ts'
import { AdminPageMissing } from '../kit/AdminPageMissing.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import { EmptyState, NoMatches } from '../lists/EmptyState.tsx'
import { ListFrame } from '../lists/ListFrame.tsx'
import { useListAddress } from '../lists/use-address.ts'
import { AuditEntry } from './AuditEntry.tsx'
import { AuditFilters } from './AuditFilters.tsx'
import { auditFilterOf, formatAuditQuery, parseAuditQuery } from './audit-query.ts'

export const AuditLog = withTranslation(function AuditLog() {
  const { t } = useTranslation()
  const session = useStore($session, { ssr: 'initial' })
  const route = useStore($route, { ssr: 'initial' })
  const rows = useStore(auditList.$rows, { ssr: 'initial' })
  const status = useStore(auditList.$status, { ssr: 'initial' })
  const query = useStore(auditList.$query, { ssr: 'initial' })
  const { address, change } = useListAddress(parseAuditQuery, formatAuditQuery)
  const names = useMemo(() => namesIn(rows), [rows])
  const params: Record<string, string> = route?.params ?? {}
  const { company } = params

  useEffect(() => {
    if (session.status === 'in' && address && company !== undefined) {
      void auditList.open(company, auditFilterOf(address))
    }
  }, [session.status, address, company])

  if (status.status === 'failed' && isUnknownOrInvalidIdError(status.error))
    return <AdminPageMissing />
  const isFiltered = Object.keys(query).length > 0
  return (
    <div className="flex flex-col gap-6">
      <AuditFilters
        address={address ?? {}}
        company={company ?? ''}
        names={names}
        onChange={change}
      />
      <ListFrame
        status={status}
        count={rows.length}
        loading={t('audit.loading')}
        empty={
          isFiltered ? (
            <NoMatches title={t('audit.none.title')}>
              <button type="button" className="btn btn-outline" onClick={() => change({})}>
                {t('audit.none.clear')}
              </button>
            </NoMatches>
          ) : (
            <EmptyState title={t('audit.empty.title')} text={t('audit.empty.text')} />
          )
        }
        onRetry={() => void auditList.load()}
        onMore={() => void auditList.loadMore()}
      >
        <ol
          className="sheet flex flex-col divide-y divide-line py-0"
          aria-label={t('audit.list')}
          aria-busy={status.status === 'loading'}
        >
          {rows.map(entry => (
            <li key={entry.id} className="py-4">
              <AuditEntry entry={entry} company={company ?? ''} />
            </li>
          ))}
        </ol>
      </ListFrame>
    </div>
  )
})

function namesIn(rows: readonly AuditLogEntry[]): Map<string, string> {
  const found = rows.flatMap(({ actor, target }) => [actor, target])
  return new Map(found.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const])))
}
