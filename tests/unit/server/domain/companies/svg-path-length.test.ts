import { describe, expect, test } from 'vitest'
import { pathLengthAtMost } from '../../../../../src/server/domain/companies/svg-path-length.ts'

describe('the length of a path', () => {
  test.each([
    ['M0 0 3 4', 5],
    ['m1 1h2v3z', 2 + 3 + Math.hypot(2, 3) + Math.SQRT2],
    ['M9 0H0zH0z', 9 * 5],
    ['M0 0Q1 1 2 0T4 0', 4 * Math.SQRT2],
    ['M0 0C0 3 4 3 4 0S8-3 8 0', 20],
    ['M0 0a1 1 0 012 0', 2 * Math.PI + 2],
    ['M0 0A1 9 0 0 1 4 0', 2 * Math.PI * 9 * 2 + 4],
    ['M1e1 0L0 0', 20],
    ['', 0],
    ['M0 0L5 !', Number.POSITIVE_INFINITY],
    ['none', Number.POSITIVE_INFINITY]
  ])('is at most: %s', (d, length) => {
    expect(pathLengthAtMost(d)).toBeCloseTo(length)
  })

  test('is read in little time', () => {
    const from = performance.now()
    expect(pathLengthAtMost(`M${'1'.repeat(60_000)}!`)).toBe(Number.POSITIVE_INFINITY)
    pathLengthAtMost(`M0 0A${'1'.repeat(60_000)}`)
    pathLengthAtMost('M1e'.repeat(20_000))
    expect(performance.now() - from).toBeLessThan(1000)
  })
})
