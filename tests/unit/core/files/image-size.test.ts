import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shrinkToFit } from '../../../../src/core/files/image-size.ts'
import '../../../helpers/soak.ts'

const box = { w: 600, h: 600 }

test.each([
  [
    { w: 4000, h: 3000 },
    { w: 600, h: 450 }
  ],
  [
    { w: 3000, h: 4000 },
    { w: 450, h: 600 }
  ],
  [
    { w: 600, h: 600 },
    { w: 600, h: 600 }
  ],
  [
    { w: 320, h: 200 },
    { w: 320, h: 200 }
  ],
  [
    { w: 601, h: 10 },
    { w: 600, h: 10 }
  ],
  [
    { w: 30_000, h: 1 },
    { w: 600, h: 1 }
  ]
])('fits %o into the box as %o', (size, expected) => {
  expect(shrinkToFit(size, box)).toEqual(expected)
})

test('stays inside the box, keeps the ratio to a pixel and enlarges nothing', () => {
  const length = fc.integer({ min: 1, max: 50_000 })
  fc.assert(
    fc.property(length, length, (w, h) => {
      const fitted = shrinkToFit({ w, h }, box)
      expect(fitted.w).toBeLessThanOrEqual(Math.min(w, box.w))
      expect(fitted.h).toBeLessThanOrEqual(Math.min(h, box.h))
      const long = w >= h ? fitted.w : fitted.h
      const short = w >= h ? fitted.h : fitted.w
      const ratio = Math.min(w, h) / Math.max(w, h)
      expect(Math.abs(short - Math.max(1, long * ratio))).toBeLessThanOrEqual(1)
    })
  )
})
