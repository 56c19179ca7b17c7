import type { RequestState } from '../../contract/requests.ts'
import type { RequestFilter } from '../../stores/history/request-filter.ts'
import { parseDay, startOfDay } from '../lists/use-address.ts'

export const requestStates = [
  'uploading',
  'queued',
  'processing',
  'done',
  'cancelled',
  'lapsed',
  'rejected',
  'failed'
] as const satisfies readonly RequestState[]

/**
 * The filters and the open request, as the page's address contains them. `from` and `to` are days
 * in the person's time zone; both are included.
 */
export interface HistoryUrl {
  kind?: 'deposit' | 'verify'
  state?: RequestState
  category?: string
  q?: string
  from?: string
  to?: string
  /** Id of the request whose details are open. */
  request?: string
}

const names = ['kind', 'state', 'category', 'q', 'from', 'to', 'request'] as const
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Reads the query `?kind=deposit&from=2026-05-03`. Ignores parameters and values that
 * `writeHistoryUrl` does not write.
 */
export function readHistoryUrl(search: string): HistoryUrl {
  const query = new URLSearchParams(search)
  const one = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find(value => value === query.get(name))
  const like = (name: string, pattern: RegExp) => {
    const value = query.get(name) ?? ''
    return pattern.test(value) ? value : undefined
  }
  return withoutEmptyFilters({
    kind: one('kind', ['deposit', 'verify'] as const),
    state: one('state', requestStates),
    category: like('category', uuid),
    q: like('q', /^\P{Cc}{1,100}$/u),
    from: parseDay(query.get('from')),
    to: parseDay(query.get('to')),
    request: like('request', uuid)
  })
}

/** Returns the query for filters and open request: `?kind=deposit`, or an empty text. */
export function writeHistoryUrl(address: HistoryUrl): string {
  const query = new URLSearchParams()
  for (const name of names) {
    const value = address[name]
    if (value) query.set(name, value)
  }
  return query.size > 0 ? `?${query}` : ''
}

/**
 * Returns the API's filter for the filters of an address. The days `from` and `to` become the times
 * when they begin and end in the person's time zone.
 */
export function requestFilterOf({ request: _, from, to, ...rest }: HistoryUrl): RequestFilter {
  const filter = withoutEmptyFilters({
    ...rest,
    from: from && startOfDay(from, 0).toISOString(),
    to: to && startOfDay(to, 1).toISOString()
  })
  return filter
}

export function withoutEmptyFilters<Fields extends object>(
  fields: Fields
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')
  // as: the same fields, less those that are empty
  return Object.fromEntries(kept) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}
