import { afterEach, expect, test, vi } from 'vitest'
import { isReduciblePicture } from '../../../src/workers/image-client.ts'

afterEach(() => vi.unstubAllGlobals())

test.each([
  [1_000_000, 'image/jpeg', false],
  [1_000_001, 'image/jpeg', true],
  [1_000_001, 'image/png', true],
  [1_000_001, 'image/avif', true],
  [1_000_001, 'image/bmp', true],
  [1_000_001, 'image/gif', true],
  [1_000_001, 'image/svg+xml', false],
  [1_000_001, 'application/pdf', false]
])('of %d bytes and type %s: reduced before it is sent: %s', (size, type, expected) => {
  expect(isReduciblePicture({ size, type })).toBe(expected)
})

test('a picture is fitted into 600 × 600 and written with quality 0.7', async () => {
  const asked: unknown[] = []
  let pixels = [200, 100, 50, 255]
  const blob = new Blob(['less'], { type: 'image/jpeg' })
  const context = {
    fillRect: () => {},
    drawImage: () => {},
    getImageData: () => ({ data: new Uint8ClampedArray(pixels) })
  }
  class Canvas {
    constructor(width: number, height: number) {
      asked.push([width, height])
    }
    getContext = () => context
    convertToBlob = async (options: unknown) => {
      asked.push(options)
      return blob
    }
  }
  const from = { width: 4000, height: 3000 }
  vi.stubGlobal('createImageBitmap', async () => ({ ...from, close: () => {} }))
  vi.stubGlobal('OffscreenCanvas', Canvas)
  let hear: ((event: { data: Blob }) => void) | undefined
  vi.stubGlobal('addEventListener', (_type: string, listener: typeof hear) => {
    hear = listener
  })
  const reduce = () => {
    const answered = new Promise(resolve => vi.stubGlobal('postMessage', resolve))
    hear?.({ data: new Blob(['more']) })
    return answered
  }
  await import('../../../src/workers/image.ts')
  expect(await reduce()).toEqual({
    kind: 'done',
    result: { blob, from: { w: 4000, h: 3000 }, to: { w: 600, h: 450 } }
  })
  expect(asked).toEqual([[600, 450], { type: 'image/jpeg', quality: 0.7 }])

  // a white drawing on nothing would be white on white
  pixels = [255, 255, 255, 255, 0, 0, 0, 0]
  expect(await reduce()).toEqual({ kind: 'done', result: undefined })
})
