import { dateTag } from './date-tag.ts'

export type FormatLocale = 'en' | 'fr'

/** `1.2 MB`, « 1,2 Mo » */
export function formatBytes(bytes: number, locale: FormatLocale): string {
  return visibleSpace(formatUnits(bytes, locale))
}

function formatUnits(bytes: number, locale: FormatLocale): string {
  if (bytes < 999.5)
    // Intl has no short unit for bytes ("12 byte"); the spacing is that of its kilobytes.
    return numberFormat(locale, 'kilobyte', 0)
      .formatToParts(bytes)
      .map(part => (part.type === 'unit' ? byteSymbols[locale] : part.value))
      .join('')
  // Changes to the next unit where one digit would round to 1,000.0.
  if (bytes < 999.95e3) return numberFormat(locale, 'kilobyte', 1).format(bytes / 1e3)
  if (bytes < 999.95e6) return numberFormat(locale, 'megabyte', 1).format(bytes / 1e6)
  if (bytes < 999.95e9) return numberFormat(locale, 'gigabyte', 1).format(bytes / 1e9)
  return numberFormat(locale, 'terabyte', 1).format(bytes / 1e12)
}

/** `1.2 MB/s`, « 1,2 Mo/s » */
export function formatSpeed(bytesPerSecond: number, locale: FormatLocale): string {
  return `${formatBytes(bytesPerSecond, locale)}/s`
}

/** Rounds down, so that only 1 becomes `100%`, « 100 % ». */
export function formatPercent(share: number, locale: FormatLocale): string {
  // 0.29 × 100 is 28.999999999999996.
  const percent = Math.floor(Math.min(1, Math.max(0, share)) * 100 + 1e-9)
  const format = formatOnce(`percent ${locale}`, () => {
    return new Intl.NumberFormat(tags[locale], { style: 'percent' })
  })
  return visibleSpace(format.format(percent / 100))
}

/** `May 3, 2026 at 2:02 PM`, « 3 mai 2026 à 14:02 », by default in the device's zone */
export function formatDateTime(time: Date, locale: FormatLocale, zone?: string): string {
  const format = formatOnce(`time ${locale} ${zone}`, () => {
    const options = { dateStyle: 'long', timeStyle: 'short' } as const
    return new Intl.DateTimeFormat(
      dateTag(tags[locale]),
      zone ? { ...options, timeZone: zone } : options
    )
  })
  return withFrenchFirstOfMonth(format.format(time), locale)
}

/** `May 3, 2026 at 2:02:07 PM UTC+02:00 (2026-05-03 12:02:07 UTC)` */
export function formatExactTime(time: Date, locale: FormatLocale, zone?: string): string {
  const inZone = zone ? { timeZone: zone } : {}
  const format = formatOnce(`instant ${locale} ${zone}`, () => {
    return new Intl.DateTimeFormat(dateTag(tags[locale]), {
      dateStyle: 'long',
      timeStyle: 'medium',
      ...inZone
    })
  })
  const offset = offsetOf(time, zone)
  const local = `${withFrenchFirstOfMonth(format.format(time), locale)} ${offset}`
  return offset === 'UTC' ? local : `${local} (${formatUtc(time)})`
}

/** `May 3, 2026 at 2:02:07 PM (Paris time)`, « 3 mai 2026 à 14:02:07 (heure de Paris) » */
export function formatMoment(time: Date, locale: FormatLocale, zone?: string): string {
  const format = formatOnce(`moment ${locale} ${zone}`, () => {
    const options = { dateStyle: 'long', timeStyle: 'medium' } as const
    return new Intl.DateTimeFormat(
      dateTag(tags[locale]),
      zone ? { ...options, timeZone: zone } : options
    )
  })
  const local = withFrenchFirstOfMonth(format.format(time), locale)
  return visibleSpace(`${local} (${nameOfZone(time, locale, format.resolvedOptions().timeZone)})`)
}

/** `2026-05-03 12:02:07 UTC` */
export function formatUtc(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')}\u00a0UTC`
}

