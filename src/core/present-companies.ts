/** How long a company counts as present after it has asked for something. */
export const presentMs = 1000

/** Knows whether a company has the service to itself. */
export interface PresentCompanies {
  /** Notes that a company asks for something now. */
  note(company: string): void
  /** Returns whether another company has asked for something within the last second. */
  hasOthers(company: string): boolean
}

/** `now` returns milliseconds of a clock that never goes back. */
export function createPresentCompanies(now: () => number): PresentCompanies {
  let last: { company: string; at: number } | undefined
  /** The last one before that of another company. */
  let previous: { company: string; at: number } | undefined
  return {
    note(company) {
      if (last && last.company !== company) previous = last
      last = { company, at: now() }
    },
    hasOthers(company) {
      const other = last?.company === company ? previous : last
      return other !== undefined && now() - other.at < presentMs
    }
  }
}
