const tellEveryMs = 60_000

/** Counts what may happen thousands of times a second, and tells of it at once and then every minute at most. */
export function createTally<Fact>(tell: (count: number, last: Fact) => void): (fact: Fact) => void {
  let toldAt = Number.NEGATIVE_INFINITY
  let count = 0
  return fact => {
    const now = performance.now()
    count++
    if (now - toldAt < tellEveryMs) return
    toldAt = now
    tell(count, fact)
    count = 0
  }
}
