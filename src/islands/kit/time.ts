import { useEffect, useState } from 'react'
import type { AppError } from '../../contract/kit/errors.ts'
import { dateTag } from '../../core/text/date-tag.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'

/** Undefined until the page's script runs. */
export function useNow(everyMs: number): number | undefined {
  const [now, setNow] = useState<number>()
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** `silent` for 0.2 seconds, then `skeleton`, after 1 second `text`, and after 8 seconds `slow`. */
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
 * `2 hours ago`, « hier ». The future counts as now, because clocks of server and device may
 * differ.
 */
export function relativeTime(time: Date, now: number, locale: Locale): string {
  const format = new Intl.RelativeTimeFormat(languageTag(locale), { numeric: 'auto' })
  const days = Math.max(0, daysBetween(time, new Date(now)))
  if (days > 0) return format.format(-days, 'day')
  const minutes = Math.max(0, Math.floor((now - time.getTime()) / 60_000))
  if (minutes >= 60) return format.format(-Math.floor(minutes / 60), 'hour')
  return minutes > 0 ? format.format(-minutes, 'minute') : format.format(0, 'second')
}

// days of the calendar, because a day can have 23 or 25 hours
function daysBetween(from: Date, to: Date): number {
  const startOf = (time: Date) =>
    new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime()
  return Math.round((startOf(to) - startOf(from)) / 86_400_000)
}

/** Returns the time from which the server accepts another try, rounded up to the minute. */
export function formatRetryTimeOfDay(
  error: AppError,
  locale: Locale,
  now: number = Date.now()
): string | undefined {
  if (error.retryAfter === undefined) return undefined
  const time = new Date(Math.ceil((now + error.retryAfter * 1000) / 60_000) * 60_000)
  return formatTimeOfDay(time, locale)
}

/** `4:05 PM`, « 16:05 » */
export function formatTimeOfDay(time: Date, locale: Locale): string {
  return time.toLocaleTimeString(dateTag(languageTag(locale)), {
    hour: 'numeric',
    minute: '2-digit'
  })
}
