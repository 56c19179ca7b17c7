/** A range of bytes in a file, from `start` to `end`. Both are included and counted from 0. */
export interface ByteRange {
  start: number
  end: number
}

const maxRanges = 5

/**
 * Parses the header `Range` of a request for a file of `size` bytes (RFC 9110, 14.2).
 * - Returns the range if the header has exactly one: `'bytes=0-9'`, 100 → `{ start: 0, end: 9 }`;
 *   `'bytes=-10'`, 100 → `{ start: 90, end: 99 }`
 * - Returns `whole` if the header is missing, invalid or longer than 1,000 characters, or has two
 *   to five ranges. The server does not send several ranges in one response.
 * - Returns `unsatisfiable` if the header has more than five ranges, or if none of its ranges
 *   begins within the file.
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

/**
 * Parses the first and last number of a byte range such as `0-9`. Returns undefined if they are
 * invalid. Otherwise returns a function that cuts the range to a file of `size` bytes. That
 * function returns undefined if the file has no byte of the range.
 */
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
