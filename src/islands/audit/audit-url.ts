import type { AuditAction } from '../../contract/audit.ts'
import type { AuditFilter } from '../../stores/admin/audit.ts'
import { parseDay, startOfDay } from '../lists/use-address.ts'
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
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Reads the query `?action=group.update&from=2026-05-03`. Ignores parameters and values that
 * `writeAuditUrl` does not write.
 */
export function readAuditUrl(search: string): AuditUrl {
  const query = new URLSearchParams(search)
  const idOf = (name: string) => {
    const value = query.get(name) ?? ''
    return uuid.test(value) ? value : undefined
  }
  return withoutEmptyFilters({
    actor: idOf('actor'),
    target: idOf('target'),
    action: parseAuditAction(query.get('action')),
    from: parseDay(query.get('from')),
    to: parseDay(query.get('to'))
  })
}

/**
 * Returns the query of an address for filters, such as `?action=group.update`. Empty without
 * filters.
 */
export function writeAuditUrl(address: AuditUrl): string {
  const query = new URLSearchParams()
  for (const name of names) {
    const value = address[name]
    if (value) query.set(name, value)
  }
  return query.size > 0 ? `?${query}` : ''
}

/**
 * Returns the API's filters for the filters of an address. The days `from` and `to` become the
 * times when they begin and end in the person's time zone.
 */
export function auditFilterOf({ from, to, ...rest }: AuditUrl): AuditFilter {
  return {
    ...rest,
    ...(from ? { from: startOfDay(from, 0).toISOString() } : {}),
    ...(to ? { to: startOfDay(to, 1).toISOString() } : {})
  }
}

/** The filters of an address, some of which may be undefined or empty. */
export type AuditUrlChange = { [Name in keyof AuditUrl]?: AuditUrl[Name] | undefined }

/** Returns the filters that have a value. */
export function withoutEmptyFilters(change: AuditUrlChange): AuditUrl {
  const kept = Object.entries(change).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(kept)
}
