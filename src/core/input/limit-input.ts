import type { FormatLocale } from '../text/format.ts'

const bytesPerGigabyte = 1_000_000_000
const signs = {
  en: { decimal: '.', group: ',' },
  // a no-break space, because the typeface has no narrow one
  fr: { decimal: ',', group: '\u00a0' }
} as const

/** `limit` is `null` for no limit and for a text with a problem. */
export interface TypedLimit {
  limit: number | null
  problem?: 'numeric' | 'integer'
}

/** In any language: `'1,000'`, `'1.000'` and `'1k'` → 1000, `'-3'` → 0. Refuses `'1.5'`. */
export function parseRequestLimit(text: string): TypedLimit {
  const [typed, unit] = splitUnit(text)
  const factor = requestUnits.find(([name]) => name.test(unit))?.[1]
  const number = readNumber(typed, (_, isThousands) => !isThousands)
  return toLimit(typed + unit, number, factor, 'integer')
}

/** Gigabytes without a unit: `'1.5'` → 1500000000, `'2 To'` → 2000000000000 */
export function parseStorageLimit(text: string, locale: FormatLocale): TypedLimit {
  const [typed, unit] = splitUnit(text)
  const factor = unit === '' ? bytesPerGigabyte : bytesPerUnit(unit)
  const isDecimal = (sign: string, isThousands: boolean) =>
    sign === signs[locale].decimal || !isThousands
  return toLimit(typed + unit, readNumber(typed, isDecimal), factor, 'whole bytes')
}

export function formatRequestLimitInput(limit: number | null, locale: FormatLocale): string {
  return limit === null ? '' : grouped(limit, locale)
}

/** In gigabytes, as `parseStorageLimit` takes them: 1500000000 → `'1.5'` */
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

// `'500 MB'` → `['500', 'mb']`
function splitUnit(text: string): [number: string, unit: string] {
  // also turns no-break spaces and full-width digits into the usual ones
  const plain = text.normalize('NFKC').replace(/[−‐–]/g, '-').trim()
  const at = plain.search(/\p{L}/u)
  if (at < 0) return [plain, '']
  return [plain.slice(0, at).trim(), plain.slice(at).toLowerCase()]
}

const requestUnits: readonly [RegExp, number][] = [
  [/^$/, 1],
  [/^(?:k|thousand|mille)$/, 1000],
  [/^(?:m|millions?)$/, 1_000_000]
]

function bytesPerUnit(unit: string): number | undefined {
  const [, prefix, binary] = /^([kmgtp]?)(i?)(?:b|o|bytes?|octets?)?$/.exec(unit) ?? []
  if (prefix === undefined || (prefix === '' && binary)) return undefined
  return (binary ? 1024 : 1000) ** ' kmgtp'.indexOf(prefix || ' ')
}

interface TypedNumber {
  isNegative: boolean
  whole: string
  fraction: string
}

// thousands are separated by blanks, apostrophes, commas or points; `isDecimal` decides a single
// comma or point
function readNumber(
  text: string,
  isDecimal: (sign: string, isThousands: boolean) => boolean
): TypedNumber | null {
  const body = text.replace(/^[+-]/, '').trimStart()
  const separators: string[] = body.match(/[.,]/g) ?? []
  const last = separators.at(-1) ?? ''
  const hasFraction =
    separators.length === 1
      ? isDecimal(last, isGrouped(body))
      : // in `1,000.5`, the last one differs from the others
        separators.length > 1 && separators.indexOf(last) === separators.length - 1
  const at = hasFraction ? body.lastIndexOf(last) : body.length
  const [head, fraction] = [body.slice(0, at), body.slice(at + 1)]
  const isNumber = /^(?:\d*)$/.test(head) ? head + fraction !== '' : isGrouped(head)
  if (!isNumber || !/^\d*$/.test(fraction)) return null
  return { isNegative: text.startsWith('-'), whole: head.replace(/\D/g, ''), fraction }
}

function isGrouped(text: string): boolean {
  return /^[1-9]\d{0,2}(?:([ .,'’])\d{3})(?:\1\d{3})*$/.test(text)
}

function toLimit(
  typed: string,
  number: TypedNumber | null,
  factor: number | undefined,
  rounding: 'integer' | 'whole bytes'
): TypedLimit {
  if (typed === '') return { limit: null }
  if (!number || factor === undefined) return { limit: null, problem: 'numeric' }
  if (number.isNegative) return { limit: 0 }
  const { whole, fraction } = number
  const scale = 10n ** BigInt(fraction.length)
  const product = BigInt(whole + fraction) * BigInt(factor)
  if (rounding === 'integer' && product % scale !== 0n) return { limit: null, problem: 'integer' }
  return { limit: safe(product / scale) }
}

function safe(value: bigint): number {
  return Number(value < Number.MAX_SAFE_INTEGER ? value : Number.MAX_SAFE_INTEGER)
}
