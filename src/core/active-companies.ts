/** For how many milliseconds a company counts as active after an HTTP request. */
export const activityWindowMs = 1000

/** Remembers which companies have had an HTTP request within the last second. */
export interface CompanyActivityTracker {
  note(company: string): void
  /** Returns whether a company other than `company` had an HTTP request in the last second. */
  hasOthers(company: string): boolean
}

/**
 * Returns a tracker in which no company has had a request yet. `now` returns the time in
 * milliseconds and must never go back.
 */
export function createCompanyActivityTracker(now: () => number): CompanyActivityTracker {
  let last: { company: string; at: number } | undefined
  /** The most recent HTTP request of any company other than `last.company`. */
  let previous: { company: string; at: number } | undefined
  return {
    note(company) {
      if (last && last.company !== company) previous = last
      last = { company, at: now() }
    },
    hasOthers(company) {
      const other = last?.company === company ? previous : last
      return other !== undefined && now() - other.at < activityWindowMs
    }
  }
}
