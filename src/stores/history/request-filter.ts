import type { ProcessedRequest, RequestState } from '../../contract/requests.ts'
import { foldText, splitSearchIntoWords } from '../../core/text/search-words.ts'

export interface RequestFilter {
  kind?: 'deposit' | 'verify'
  state?: RequestState
  category?: string
  q?: string
  from?: string
  to?: string
}

// by the same rules as on the server
export function createRequestMatcher(
  filter: RequestFilter
): (request: ProcessedRequest) => boolean {
  const { kind, state, category } = filter
  const words = splitSearchIntoWords(filter.q ?? '')
  const from = filter.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(filter.from)
  const to = filter.to === undefined ? Number.POSITIVE_INFINITY : Date.parse(filter.to)
  const isTimed = filter.from !== undefined || filter.to !== undefined
  return request => {
    if (kind !== undefined && request.kind !== kind) return false
    if (state !== undefined && request.state !== state) return false
    if (category !== undefined && request.category_id !== category) return false
    if (isTimed) {
      const created = Date.parse(request.created)
      if (created < from || created >= to) return false
    }
    if (words.length === 0) return true
    const name = foldedName(request)
    return words.every(word => name.includes(word))
  }
}

export function hasAnyFilter(filter: RequestFilter): boolean {
  return Object.values(filter).some(value => value !== undefined)
}

// the whole list is filtered again after every event
const folded = new WeakMap<ProcessedRequest, string>()

function foldedName(request: ProcessedRequest): string {
  const known = folded.get(request)
  if (known !== undefined) return known
  const name = foldText(request.name ?? '')
  folded.set(request, name)
  return name
}
