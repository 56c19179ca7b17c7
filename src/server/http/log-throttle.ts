const reportEveryMs = 60_000

/** Counts frequent incidents. Reports the first at once, and then the number at most once a minute. */
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
