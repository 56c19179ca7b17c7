import { withOrdinal } from '../../core/text/format.ts'
import { type Locale, languageTag, type T } from '../../i18n/index.ts'

const known = new Map<string, string>()

/** The reader's own day of a moment: `2026-05-03`. */
export function dayOf(created: string): string {
  // asked for each of many rows at every change, and a minute belongs to one day
  const minute = created.slice(0, 16)
  let day = known.get(minute)
  if (day === undefined) {
    const time = new Date(created)
    const [month, date] = [time.getMonth() + 1, time.getDate()].map(each =>
      String(each).padStart(2, '0')
    )
    day = `${time.getFullYear()}-${month}-${date}`
    known.set(minute, day)
  }
  return day
}

/** `Today`, `Yesterday`, `Monday, November 16`, and with the year where it is not this one. */
export function dayName(day: string, today: string, locale: Locale, t: T): string {
  if (day === today) return t('history.today')
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const noon = new Date(year, month - 1, date, 12)
  const next = new Date(year, month - 1, date + 1, 12)
  if (dayOf(next.toISOString()) === today) return t('history.yesterday')
  const isThisYear = day.slice(0, 4) === today.slice(0, 4)
  const text = noon.toLocaleDateString(languageTag(locale), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(isThisYear ? {} : { year: 'numeric' })
  })
  return withOrdinal(text.charAt(0).toUpperCase() + text.slice(1), locale)
}
