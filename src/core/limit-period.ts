// `null`: one period without an end
export const limitPeriodLengths = [null, 'P1D', 'P30D', 'P1Y'] as const
export type LimitPeriodLength = (typeof limitPeriodLengths)[number]

export type LimitPeriod = { start: Date; resets_at: Date | null }

/** Periods begin on the day of `anchor` in UTC: `P30D` from Jan 10 → Jan 10 to Feb 9, … */
export function limitPeriodAt(interval: LimitPeriodLength, anchor: Date, now: Date): LimitPeriod {
  if (Number.isNaN(anchor.getTime()) || Number.isNaN(now.getTime()))
    throw new RangeError('period: not a date')
  const firstDay = Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth(), anchor.getUTCDate())
  switch (interval) {
    case null:
      return { start: new Date(firstDay), resets_at: null }
    case 'P1D':
      return windowOf(firstDay, now, dayMilliseconds)
    case 'P30D':
      return windowOf(firstDay, now, 30 * dayMilliseconds)
    case 'P1Y': {
      const passed = now.getUTCFullYear() - anchor.getUTCFullYear()
      const years = now.getTime() < anniversary(anchor, passed) ? passed - 1 : passed
      return {
        start: new Date(anniversary(anchor, years)),
        resets_at: new Date(anniversary(anchor, years + 1))
      }
    }
  }
}

const dayMilliseconds = 86_400_000

function windowOf(firstDay: number, now: Date, length: number): LimitPeriod {
  const start = firstDay + Math.floor((now.getTime() - firstDay) / length) * length
  return { start: new Date(start), resets_at: new Date(start + length) }
}

// An anchor of February 29 is February 28 in other years.
function anniversary(anchor: Date, years: number): number {
  const year = anchor.getUTCFullYear() + years
  const month = anchor.getUTCMonth()
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  return Date.UTC(year, month, Math.min(anchor.getUTCDate(), lastDay))
}
