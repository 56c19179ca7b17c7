/** How many milliseconds a company counts as active after an API call. */
export const activityMs = 1000

/** Remembers which companies have made an API call within the last second. */
export interface ActiveCompanies {
  /** Notes that a company is making an API call. */
  note(company: string): void
  /** Returns whether a company other than `company` has made an API call within the last second. */
  hasOthers(company: string): boolean
}

/**
 * Creates an `ActiveCompanies` that has noted no API call yet. `now` is a clock: it returns the time
 * in milliseconds and never goes back.
 */
export function createActiveCompanies(now: () => number): ActiveCompanies {
  let last: { company: string; at: number } | undefined
  /** The most recent API call of any company other than `last.company`. */
  let previous: { company: string; at: number } | undefined
  return {
    note(company) {
      if (last && last.company !== company) previous = last
      last = { company, at: now() }
    },
    hasOthers(company) {
      const other = last?.company === company ? previous : last
      return other !== undefined && now() - other.at < activityMs
    }
  }
}
