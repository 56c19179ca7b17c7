import type { AuditAction } from '../../contract/audit.ts'
import type { AuditFilter } from '../../stores/admin/audit.ts'
import {
  dayRangeToTimes,
  formatFilterQuery,
  parseDay,
  parseId,
  withoutEmptyFilters
} from '../lists/use-address.ts'
import { parseAuditAction } from './audit-translator.ts'

/** `from` and `to` are the first and the last day, in the person's time zone. */
export interface AuditQuery {
  /** The person who made the change, or whom it concerns. */
  person?: string
  target?: string
  action?: AuditAction
  from?: string
  to?: string
}

const names = ['person', 'target', 'action', 'from', 'to'] as const

export function parseAuditQuery(search: string): AuditQuery {
  const query = new URLSearchParams(search)
  return withoutEmptyFilters({
    person: parseId(query.get('person')),
    target: parseId(query.get('target')),
    action: parseAuditAction(query.get('action')),
    from: parseDay(query.get('from')),
    to: parseDay(query.get('to'))
  })
}

export function formatAuditQuery(address: AuditQuery): string {
  return formatFilterQuery(names, address)
}

export function auditFilterOf(address: AuditQuery): AuditFilter {
  return { ...address, ...dayRangeToTimes(address) }
}

export type AuditQueryChange = {
  [Name in keyof AuditQuery]?: AuditQuery[Name] | undefined
}
