import type { AuditAction, AuditLogEntry } from '../../contract/audit.ts'
import { pageLocale } from '../environment.ts'
import { createListStore } from '../lists/lists.ts'
import { callAdminApi } from './admin-api.ts'

/** The filters of the audit log. `from` and `to` are times in ISO 8601. */
export interface AuditFilter {
  person?: string
  target?: string
  action?: AuditAction
  from?: string
  to?: string
}

/** The audit log of a company. `open()` takes the id of the company. */
export const auditList = createListStore<AuditLogEntry, AuditFilter>((filter, page, company) =>
  callAdminApi('listAuditEntries', { id: company, locale: pageLocale(), ...page, ...filter })
)
