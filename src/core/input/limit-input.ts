import type { FormatLocale } from '../text/format.ts'

const bytesPerGigabyte = 1_000_000_000
const signs = {
  en: { decimal: '.', group: ',' },
  // a no-break space, because the typeface has no narrow one
  fr: { decimal: ',', group: '\u00a0' }
} as const

/**
 * Parses a limit on the number of deposits and verifications as people type it: `'1,000'` → 1000,
 * `'-3'` → 0. Returns `null`, which means no limit, if the text is empty. A text that is not a
 * number counts as empty.
 */
export function parseRequestLimit(text: string, locale: FormatLocale): number | null {
  const digits = readDigits(text, locale)
  return digits && safe(BigInt(digits.whole))
}

/**
 * Parses a storage limit typed in gigabytes and returns bytes: `'1.5'` → 1500000000, `'-3'` → 0.
 * Returns `null`, which means no limit, if the text is empty. A text that is not a number counts as
 * empty.
 */
export function parseStorageLimit(text: string, locale: FormatLocale): number | null {
  const digits = readDigits(text, locale)
  return digits && safe(BigInt(digits.whole + digits.fraction.padEnd(9, '0').slice(0, 9)))
}

/**
 * Formats a limit on the number of deposits and verifications for an input field: 1000 → `'1,000'`,
 * `null` (no limit) → `''`. `parseRequestLimit` parses the result.
 */
export function formatRequestLimitInput(limit: number | null, locale: FormatLocale): string {
  return limit === null ? '' : grouped(limit, locale)
}

/**
 * Formats a storage limit in bytes as gigabytes for an input field: 1500000000 → `'1.5'`, `null`
 * (no limit) → `''`. `parseStorageLimit` parses the result.
 */
export function formatStorageLimitInput(bytes: number | null, locale: FormatLocale): string {
  if (bytes === null) return ''
  const whole = grouped(Math.floor(bytes / bytesPerGigabyte), locale)
  const digits = String(bytes % bytesPerGigabyte).padStart(9, '0')
  const fraction = digits.slice(0, digits.length - trailingZeros(digits))
  return fraction === '' ? whole : `${whole}${signs[locale].decimal}${fraction}`
}

function trailingZeros(digits: string): number {
  return digits.length - 1 - [...digits].findLastIndex(digit => digit !== '0')
}

function grouped(value: number, locale: FormatLocale): string {
  const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
  return format.format(value).replaceAll(',', signs[locale].group)
}

function safe(value: bigint): number {
  return Number(value < Number.MAX_SAFE_INTEGER ? value : Number.MAX_SAFE_INTEGER)
}

/**
 * Parses a number as people write it in a language, with or without thousands separators. A comma
 * or period that does not separate groups of three digits is read as the decimal sign. Returns the
 * digits before and after the decimal sign, or `null` if the text is not a number. A negative
 * number becomes 0.
 */
function readDigits(
  text: string,
  locale: FormatLocale
): { whole: string; fraction: string } | null {
  const plain = text.replace(/[\s\u00a0\u202f'’]/g, '')
  const ungrouped = plain.replace(groups[locale], head => head.replace(/[.,]/g, ''))
  const match = /^([+-]?)(\d*)(?:[.,](\d*))?$/.exec(ungrouped)
  const [, sign, whole = '', fraction = ''] = match ?? []
  if (whole + fraction === '') return null
  return sign === '-' ? { whole: '0', fraction: '' } : { whole: whole || '0', fraction }
}

const groups = {
  en: /^[+-]?\d{1,3}(?:,\d{3})+(?=$|\.)/,
  fr: /^[+-]?\d{1,3}(?:\.\d{3})+(?=$|,)/
}
