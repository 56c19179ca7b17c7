import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isStillPicture,
  shrinkToFit,
  vanishesOnWhite
} from '../../../../src/core/files/pictures.ts'
import '../../../helpers/soak.ts'

const text = (letters: string) => Buffer.from(letters, 'latin1')
const frame = Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0])
const delay = Buffer.from([0x21, 0xf9, 4, 0, 0, 0, 0, 0])
const gif = (...blocks: Buffer[]) =>
  Buffer.concat([
    text('GIF89a'),
    Buffer.from([1, 0, 1, 0, 0x80, 0, 0, ...new Array(6).fill(0)]),
    ...blocks
  ])
const chunk = (name: string, length = 0) =>
  Buffer.concat([Buffer.from([0, 0, 0, length]), text(name), Buffer.alloc(length + 4)])
const png = (...chunks: Buffer[]) => Buffer.concat([text('\x89PNG\r\n\x1a\n'), ...chunks])
const webp = (flags: number) =>
  Buffer.concat([text('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0'), Buffer.from([flags, 0, 0, 0])])
const tiff = (next: number) =>
  Buffer.concat([
    text('II*\0'),
    Buffer.from([8, 0, 0, 0, 1, 0]),
    Buffer.alloc(12),
    Buffer.from([next, 0, 0, 0])
  ])

test.each([
  ['a GIF of one frame', gif(delay, frame, Buffer.from([0x3b])), true],
  ['a GIF of two frames', gif(delay, frame, delay, frame, Buffer.from([0x3b])), false],
  ['a PNG', png(chunk('IHDR', 13), chunk('IDAT', 9)), true],
  ['an animated PNG', png(chunk('IHDR', 13), chunk('acTL', 8), chunk('IDAT', 9)), false],
  ['a WebP', webp(0x10), true],
  ['an animated WebP', webp(0x12), false],
  ['an AVIF', text('\0\0\0\x1cftypavif'), true],
  ['a sequence of AVIF', text('\0\0\0\x1cftypavis'), false],
  ['a TIFF of one page', tiff(0), true],
  ['a TIFF of two pages', tiff(90), false],
  ['a JPEG', text('\xff\xd8\xff\xe0'), true],
  ['nothing', new Uint8Array(), true]
])('%s: one picture and no more: %s', (_name, bytes, expected) => {
  expect(isStillPicture(bytes)).toBe(expected)
})

test('ends on whatever stands behind a first word that it knows', () => {
  for (const start of ['GIF89a', '\x89PNG\r\n\x1a\n', 'RIFF', '\0\0\0\0ftyp', 'II*\0', 'MM\0*']) {
    for (const byte of [0, 0x21, 0x2c, 0xff]) {
      const bytes = Buffer.concat([text(start), Buffer.alloc(500, byte)])
      expect(isStillPicture(bytes)).toBeTypeOf('boolean')
    }
  }
})

test('knows a photo with a video, which phones append to it', () => {
  const photo = [0xff, 0xd8, 0xff, 0xe0, ...Array(40).fill(7), 0xff, 0xd9]
  const video = [0, 0, 0, 0x18, ...Buffer.from('ftypmp42'), 0, 0, 0, 0]
  const box = (name: string, size: number) => [
    0,
    0,
    0,
    size,
    ...Buffer.from(name),
    ...Array(size - 8).fill(0)
  ]
  const heic = [0, 0, 0, 16, ...Buffer.from('ftypheic'), 0, 0, 0, 0, ...box('meta', 20)]
  const isStill = (bytes: number[]) => isStillPicture(new Uint8Array(bytes))
  expect(isStill(photo)).toBe(true)
  expect(isStill([...photo, ...Buffer.from('a text about ftypes')])).toBe(true)
  expect(isStill([...photo, ...video])).toBe(false)
  expect(isStill([...heic, ...box('mdat', 12)])).toBe(true)
  expect(isStill([...heic, ...box('mdat', 12), ...box('mpvd', 12)])).toBe(false)
})

test.each([
  ['a white drawing on nothing', [255, 255, 255, 255], [0, 0, 0, 0], true],
  ['a black drawing on nothing', [0, 0, 0, 255], [0, 0, 0, 0], false],
  ['a white drawing on blue', [255, 255, 255, 255], [0, 0, 255, 255], false],
  ['nothing at all', [0, 0, 0, 0], [0, 0, 0, 0], false]
])('knows what would vanish on white: %s', (_name, one, other, expected) => {
  expect(vanishesOnWhite(new Uint8ClampedArray([...one, ...other]))).toBe(expected)
})

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