/** `1:40:12 PM`, « 13:40:12 » */
export function formatTimeWithSeconds(time: Date, locale: FormatLocale, zone?: string): string {
  const format = formatOnce(`seconds ${locale} ${zone}`, () => {
    const options = { timeStyle: 'medium' } as const
    return new Intl.DateTimeFormat(
      dateTag(tags[locale]),
      zone ? { ...options, timeZone: zone } : options
    )
  })
  return visibleSpace(format.format(time))
}

function nameOfZone(time: Date, locale: FormatLocale, zone: string): string {
  if (zone === 'Europe/Paris') return locale === 'fr' ? 'heure de Paris' : 'Paris time'
  const format = formatOnce(`zone ${locale} ${zone}`, () => {
    const options = { timeZone: zone, timeZoneName: 'longGeneric' } as const
    return new Intl.DateTimeFormat(dateTag(tags[locale]), options)
  })
  const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
  return name === undefined || name === 'GMT' || /^(Etc\/)?(UTC|GMT)$/.test(zone) ? 'UTC' : name
}

function offsetOf(time: Date, zone: string | undefined): string {
  const format = formatOnce(`offset ${zone}`, () => {
    const options = { timeZoneName: 'longOffset' } as const
    return new Intl.DateTimeFormat('en-US', zone ? { ...options, timeZone: zone } : options)
  })
  const name = format.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value
  return (name ?? 'GMT').replace('GMT', 'UTC').replace('+00:00', '')
}

/** « jeudi 1 mai » → « jeudi 1er mai » */
export function withFrenchFirstOfMonth(text: string, locale: FormatLocale): string {
  return locale === 'fr' ? text.replace(/(?<=^|\s)1(?=\s\p{L})/u, '1er') : text
}

export type TimeLeft = { unit: 'second' | 'minute' | 'hour' | 'day'; value: number }

/** 95 → 2 minutes */
export function roundTimeLeft(seconds: number): TimeLeft {
  if (seconds <= 50) return { unit: 'second', value: Math.max(5, Math.ceil(seconds / 5) * 5) }
  if (seconds < 59.5 * 60) return { unit: 'minute', value: Math.round(seconds / 60) }
  if (seconds < 23.5 * 3_600) return { unit: 'hour', value: Math.round(seconds / 3_600) }
  return { unit: 'day', value: Math.round(seconds / 86_400) }
}

/** `0:42`, `12:05`, `1:00:07` */
export function formatCountdown(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const parts = hours > 0 ? [hours, minutes, seconds % 60] : [minutes, seconds % 60]
  return parts.map((part, at) => (at === 0 ? `${part}` : `${part}`.padStart(2, '0'))).join(':')
}

const tags = { en: 'en-US', fr: 'fr-FR' }
// the typeface has no narrow no-break space, and the browser's substitute is hardly visible
function visibleSpace(text: string): string {
  return text.replaceAll('\u202f', '\u00a0')
}

const byteSymbols = { en: 'B', fr: 'o' }

function numberFormat(locale: FormatLocale, unit: string, digits: number): Intl.NumberFormat {
  return formatOnce(`${unit} ${locale} ${digits}`, () => {
    return new Intl.NumberFormat(tags[locale], {
      style: 'unit',
      unit,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits
    })
  })
}

// Creating a format is slow, and a queue of 1,000 files formats on every tick.
const formats = new Map<string, unknown>()

function formatOnce<T>(name: string, make: () => T): T {
  if (!formats.has(name)) formats.set(name, make())
  // as: each name belongs to one kind of format
  return formats.get(name) as T
}

const durationUnits = { D: 'day', M: 'month', Y: 'year' } as const

/** `P90D` → `90 days` */
export function formatDuration(isoDuration: string, locale: FormatLocale): string {
  const [, count, unit] = /^P(\d+)([DMY])$/.exec(isoDuration) ?? []
  // as: the expression allows these letters only
  const format = {
    style: 'unit',
    unitDisplay: 'long',
    unit: durationUnits[unit as 'D' | 'M' | 'Y']
  } as const
  return new Intl.NumberFormat(locale, format).format(Number(count))
}
