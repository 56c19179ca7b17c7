import { useEffect, useState } from 'react'
import type { AppError } from '../../contract/errors.ts'
import { type Locale, languageTag } from '../../i18n/index.ts'

/** The time, renewed every so often; nothing until the browser has taken over. */
export function useNow(everyMs: number): number | undefined {
  const [now, setNow] = useState<number>()
  useEffect(() => {
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** How long something has been waited for: nothing is shown at first, words after a second. */
export function useWaiting(isWaiting: boolean): 'silent' | 'skeleton' | 'text' | 'slow' {
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

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
] as const

/** `2 hours ago`, « il y a 2 heures »; never ahead, because two clocks may differ. */
export function relativeTime(time: Date, now: number, locale: Locale): string {
  const seconds = Math.max(0, (now - time.getTime()) / 1000)
  const format = new Intl.RelativeTimeFormat(languageTag(locale), { numeric: 'auto' })
  for (const [unit, size] of units) {
    if (seconds >= size) return format.format(-Math.floor(seconds / size), unit)
  }
  return format.format(0, 'second')
}

/** Says when to come back, where the server did: the minute in which it will take another try for sure. */
export function retryTime(
  error: AppError,
  locale: Locale,
  now: number = Date.now()
): string | undefined {
  if (error.retryAfter === undefined) return undefined
  const time = new Date(Math.ceil((now + error.retryAfter * 1000) / 60_000) * 60_000)
  return time.toLocaleTimeString(languageTag(locale), { hour: 'numeric', minute: '2-digit' })
}
