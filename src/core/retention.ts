/**
 * Counts in UTC: one month after January 31 is the last day of February. Throws for another
 * duration than `P90D`, `P18M` or `P10Y`.
 */
export function retentionEnd(from: Date, retention: string): Date {
  const [, count = '', unit] = /^P([1-9][0-9]{0,2})([DMY])$/.exec(retention) ?? []
  const end = new Date(from)
  if (unit === 'D') end.setUTCDate(end.getUTCDate() + Number(count))
  else if (unit === 'M' || unit === 'Y') addMonths(end, Number(count) * (unit === 'Y' ? 12 : 1))
  else throw new RangeError(`retention: not a duration: ${retention}`)
  return end
}

function addMonths(date: Date, months: number): void {
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  // day 0 is the last day of the month before
  if (date.getUTCDate() !== day) date.setUTCDate(0)
}
