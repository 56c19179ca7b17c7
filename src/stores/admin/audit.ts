import type { AuditAction, AuditLogEntry } from '../../contract/audit.ts'
import { pageLocale } from '../environment.ts'
import { createListStore } from '../lists/lists.ts'
import { callAdminApi } from './admin-api.ts'

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
