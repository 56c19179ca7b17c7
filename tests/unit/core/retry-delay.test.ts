import { expect, test } from 'vitest'
import { retryDelayMs } from '../../../src/core/retry-delay.ts'

test('waits 0, 1, 3, 5, 10 and 20 seconds, a fifth more or less, and no seventh time', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7].map(failures => retryDelayMs(failures, 0.5))
  expect(delays).toEqual([0, 1000, 3000, 5000, 10_000, 20_000, undefined])
  expect(retryDelayMs(5, 0)).toBe(8000)
  expect(retryDelayMs(5, 1)).toBe(12_000)
})
