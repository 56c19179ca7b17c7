import type { AuditAction, AuditLogEntry } from '../../contract/audit.ts'
import { fetchFile } from '../download.ts'
import { pageLocale } from '../environment.ts'
import { createListStore } from '../lists/lists.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'

// `from` and `to` are times in ISO 8601
export interface AuditFilter {
  person?: string
  target?: string
  action?: AuditAction
  from?: string
  to?: string
}

export const auditList = createListStore<AuditLogEntry, AuditFilter>((filter, page, company) =>
  callAdminApi('listAuditEntries', { id: company, locale: pageLocale(), ...page, ...filter })
)

/** The last changes to an item, the owner of the list. For a person, also those that they made. */
export const recentChanges = createListStore<AuditLogEntry, { isPerson?: boolean }>(
  ({ isPerson }, _page, target) =>
    callAdminApi('listAuditEntries', {
      id: companyIdOfPage(),
      limit: 5,
      locale: pageLocale(),
      ...(isPerson ? { person: target } : { target })
    })
)

export function fetchAuditExport(company: string, filter: AuditFilter): Promise<Blob> {
  return fetchFile(`/company/${company}/audit/export`, { ...filter, locale: pageLocale() })
}
