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

/**
 * The filters of the audit log, as the page's address contains them. `from` and `to` are the first
 * and the last day, in the person's time zone.
 */
export interface AuditQuery {
  /** Id of the person who made the change, or whom it concerns. */
  person?: string
  target?: string
  action?: AuditAction
  from?: string
  to?: string
}

const names = ['person', 'target', 'action', 'from', 'to'] as const

/**
 * Parses the query of the page's address, such as `?action=group.update&from=2026-05-03`, into
 * filters. Ignores unknown parameters and invalid values.
 */
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

/**
 * Returns the filters as the query of an address: `?action=group.update`. Returns an empty text if
 * no filter is set.
 */
export function formatAuditQuery(address: AuditQuery): string {
  return formatFilterQuery(names, address)
}

/**
 * Returns the filters for the API. `from` becomes the time when its day begins, and `to` the time
 * when its day ends, in the person's time zone.
 */
export function auditFilterOf(address: AuditQuery): AuditFilter {
  return { ...address, ...dayRangeToTimes(address) }
}

/** A change of the filters. An undefined or empty value removes a filter. */
export type AuditQueryChange = {
  [Name in keyof AuditQuery]?: AuditQuery[Name] | undefined
}
