const reportEveryMs = 60_000

/**
 * Limits how often a frequent event is logged. The returned function must be called at each event.
 * It calls `report` at the first event, then at most once a minute. `report` gets the number of
 * events since the previous report, and the facts of the latest event.
 */
export function createLogThrottle<Fact>(
  report: (count: number, last: Fact) => void
): (fact: Fact) => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  let count = 0
  return fact => {
    const now = performance.now()
    count++
    if (now - reportedAt < reportEveryMs) return
    reportedAt = now
    report(count, fact)
    count = 0
  }
}
