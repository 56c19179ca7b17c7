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

/** `from` and `to` are the first and the last day, in the person's time zone. */
export interface HistoryQuery {
  kind?: 'deposit' | 'verify'
  state?: RequestState
  category?: string
  q?: string
  from?: string
  to?: string
  /** The request whose details are open. */
  request?: string
}

const names = ['kind', 'state', 'category', 'q', 'from', 'to', 'request'] as const

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

export function formatHistoryQuery(address: HistoryQuery): string {
  return formatFilterQuery(names, address)
}

export function requestFilterOf({ request: _, ...filters }: HistoryQuery): RequestFilter {
  return { ...filters, ...dayRangeToTimes(filters) }
}
