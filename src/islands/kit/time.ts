import { useEffect, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'

/**
 * Returns the current time in milliseconds and updates it every `everyMs`. Returns undefined until
 * the page's script runs.
 */
export function useNow(everyMs: number): number | undefined {
  const [now, setNow] = useState<number>()
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/**
 * Returns what a page shows while it waits: nothing (`silent`) for 0.2 seconds, then `skeleton`,
 * after 1 second `text`, and after 8 seconds `slow`.
 */
export function useWaitPhase(isWaiting: boolean): 'silent' | 'skeleton' | 'text' | 'slow' {
  const [phase, setPhase] = useState<'silent' | 'skeleton' | 'text' | 'slow'>('silent')
  useEffect(() => {
    setPhase('silent')
    if (!isWaiting) return
    const timers = [
      setTimeout(() => setPhase('skeleton'), 200),
      setTimeout(() => setPhase('text'), 1000),
      setTimeout(() => setPhase('slow'), 8000)
    ]
    return () => timers.forEach(clearTimeout)
  }, [isWaiting])
  return phase
}

/**
 * Describes when a time was. For a time of today: `2 hours ago`, « il y a 2 heures ». For an
 * earlier day: `yesterday`, « hier ». A time in the future counts as now, because the clocks of
 * server and device may differ.
 */
export function relativeTime(time: Date, now: number, locale: Locale): string {
  const format = new Intl.RelativeTimeFormat(languageTag(locale), { numeric: 'auto' })
  const days = Math.max(0, daysBetween(time, new Date(now)))
  if (days > 0) return format.format(-days, 'day')
  const minutes = Math.max(0, Math.floor((now - time.getTime()) / 60_000))
  if (minutes >= 60) return format.format(-Math.floor(minutes / 60), 'hour')
  return minutes > 0 ? format.format(-minutes, 'minute') : format.format(0, 'second')
}

/**
 * Returns the number of calendar days between two times. Does not divide the hours by 24, because a
 * day can have 23 or 25 hours.
 */
function daysBetween(from: Date, to: Date): number {
  const startOf = (time: Date) =>
    new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
  return Math.round((startOf(to) - startOf(from)) / 86_400_000)
}

/**
 * Returns the time of day after which the server accepts another try, as text and rounded up to the
 * minute. Returns undefined if the error has no such time.
 */
export function formatRetryTimeOfDay(
  error: AppError,
  locale: Locale,
  now: number = Date.now()
): string | undefined {
  if (error.retryAfter === undefined) return undefined
  const time = new Date(Math.ceil((now + error.retryAfter * 1000) / 60_000) * 60_000)
  return formatTimeOfDay(time, locale)
}

/** Formats a time of day: `4:05 PM`, « 16:05 » */
export function formatTimeOfDay(time: Date, locale: Locale): string {
  return time.toLocaleTimeString(dateTag(languageTag(locale)), {
    hour: 'numeric',
    minute: '2-digit'
  })
}
