import type { ProcessedRequest } from '../../contract/requests.ts'

export type RequestList = ReturnType<typeof createRequestList>

/**
 * Each request once, in its newest state: newest first, and by id. The replay after a lost connection,
 * live events and pages may bring the same in any order.
 */
export function createRequestList() {
  const byId = new Map<string, ProcessedRequest>()
  let sorted: readonly ProcessedRequest[] = []
  return {
    get: (id: string) => byId.get(id),
    all: () => sorted,

    /** Replaces what is known by what is newer, adds the rest, and answers what was new or newer. */
    merge(incoming: readonly ProcessedRequest[]): ProcessedRequest[] {
      const changed = incoming.filter(request => {
        const held = byId.get(request.id)
        if (held && held.seq >= request.seq) return false
        byId.set(request.id, request)
        return true
      })
      if (changed.length === 0) return changed
      // a sorted copy: what was created when never changes, so each place is found by halving
      const next = [...sorted]
      for (const request of changed) {
        const at = placeOf(next, request)
        next.splice(at, next[at]?.id === request.id ? 1 : 0, request)
      }
      sorted = next
      return changed
    }
  }
}

/** By `created`, then by id, as the server pages. */
export function newestFirst(a: ProcessedRequest, b: ProcessedRequest): number {
  return compare(b.created, a.created) || compare(b.id, a.id)
}

/**
 * What a person sees while nothing may move under them: the rows of before, each in its newest state
 * even where it has left the filter, and of the present ones those that are older than the first.
 */
export function holdStill(
  before: readonly ProcessedRequest[],
  present: readonly ProcessedRequest[],
  newest: (id: string) => ProcessedRequest | undefined
): readonly ProcessedRequest[] {
  const [top] = before
  if (!top) return present
  const shown: ProcessedRequest[] = []
  for (let old = 0, at = placeOf(present, top); ; ) {
    const [held, next] = [before[old], present[at]]
    const order = held === next ? 0 : !held ? 1 : !next ? -1 : newestFirst(held, next)
    if (held && order <= 0) shown.push(newest(held.id) ?? held)
    else if (next) shown.push(next)
    else return shown
    if (order <= 0) old += 1
    if (order >= 0) at += 1
  }
}

/** Index of the first that is not newer. */
export function placeOf(sorted: readonly ProcessedRequest[], request: ProcessedRequest): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const at = sorted[middle]
    if (at && newestFirst(at, request) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
