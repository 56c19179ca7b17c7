import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatRequestLimitInput,
  formatStorageLimitInput,
  parseRequestLimit,
  parseStorageLimit
} from '../../../../src/core/input/limit-input.ts'
import '../../../helpers/soak.ts'

test.each([
  ['en', '100', 100],
  ['en', ' 1 000 ', 1000],
  ['en', '1,000', 1000],
  ['en', '1,000,000', 1_000_000],
  ['en', '1,000.9', 1000],
  ['en', '-1,000', 0],
  ['fr', '1\u202f000', 1000],
  ['fr', '1\u00a0000\u00a0000', 1_000_000],
  ['fr', '1.000.000', 1_000_000],
  ['fr', '1,5', 1],
  ['en', '0', 0],
  ['en', '-3', 0],
  ['en', '2.9', 2],
  ['en', '', null],
  ['en', '  ', null],
  ['en', 'x', null],
  ['en', '1,0,0', null],
  ['fr', '1,000,000', null],
  ['en', '1e9', null],
  ['en', 'Infinity', null],
  ['en', '9'.repeat(30), Number.MAX_SAFE_INTEGER]
] as const)('reads in %s %j as a limit of %s requests', (locale, text, limit) => {
  expect(parseRequestLimit(text, locale)).toBe(limit)
})

test.each([
  ['en', '1', 1_000_000_000],
  ['en', '1.5', 1_500_000_000],
  ['en', '1,5', 1_500_000_000],
  ['en', '1,000', 1_000_000_000_000],
  ['en', '1.000', 1_000_000_000],
  ['fr', '1,5', 1_500_000_000],
  ['fr', '1.5', 1_500_000_000],
  ['fr', '1,000', 1_000_000_000],
  ['fr', '1.000,5', 1_000_500_000_000],
  ['en', '0.000000001', 1],
  ['en', '.5', 500_000_000],
  ['en', '-2', 0],
  ['en', '', null],
  ['en', 'many', null],
  ['en', '1.5.0', null],
  ['en', '9'.repeat(30), Number.MAX_SAFE_INTEGER]
] as const)('reads in %s %j gigabytes as %s bytes', (locale, text, bytes) => {
  expect(parseStorageLimit(text, locale)).toBe(bytes)
})

test.each(['en', 'fr'] as const)('reads back what it has written, in %s', locale => {
  const requests = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  const bytes = fc.oneof(fc.integer({ min: 0, max: 10_000 }), requests)
  fc.assert(
    fc.property(fc.option(requests), fc.option(bytes), (count, size) => {
      expect(parseRequestLimit(formatRequestLimitInput(count, locale), locale)).toBe(count)
      expect(parseStorageLimit(formatStorageLimitInput(size, locale), locale)).toBe(size)
    })
  )
})

test('writes as people read', () => {
  expect(formatRequestLimitInput(1_000_000, 'en')).toBe('1,000,000')
  expect(formatRequestLimitInput(1_000_000, 'fr')).toBe('1\u00a0000\u00a0000')
  expect(formatStorageLimitInput(1_234_500_000_000, 'en')).toBe('1,234.5')
  expect(formatStorageLimitInput(10, 'fr')).toBe('0,00000001')
})
