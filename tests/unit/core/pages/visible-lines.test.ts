import fc from 'fast-check'
import { expect, test } from 'vitest'
import { measureLines, visibleLineRange } from '../../../../src/core/pages/visible-lines.ts'
import '../../../helpers/soak.ts'

test('draws every line that the window touches, and few others', () => {
  const heights = fc.array(fc.integer({ min: 20, max: 100 }), { maxLength: 300 })
  const place = fc.integer({ min: -1000, max: 20_000 })
  fc.assert(
    fc.property(heights, place, fc.integer({ min: 1, max: 2000 }), (all, from, height) => {
      const lines = measureLines(all.length, at => all[at] ?? 0)
      const { start, end } = visibleLineRange(lines, from, from + height)
      expect(lines.topOf(all.length)).toBe(all.reduce((sum, each) => sum + each, 0))
      for (let at = 0; at < all.length; at++) {
        const isTouched = lines.topOf(at) < from + height && lines.topOf(at + 1) > from
        if (isTouched) expect(at >= start && at < end, `line ${at}`).toBe(true)
      }
      expect(end - start).toBeLessThanOrEqual(height / 20 + 20)
    })
  )
})
