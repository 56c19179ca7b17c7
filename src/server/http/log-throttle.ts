const reportEveryMs = 60_000

/**
 * Returns a function that counts frequent incidents. It calls `report` at once for the first
 * incident, and then at most once a minute with the number of incidents since the last report.
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
