const reportEveryMs = 60_000

/** Counts what may happen thousands of times a second; reports it at once, and then once a minute at most. */
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
