import type { ProcessedRequest } from '../../contract/requests.ts'

export type RequestList = ReturnType<typeof createRequestList>

/**
 * Creates a list that contains each request once, in its newest state. Events and loaded pages may
 * add the same request several times and in any order.
 */
export function createRequestList() {
  const byId = new Map<string, ProcessedRequest>()
  let sorted: readonly ProcessedRequest[] = []
  return {
    get: (id: string) => byId.get(id),
    all: () => sorted,

    /**
     * Adds the requests that are new or in a newer state than in the list. Removes their older
     * states. Returns the requests that were added.
     */
    merge(incoming: readonly ProcessedRequest[]): ProcessedRequest[] {
      const changed = incoming.filter(request => {
        const held = byId.get(request.id)
        if (held && held.seq >= request.seq) return false
        byId.set(request.id, request)
        return true
      })
      if (changed.length === 0) return changed
      // a request never moves, because `created` never changes, so binary search finds it
      const next = [...sorted]
      for (const request of changed) {
        const at = insertionIndex(next, request)
        next.splice(at, next[at]?.id === request.id ? 1 : 0, request)
      }
      sorted = next
      return changed
    }
  }
}

/** Compares requests by `created`, then by id, newest first, as the server sorts its pages. */
export function compareNewestFirst(a: ProcessedRequest, b: ProcessedRequest): number {
  return compare(b.created, a.created) || compare(b.id, a.id)
}

/**
 * Returns the rows to show while the person reads the list, so that the list does not move.
 * `before` are the rows on the screen, and `present` are the rows that match the filter now. Keeps
 * all rows of `before`, each in its newest state. Adds the rows of `present`, except those newer
 * than the first row of `before`.
 */
export function mergeRowsBelowFirstShown(
  before: readonly ProcessedRequest[],
  present: readonly ProcessedRequest[],
  newest: (id: string) => ProcessedRequest | undefined
): readonly ProcessedRequest[] {
  const [top] = before
  if (!top) return present
  const shown: ProcessedRequest[] = []
  for (let old = 0, at = insertionIndex(present, top); ; ) {
    const [held, next] = [before[old], present[at]]
    const order = held === next ? 0 : !held ? 1 : !next ? -1 : compareNewestFirst(held, next)
    if (held && order <= 0) shown.push(newest(held.id) ?? held)
    else if (next) shown.push(next)
    else return shown
    if (order <= 0) old += 1
    if (order >= 0) at += 1
  }
}

/** Returns the index where a request belongs in a list sorted newest first. */
export function insertionIndex(
  sorted: readonly ProcessedRequest[],
  request: ProcessedRequest
): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const at = sorted[middle]
    if (at && compareNewestFirst(at, request) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
