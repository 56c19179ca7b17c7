import type { AuditAction, AuditLogEntry } from '../../contract/audit.ts'
import { pageLocale } from '../environment.ts'
import { createList } from '../lists/lists.ts'
import { adminApi } from './admin-api.ts'

/** The filters of the audit log. `from` and `to` are times in ISO 8601. */
export interface AuditFilter {
  actor?: string
  target?: string
  action?: AuditAction
  from?: string
  to?: string
}

const filters = ['actor', 'target', 'action', 'from', 'to'] as const

/** The audit log of a company. `open()` takes the id of the company. */
export const auditList = createList<AuditLogEntry, AuditFilter>({
  query: {},
  isSame: (a, b) => filters.every(name => a[name] === b[name]),
  load: (filter, page, company) =>
    adminApi('listAuditEntries', { id: company, locale: pageLocale(), ...page, ...filter })
})
