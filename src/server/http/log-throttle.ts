const reportEveryMs = 60_000

/**
 * Limits how often a frequent event is logged. Returns a function to call at each event. It calls
 * `report` for the first event at once, and later at most once a minute, with the number of events
 * since the previous report and the facts of the last one.
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
