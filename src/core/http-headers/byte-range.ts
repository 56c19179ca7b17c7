export interface ByteRange {
  start: number
  end: number
}

const maxRanges = 5

/**
 * Parses `Range` (RFC 9110, 14.2). Several ranges are answered with the whole file, more than five
 * are refused: `'bytes=-10'`, 100 → `{ start: 90, end: 99 }`
 */
export function parseRangeHeader(
  header: string | undefined,
  size: number
): ByteRange | 'whole' | 'unsatisfiable' {
  if (header === undefined || header.length > 1000) return 'whole'
  const list = /^bytes=(.+)$/i.exec(header)?.[1]
  if (list === undefined) return 'whole'
  const ranges = list.split(',').map(text => /^(\d{0,16})-(\d{0,16})$/.exec(text.trim()))
  if (ranges.length > maxRanges) return 'unsatisfiable'
  const bounds = ranges.map(match => (match ? boundsOf(match[1] ?? '', match[2] ?? '') : undefined))
  if (bounds.some(each => each === undefined)) return 'whole'
  const granted = bounds.flatMap(each => each?.(size) ?? [])
  if (granted.length === 0) return 'unsatisfiable'
  const [only] = granted
  return bounds.length === 1 && only ? only : 'whole'
}

function boundsOf(
  first: string,
  last: string
): ((size: number) => ByteRange | undefined) | undefined {
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Number(last)
    return size =>
      length > 0 && size > 0 ? { start: Math.max(0, size - length), end: size - 1 } : undefined
  }
  const start = Number(first)
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last)
  if (end < start) return undefined
  return size => (start < size ? { start, end: Math.min(end, size - 1) } : undefined)
}
