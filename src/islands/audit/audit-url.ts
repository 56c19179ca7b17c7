import type { AuditAction } from '../../contract/audit.ts'
import type { AuditFilter } from '../../stores/admin/audit.ts'
import {
  parseDay,
  parseId,
  timesOfDayRange,
  withoutEmptyFilters,
  writeFilters
} from '../lists/use-address.ts'
import { parseAuditAction } from './change-translator.ts'

/**
 * The filters of the audit log as the page's address contains them. `from` and `to` are days in the
 * time zone of the person; both are included.
 */
export interface AuditUrl {
  actor?: string
  target?: string
  action?: AuditAction
  from?: string
  to?: string
}

const names = ['actor', 'target', 'action', 'from', 'to'] as const

/**
 * Reads the query `?action=group.update&from=2026-05-03`. Ignores parameters and values that
 * `writeAuditUrl` does not write.
 */
export function readAuditUrl(search: string): AuditUrl {
  const query = new URLSearchParams(search)
  return withoutEmptyFilters({
    actor: parseId(query.get('actor')),
    target: parseId(query.get('target')),
    action: parseAuditAction(query.get('action')),
    from: parseDay(query.get('from')),
    to: parseDay(query.get('to'))
  })
}

/**
 * Returns the filters as the query of an address, such as `?action=group.update`. Returns an empty
 * text without filters.
 */
export function writeAuditUrl(address: AuditUrl): string {
  return writeFilters(names, address)
}

/**
 * Returns the API's filters for the filters of an address. The days `from` and `to` become the
 * times when they begin and end in the person's time zone.
 */
export function auditFilterOf(address: AuditUrl): AuditFilter {
  return { ...address, ...timesOfDayRange(address) }
}

/** A change of the filters. An undefined or empty value removes a filter. */
export type AuditUrlChange = { [Name in keyof AuditUrl]?: AuditUrl[Name] | undefined }
