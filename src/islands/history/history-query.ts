import type { RequestState } from '../../contract/requests.ts'
import type { RequestFilter } from '../../stores/history/request-filter.ts'
import {
  dayRangeToTimes,
  formatFilterQuery,
  parseDay,
  parseId,
  withoutEmptyFilters
} from '../lists/use-address.ts'

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
 * The filters and the open request, as the page's address contains them. `from` and `to` are the
 * first and the last day, in the person's time zone.
 */
export interface HistoryQuery {
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

/**
 * Returns the filters, and the id of the request whose details are open, from the query of an
 * address: `?kind=deposit&from=2026-05-03`. Ignores unknown parameters and invalid values.
 */
export function parseHistoryQuery(search: string): HistoryQuery {
  const query = new URLSearchParams(search)
  const one = <Value extends string>(name: string, values: readonly Value[]) =>
    values.find(value => value === query.get(name))
  const q = query.get('q') ?? ''
  return withoutEmptyFilters({
    kind: one('kind', ['deposit', 'verify'] as const),
    state: one('state', requestStates),
    category: parseId(query.get('category')),
    q: /^\P{Cc}{1,100}$/u.test(q) ? q : undefined,
    from: parseDay(query.get('from')),
    to: parseDay(query.get('to')),
    request: parseId(query.get('request'))
  })
}

/**
 * Returns the filters and the open request as the query of an address: `?kind=deposit`. Returns an
 * empty text if there are none.
 */
export function formatHistoryQuery(address: HistoryQuery): string {
  return formatFilterQuery(names, address)
}

/**
 * Returns the filter for the API. `from` becomes the time when its day begins, and `to` the time
 * when its day ends, in the person's time zone.
 */
export function requestFilterOf({ request: _, ...filters }: HistoryQuery): RequestFilter {
  return { ...filters, ...dayRangeToTimes(filters) }
}
