import type { ProcessedRequest } from '../../contract/requests.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { withFrenchFirstOfMonth } from '../../core/text/format.ts'
import { type Locale, languageTag, type Translate } from '../../i18n/index.ts'

export type HistoryLine = { day: string; request?: undefined } | { request: ProcessedRequest }

const known = new Map<string, string>()

/** `2026-05-03`, in the person's time zone. */
export function localDayOf(created: string): string {
  // cached by minute, because every change computes the day of many rows
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

/** `Today`, `Yesterday`, or `Monday, November 16`, with the year unless it is the current one. */
export function dayName(day: string, today: string, locale: Locale, t: Translate): string {
  if (day === today) return t('history.today')
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const noon = new Date(year, month - 1, date, 12)
  const next = new Date(year, month - 1, date + 1, 12)
  if (localDayOf(next.toISOString()) === today) return t('history.yesterday')
  const isThisYear = day.slice(0, 4) === today.slice(0, 4)
  const text = noon.toLocaleDateString(dateTag(languageTag(locale)), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(isThisYear ? {} : { year: 'numeric' })
  })
  return withFrenchFirstOfMonth(text.charAt(0).toUpperCase() + text.slice(1), locale)
}

export function historyLines(requests: readonly ProcessedRequest[]): HistoryLine[] {
  const lines: HistoryLine[] = []
  let day: string | undefined
  for (const request of requests) {
    const its = localDayOf(request.created)
    if (its !== day) lines.push({ day: its })
    day = its
    lines.push({ request })
  }
  return lines
}

/** `hasHead` is false where the lines begin in the middle of a day. */
export function groupByDay(lines: readonly HistoryLine[]) {
  const days: { day: string; hasHead: boolean; rows: ProcessedRequest[] }[] = []
  for (const { request, ...head } of lines) {
    if ('day' in head) days.push({ day: head.day, hasHead: true, rows: [] })
    if (!request) continue
    if (days.length === 0) days.push({ day: localDayOf(request.created), hasHead: false, rows: [] })
    days.at(-1)?.rows.push(request)
  }
  return days
}
