import type { DateOrder } from '../../../contract/registers.ts'

const separated = /^(\d{1,4})\s?[-/. ]\s?(\d{1,2})\s?[-/. ]\s?(\d{1,4})$/
// a spreadsheet may write the time of day behind it
const midnight = /[T ]00:00(?::00(?:\.0+)?)?Z?$/

/**
 * Returns a date as `YYYY-MM-DD`, or undefined. The year has four digits: `3/2/2001` in the order
 * `dmy` → `2001-02-03`. A text that begins with the year is read as such in any order.
 */
export function readDate(text: string, order: DateOrder): string | undefined {
  const plain = text.replace(midnight, '')
  const [, first = '', second = '', third = ''] =
    separated.exec(plain) ?? /^(\d{4})(\d\d)(\d\d)$/.exec(plain) ?? []
  const isYearFirst = first.length === 4
  if (!isYearFirst && (order === 'ymd' || third.length !== 4)) return undefined
  if (isYearFirst && third.length > 2) return undefined
  const [year, month, day] = isYearFirst
    ? [first, second, third]
    : order === 'dmy'
      ? [third, second, first]
      : [third, first, second]
  if (day.length > 2 || month.length > 2) return undefined
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const time = new Date(`${iso}T00:00:00Z`)
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(iso)
  return isReal ? iso : undefined
}
