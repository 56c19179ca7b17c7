/** A company counts as present for this long after each of its calls. */
export const presentMs = 1000

/** Remembers which companies have called within the last second. */
export interface PresentCompanies {
  /** Records a call of a company. */
  note(company: string): void
  /** Returns whether another company has called within the last second. */
  hasOthers(company: string): boolean
}

/** Creates an empty record of calls. `now` returns milliseconds of a clock that never goes back. */
export function createPresentCompanies(now: () => number): PresentCompanies {
  let last: { company: string; at: number } | undefined
  /** The most recent call of a company other than the company of `last`. */
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
