import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { drawSeal, type SealDrawing } from '../../../../src/core/evidence/seal-drawing.ts'

const leafHash = '0123456789abcdef'.repeat(4)

describe('a seal', () => {
  test('spells the leaf hash, a tick for each digit, clockwise from the top', () => {
    const drawing = drawSeal({ kind: 'sealed', leafHash })
    expect(drawing.ticks).toHaveLength(64)
    expect(lengths(drawing)).toEqual([...leafHash].map(digit => 3 + 0.75 * Number(`0x${digit}`)))
    expect(drawing.ticks[0]).toBe('M50 16L50 13')
    expect(drawing.ticks[16]).toBe('M84 50L87 50')
    expect(drawing.ticks[32]).toBe('M50 84L50 87')
    expect(drawing.ticks[48]).toBe('M16 50L13 50')
    expect(drawing).toMatchObject({ tone: 'wax', mark: expect.stringMatching(/^M/) })
  })

  test('is another one for another record, and the same for the same', () => {
    const other = `1${leafHash.slice(1)}`
    expect(drawSeal({ kind: 'sealed', leafHash })).toEqual(drawSeal({ kind: 'sealed', leafHash }))
    expect(drawSeal({ kind: 'sealed', leafHash }).ticks).not.toEqual(
      drawSeal({ kind: 'sealed', leafHash: other }).ticks
    )
  })

  test('has 16 ticks when it is small', () => {
    const drawing = drawSeal({ kind: 'sealed', leafHash }, 16)
    // lengths are read from coordinates of two digits
    expect(lengths(drawing).map(length => Math.round(10 * length) / 10)).toEqual(
      Array.from({ length: 4 }, () => [1, 8.2, 15.3, 22.5]).flat()
    )
    expect(drawing.ticks[0]).toBe('M50 27L50 26')
    expect(drawSeal({ kind: 'idle' }, 16).ticks).toHaveLength(16)
  })

  test('differs visibly at 28 px in 99 of 100 pairs of records', () => {
    const px = 28 / 100
    const drawn = (record: number) => {
      const leafHash = createHash('sha256').update(`record ${record}`).digest('hex')
      return lengths(drawSeal({ kind: 'sealed', leafHash }, 16))
    }
    const pairs = Array.from({ length: 1000 }, (_, at) => [drawn(2 * at), drawn(2 * at + 1)])
    const visibly = pairs.filter(([one = [], other = []]) => {
      const differences = one.map((length, at) => px * Math.abs(length - (other[at] ?? length)))
      return differences.filter(difference => difference > 1.95).length >= 8
    })
    expect(visibly.length / pairs.length).toBeGreaterThanOrEqual(0.99)
    for (const tick of drawn(1)) expect(23 + tick).toBeLessThan(48)
  })

  test('has no shape and no mark before there is a record', () => {
    for (const state of [
      { kind: 'idle' },
      { kind: 'even' },
      { kind: 'hashing', progress: 0.5 },
      { kind: 'uploading', progress: 0.5 },
      { kind: 'recording' },
      { kind: 'recorded' }
    ] as const) {
      const drawing = drawSeal(state)
      expect(drawing).toMatchObject({ mark: '', tone: 'ink' })
      expect(new Set(lengths(drawing).filter(length => length > 0)).size).toBeLessThanOrEqual(1)
    }
    expect(lengths(drawSeal({ kind: 'idle' })).every(length => length === 0)).toBe(true)
  })

  test('grows tick by tick while the fingerprint is taken', () => {
    const drawn = (progress: number) =>
      lengths(drawSeal({ kind: 'hashing', progress })).filter(length => length > 0).length
    expect([-1, 0, 0.015, 1 / 64, 0.5, 0.999, 1, 2].map(drawn)).toEqual([
      0, 0, 0, 1, 32, 63, 64, 64
    ])
  })

  test('fills its ring while bytes go up', () => {
    const filled = (progress: number) => drawSeal({ kind: 'uploading', progress }).ring.filled
    expect(filled(0)).toBe('')
    expect(filled(0.25)).toBe('M50 22A28 28 0 0 1 69.8 30.2A28 28 0 0 1 78 50')
    expect(filled(0.5)).toBe('M50 22A28 28 0 0 1 78 50A28 28 0 0 1 50 78')
    expect(filled(1)).toBe('M50 22A28 28 0 0 1 50 78A28 28 0 0 1 50 22')
    expect(filled(1)).toBe(drawSeal({ kind: 'recorded' }).ring.filled)
    expect(filled(0.3)).not.toContain('NaN')
    expect(drawSeal({ kind: 'idle' }).ring).toEqual({ track: filled(1), filled: '' })
  })

  test('stays inside its 100 by 100 box', () => {
    const { ticks } = drawSeal({ kind: 'sealed', leafHash: 'f'.repeat(64) })
    const numbers =
      ticks
        .join(' ')
        .match(/[0-9.]+/g)
        ?.map(Number) ?? []
    expect(Math.min(...numbers)).toBeGreaterThan(1)
    expect(Math.max(...numbers)).toBeLessThan(99)
  })

  test.each(['', 'F'.repeat(64), 'f'.repeat(63), `sha256:${'f'.repeat(57)}`])(
    'is not drawn from %j',
    text => {
      expect(() => drawSeal({ kind: 'sealed', leafHash: text })).toThrow('leaf hash')
    }
  )
})

function lengths({ ticks }: SealDrawing): number[] {
  return ticks.map(path => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = path.match(/[0-9.]+/g)?.map(Number) ?? []
    return Math.round(Math.hypot(x2 - x1, y2 - y1) * 20) / 20
  })
}
