/** A company counts as present for this long after a call. */
export const presentMs = 1000

/** Notes which companies have called lately. */
export interface PresentCompanies {
  /** Notes a call of a company. */
  note(company: string): void
  /** Returns whether another company has called within the last second. */
  hasOthers(company: string): boolean
}

/** `now` returns milliseconds of a clock that never goes back. */
export function createPresentCompanies(now: () => number): PresentCompanies {
  let last: { company: string; at: number } | undefined
  /** The last call of a company other than that of `last`. */
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
