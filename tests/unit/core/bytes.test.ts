import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  areEqualBytes,
  concatBytes,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  toBase64,
  toBase64Url,
  toHex,
  toUtf8
} from '../../../src/core/bytes.ts'
import '../../helpers/soak.ts'

const bytes = fc.uint8Array({ maxLength: 80 })

describe('base64url', () => {
  test('agrees with the runtime on every input', () => {
    fc.assert(
      fc.property(bytes, value => {
        expect(toBase64Url(value)).toBe(Buffer.from(value).toString('base64url'))
        expect(fromBase64Url(toBase64Url(value))).toEqual(value)
      })
    )
  })

  test('gives a value one spelling: what decodes, encodes to the same text', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'ABab01+/-_= \n.é'),
      maxLength: 12
    })
    fc.assert(
      fc.property(text, value => {
        expect(respelled(value, fromBase64Url, toBase64Url)).toBeOneOf([value, undefined])
      }),
      { numRuns: 2_000 }
    )
  })

  test.each(['A', 'AAAAA', 'AA==', '=', 'AB', 'AAB', '+/8', 'AA AA', 'AAAA\n', 'ÀÀÀÀ'])(
    'refuses %j',
    text => {
      expect(() => fromBase64Url(text)).toThrow('base64')
    }
  )
})

describe('base64', () => {
  test('is read as the runtime writes it, and in no other spelling', () => {
    fc.assert(
      fc.property(bytes, value => {
        const text = Buffer.from(value).toString('base64')
        expect(toBase64(value)).toBe(text)
        expect(fromBase64(text)).toEqual(value)
      })
    )
  })

  test.each([
    'A',
    'AA',
    'AA=',
    'AA==\n',
    'AAAA====',
    '====',
    'A===',
    'AB==',
    'AAB=',
    '-_8=',
    '=AAA'
  ])('refuses %j', text => {
    expect(() => fromBase64(text)).toThrow('base64')
  })
})

test('bytes are equal if all are', () => {
  expect(areEqualBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true)
  expect(areEqualBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false)
  expect(areEqualBytes(Uint8Array.of(1), Uint8Array.of(1, 2))).toBe(false)
})

describe('hex', () => {
  test('round trips', () => {
    fc.assert(
      fc.property(bytes, value => {
        expect(fromHex(toHex(value))).toEqual(value)
      })
    )
  })

  test.each(['a', 'AB', '0x', 'g0', ' 00', '00\n'])('refuses %j', text => {
    expect(() => fromHex(text)).toThrow('hex')
  })
})

describe('UTF-8', () => {
  test('round trips, a byte order mark included', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        expect(fromUtf8(toUtf8(text))).toBe(text)
      })
    )
    expect(fromUtf8(toUtf8('\uFEFFa'))).toBe('\uFEFFa')
  })

  test('refuses lone surrogates and invalid bytes', () => {
    expect(() => toUtf8('a\uD800')).toThrow('surrogate')
    expect(() => toUtf8('\uDC00\uD800')).toThrow('surrogate')
    expect(toUtf8('😀')).toHaveLength(4)
    expect(() => fromUtf8(Uint8Array.of(0xc3, 0x28))).toThrow()
    expect(() => fromUtf8(Uint8Array.of(0xed, 0xa0, 0x80))).toThrow()
  })
})

test('joins byte strings', () => {
  expect(concatBytes()).toEqual(new Uint8Array())
  expect(concatBytes(Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3))).toEqual(
    Uint8Array.of(1, 2, 3)
  )
})

function respelled(
  text: string,
  decode: (text: string) => Uint8Array,
  encode: (bytes: Uint8Array) => string
): string | undefined {
  try {
    return encode(decode(text))
  } catch {
    return undefined
  }
}
