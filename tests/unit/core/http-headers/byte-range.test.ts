import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseRangeHeader } from '../../../../src/core/http-headers/byte-range.ts'
import { runCount } from '../../../helpers/soak.ts'

test.each([
  [undefined, 'whole'],
  ['bytes=0-9', { start: 0, end: 9 }],
  ['bytes=0-0', { start: 0, end: 0 }],
  ['Bytes=10-', { start: 10, end: 99 }],
  ['bytes=-10', { start: 90, end: 99 }],
  ['bytes=-1000', { start: 0, end: 99 }],
  ['bytes=90-1000', { start: 90, end: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=100-,200-', 'unsatisfiable'],
  ['bytes=0-1,4-5', 'whole'],
  ['bytes=0-1,2-3,4-5,6-7,8-9', 'whole'],
  ['bytes=0-1,2-3,4-5,6-7,8-9,10-11', 'unsatisfiable'],
  ['bytes=9-0', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=', 'whole'],
  ['bytes=a-b', 'whole'],
  ['bytes=1-2-3', 'whole'],
  ['items=0-9', 'whole'],
  ['bytes 0-9', 'whole'],
  [`bytes=${'0-1,'.repeat(1000)}`, 'whole']
])('reads %s of 100 bytes', (header, expected) => {
  expect(parseRangeHeader(header, 100)).toEqual(expected)
})

test('grants nothing outside the bytes, whatever is asked (E-02)', () => {
  const header = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc
      .string({ unit: fc.constantFrom(...'0123456789-,= bytes'), maxLength: 40 })
      .map(rest => `bytes=${rest}`),
    fc.tuple(fc.maxSafeNat(), fc.maxSafeNat()).map(([a, b]) => `bytes=${a}-${b}`)
  )
  fc.assert(
    fc.property(header, fc.nat({ max: 10_000 }), (text, size) => {
      const range = parseRangeHeader(text, size)
      if (typeof range === 'string') return
      expect(range.start).toBeGreaterThanOrEqual(0)
      expect(range.start).toBeLessThanOrEqual(range.end)
      expect(range.end).toBeLessThan(size)
    }),
    { numRuns: runCount(1_000, 1_000_000) }
  )
})
