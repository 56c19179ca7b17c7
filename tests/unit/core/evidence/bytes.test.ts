import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  concat,
  domain,
  formatDigest,
  formatTime,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  isRecordId,
  isTime,
  parseDigest,
  toBase64,
  toBase64Url,
  toHex,
  toUtf8
} from '../../../../src/core/evidence/bytes.ts'
import '../../../helpers/counts.ts'

const bytes = fc.uint8Array({ maxLength: 80 })

describe('base64', () => {
  test('agrees with the runtime on every input', () => {
    fc.assert(
      fc.property(bytes, value => {
        expect(toBase64(value)).toBe(Buffer.from(value).toString('base64'))
        expect(toBase64Url(value)).toBe(Buffer.from(value).toString('base64url'))
        expect(fromBase64(toBase64(value))).toEqual(value)
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
        expect(respelled(value, fromBase64, toBase64)).toBeOneOf([value, undefined])
        expect(respelled(value, fromBase64Url, toBase64Url)).toBeOneOf([value, undefined])
      }),
      { numRuns: 2_000 }
    )
  })

  test.each([
    'A',
    'AA',
    'AAA',
    'AA=',
    'AA===',
    'A===',
    '====',
    '=',
    'AB==',
    'AAB=',
    'AA==AA==',
    '-_8=',
    'AA AA',
    'AAAA\n',
    'ÀÀÀÀ'
  ])('refuses %j as base64', text => {
    expect(() => fromBase64(text)).toThrow('base64')
  })

  test.each(['A', 'AAAAA', 'AA==', 'AB', 'AAB', '+/8', 'AA AA', 'AAAA\n', 'ÀÀÀÀ'])(
    'refuses %j as base64url',
    text => {
      expect(() => fromBase64Url(text)).toThrow('base64')
    }
  )
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
  expect(concat()).toEqual(new Uint8Array())
  expect(concat(Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3))).toEqual(
    Uint8Array.of(1, 2, 3)
  )
})

test('separates the domains of hashes by zero bytes that no name may hold', () => {
  expect(fromUtf8(domain('commit', 'a', 'b'))).toBe('vidimus/v1/commit\0a\0b\0')
  expect(() => domain('commit', 'a\0b')).toThrow('zero byte')
})

test('spells a digest in one way', () => {
  const text = `sha256:${'0f'.repeat(32)}`
  expect(formatDigest(parseDigest(text))).toBe(text)
  expect(() => formatDigest(new Uint8Array(31))).toThrow()
  for (const wrong of [
    text.toUpperCase(),
    text.slice(0, -1),
    `${text}0`,
    `${text}\n`,
    '',
    'sha512:00'
  ])
    expect(() => parseDigest(wrong)).toThrow('digest')
})

test('spells a time in one way', () => {
  expect(formatTime(new Date('2026-11-20T09:28:15.999Z'))).toBe('2026-11-20T09:28:15Z')
  expect(isTime('2028-02-29T23:59:59Z')).toBe(true)
  expect(() => formatTime(new Date('+012026-01-01T00:00:00Z'))).toThrow('year')
  for (const wrong of [
    '',
    '2026-11-20',
    '2026-11-20T09:28:15.000Z',
    '2026-11-20T09:28:15+00:00',
    '2026-02-29T00:00:00Z',
    '2026-02-31T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T09:28:60Z'
  ])
    expect(isTime(wrong)).toBe(false)
})

test('knows a record id', () => {
  expect(isRecordId('AAECAwQFBgcICQoLDA0ODw')).toBe(true)
  for (const wrong of [
    '',
    'AAECAwQFBgcICQoLDA0ODx',
    'AAECAwQFBgcICQoLDA0OD',
    'AAECAwQFBgcICQoLDA0OD+'
  ])
    expect(isRecordId(wrong)).toBe(false)
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
