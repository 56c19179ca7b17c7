const reportEveryMs = 60_000

/**
 * Returns a function to call for each incident of a frequent kind. It reports the first incident at
 * once, and later ones at most once a minute, with their number and the last one.
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
