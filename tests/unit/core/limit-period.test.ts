import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LimitPeriodLength, limitPeriodAt } from '../../../src/core/limit-period.ts'
import '../../helpers/soak.ts'

const day = 86_400_000

describe('a period', () => {
  test.each<[LimitPeriodLength, string, string, string, string]>([
    ['P1D', '2026-01-10T13:30:00Z', '2026-01-10T13:30:00Z', '2026-01-10', '2026-01-11'],
    ['P1D', '2026-01-10T13:30:00Z', '2026-03-29T01:30:00Z', '2026-03-29', '2026-03-30'],
    ['P30D', '2026-01-10T13:30:00Z', '2026-01-10T13:30:00Z', '2026-01-10', '2026-02-09'],
    ['P30D', '2026-01-10T13:30:00Z', '2026-02-10T00:00:00Z', '2026-02-09', '2026-03-11'],
    ['P30D', '2024-01-10T13:30:00Z', '2024-03-01T00:00:00Z', '2024-02-09', '2024-03-10'],
    ['P1Y', '2026-01-10T13:30:00Z', '2026-12-31T23:59:59Z', '2026-01-10', '2027-01-10'],
    ['P1Y', '2026-06-30T23:59:59Z', '2029-06-29T12:00:00Z', '2028-06-30', '2029-06-30'],
    ['P1Y', '2024-02-29T08:00:00Z', '2024-12-31T00:00:00Z', '2024-02-29', '2025-02-28'],
    ['P1Y', '2024-02-29T08:00:00Z', '2025-02-28T00:00:00Z', '2025-02-28', '2026-02-28'],
    ['P1Y', '2024-02-29T08:00:00Z', '2027-06-01T00:00:00Z', '2027-02-28', '2028-02-29'],
    ['P1Y', '2024-02-29T08:00:00Z', '2028-02-28T23:59:59Z', '2027-02-28', '2028-02-29'],
    ['P1Y', '2024-02-29T08:00:00Z', '2028-02-29T00:00:00Z', '2028-02-29', '2029-02-28'],
    ['P1Y', '2096-02-29T08:00:00Z', '2100-03-01T00:00:00Z', '2100-02-28', '2101-02-28']
  ])('%s from %s holds %s from %s to %s', (interval, anchor, now, start, end) => {
    expect(limitPeriodAt(interval, new Date(anchor), new Date(now))).toEqual({
      start: new Date(start),
      resets_at: new Date(end)
    })
  })

  test.each<[LimitPeriodLength, string]>([
    ['P1D', '2026-03-30'],
    ['P30D', '2026-04-10'],
    ['P1Y', '2027-01-10'],
    ['P1Y', '2028-02-29']
  ])('%s ends one millisecond before %s', (interval, end) => {
    const anchor = new Date(end === '2028-02-29' ? '2024-02-29T12:00:00Z' : '2026-01-10T12:00:00Z')
    const boundary = new Date(end).getTime()
    const before = limitPeriodAt(interval, anchor, new Date(boundary - 1))
    expect(before.resets_at).toEqual(new Date(boundary))
    expect(before.start.getTime()).toBeLessThan(boundary - 1)
    for (const now of [boundary, boundary + 1])
      expect(limitPeriodAt(interval, anchor, new Date(now)).start).toEqual(new Date(boundary))
  })

  test('without an interval begins with the anchor’s day and never ends', () => {
    expect(limitPeriodAt(null, new Date('2026-01-10T13:30:00Z'), new Date('2031-05-05'))).toEqual({
      start: new Date('2026-01-10'),
      resets_at: null
    })
  })

  test('always holds now, begins at midnight and leaves no gap, also before the anchor', () => {
    const date = fc.date({
      min: new Date('1990-01-01'),
      max: new Date('2120-01-01'),
      noInvalidDate: true
    })
    fc.assert(
      fc.property(
        fc.constantFrom<LimitPeriodLength>('P1D', 'P30D', 'P1Y'),
        date,
        date,
        (interval, anchor, now) => {
          const { start, resets_at } = limitPeriodAt(interval, anchor, now)
          const end = resets_at?.getTime() ?? 0
          expect(start.getTime()).toBeLessThanOrEqual(now.getTime())
          expect(now.getTime()).toBeLessThan(end)
          expect(start.getTime() % day).toBe(0)
          expect(limitPeriodAt(interval, anchor, new Date(end)).start.getTime()).toBe(end)
          expect(limitPeriodAt(interval, anchor, new Date(start.getTime() - 1)).resets_at).toEqual(
            start
          )
        }
      ),
      { numRuns: 2_000 }
    )
  })

  test('refuses what is no date', () => {
    expect(() => limitPeriodAt('P1D', new Date('x'), new Date())).toThrow('not a date')
    expect(() => limitPeriodAt(null, new Date(), new Date(Number.NaN))).toThrow('not a date')
  })
})
