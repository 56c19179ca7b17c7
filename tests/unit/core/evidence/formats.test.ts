import { expect, test } from 'vitest'
import { fromUtf8 } from '../../../../src/core/bytes.ts'
import {
  createHashInputPrefix,
  formatDigest,
  formatTimestamp,
  isRecordId,
  isTimestamp,
  parseDigest
} from '../../../../src/core/evidence/formats.ts'

test('separates the domains of hashes by zero bytes that no name may hold', () => {
  expect(fromUtf8(createHashInputPrefix('commit', 'a', 'b'))).toBe('vidimus/v1/commit\0a\0b\0')
  expect(() => createHashInputPrefix('commit', 'a\0b')).toThrow('zero byte')
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
  expect(formatTimestamp(new Date('2026-11-20T09:28:15.999Z'))).toBe('2026-11-20T09:28:15Z')
  expect(isTimestamp('2028-02-29T23:59:59Z')).toBe(true)
  expect(() => formatTimestamp(new Date('+012026-01-01T00:00:00Z'))).toThrow('year')
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
    expect(isTimestamp(wrong)).toBe(false)
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
