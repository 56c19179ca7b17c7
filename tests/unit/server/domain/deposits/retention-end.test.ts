import { expect, test } from 'vitest'
import { retentionEnd } from '../../../../../src/server/domain/deposits/deposit-records.ts'

test.each([
  ['2026-01-31T10:00:00.000Z', 'P1D', '2026-02-01T10:00:00.000Z'],
  ['2026-01-31T10:00:00.000Z', 'P1M', '2026-02-28T10:00:00.000Z'],
  ['2028-02-29T10:00:00.000Z', 'P1Y', '2029-02-28T10:00:00.000Z'],
  ['2026-11-30T23:59:59.000Z', 'P18M', '2028-05-30T23:59:59.000Z'],
  ['2026-11-22T00:00:00.000Z', 'P999D', '2029-08-17T00:00:00.000Z'],
  ['2026-11-22T00:00:00.000Z', 'P999Y', '3025-11-22T00:00:00.000Z']
])('what is stored from %s for %s ends at %s', (from, retention, end) => {
  expect(retentionEnd(new Date(from), retention).toISOString()).toBe(end)
})

test.each(['', 'P0D', '10Y', 'P1W', 'P1Y6M', 'PT1H', 'P1000D'])('refuses %j', retention => {
  expect(() => retentionEnd(new Date(0), retention)).toThrow('not a duration')
})
