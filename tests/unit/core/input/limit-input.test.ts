import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatRequestLimitInput,
  formatStorageLimitInput,
  parseRequestLimit,
  parseStorageLimit
} from '../../../../src/core/input/limit-input.ts'
import '../../../helpers/soak.ts'

const locales = ['en', 'fr'] as const

test.each([
  ['100', 100],
  [' 1 000 ', 1000],
  ['1,000', 1000],
  ['1.000', 1000],
  ['1,000,000', 1_000_000],
  ['1.000.000', 1_000_000],
  ['1\u202f000', 1000],
  ['1\u00a0000\u00a0000', 1_000_000],
  ['1’000', 1000],
  ['10k', 10_000],
  ['10 K', 10_000],
  ['1.5k', 1500],
  ['1,5 k', 1500],
  ['2M', 2_000_000],
  ['10 mille', 10_000],
  ['２００', 200],
  ['2.0', 2],
  ['0', 0],
  ['-3', 0],
  ['−3', 0],
  ['-1,000', 0],
  ['-1.5', 0],
  ['+3', 3],
  ['', null],
  ['  ', null],
  ['9'.repeat(30), Number.MAX_SAFE_INTEGER]
] as const)('reads %j as a limit of %s requests', (text, limit) => {
  expect(parseRequestLimit(text)).toEqual({ limit })
})

test.each(['1.5', '1,5', '2.9', '.5', '0.500', '1,000.9', '1.000,5', '1,000.500', '1.0005k'])(
  'refuses %j, because a part of a request cannot be counted',
  text => {
    expect(parseRequestLimit(text)).toEqual({ limit: null, problem: 'integer' })
  }
)

test.each([
  'x',
  'ten',
  '1,0,0',
  '1 5',
  '10,00,000',
  '1e9',
  'Infinity',
  '10 k docs',
  '5 GB',
  '-',
  '.'
])('does not read %j as a number of requests', text => {
  expect(parseRequestLimit(text)).toEqual({ limit: null, problem: 'numeric' })
})

test.each([
  ['en', '1', 1_000_000_000],
  ['en', '1.5', 1_500_000_000],
  ['en', '1,5', 1_500_000_000],
  ['en', '1,000', 1_000_000_000_000],
  ['en', '1.000', 1_000_000_000],
  ['en', '0,500', 500_000_000],
  ['fr', '1,5', 1_500_000_000],
  ['fr', '1.5', 1_500_000_000],
  ['fr', '1,000', 1_000_000_000],
  ['fr', '1.000', 1_000_000_000_000],
  ['fr', '1.000,5', 1_000_500_000_000],
  ['fr', '1 000,5', 1_000_500_000_000],
  ['en', '1.000,5', 1_000_500_000_000],
  ['fr', '1,000.5', 1_000_500_000_000],
  ['en', '0.000000001', 1],
  ['en', '0.0000000019', 1],
  ['en', '.5', 500_000_000],
  ['en', '-2', 0],
  ['en', '9'.repeat(30), Number.MAX_SAFE_INTEGER]
] as const)('reads in %s %j gigabytes as %s bytes', (locale, text, limit) => {
  expect(parseStorageLimit(text, locale)).toEqual({ limit })
})

test.each([
  ['500 MB', 500_000_000],
  ['500 Mo', 500_000_000],
  ['500mb', 500_000_000],
  ['2 To', 2_000_000_000_000],
  ['1 TB', 1_000_000_000_000],
  ['10 G', 10_000_000_000],
  ['1,000,000 kB', 1_000_000_000],
  ['1.000.000 ko', 1_000_000_000],
  ['1 000 octets', 1000],
  ['12 B', 12],
  ['1 MiB', 1_048_576],
  ['', null]
] as const)('reads %j as a storage limit of %s bytes in both languages', (text, limit) => {
  for (const locale of locales) expect(parseStorageLimit(text, locale)).toEqual({ limit })
})

test.each([
  ['en', '1.5 TB', 1_500_000_000_000],
  ['fr', '1,5 To', 1_500_000_000_000],
  ['en', '1.500 GB', 1_500_000_000],
  ['fr', '1.500 Go', 1_500_000_000_000]
] as const)('reads in %s a single sign as that language does: %j', (locale, text, limit) => {
  expect(parseStorageLimit(text, locale)).toEqual({ limit })
})

test.each(['many', '1.5.0', '5 apples', '1 ib', 'GB', '1e9', '1 GB 2'])(
  'does not read %j as a storage limit',
  text => {
    for (const locale of locales)
      expect(parseStorageLimit(text, locale)).toEqual({ limit: null, problem: 'numeric' })
  }
)

test.each(['en', 'fr'] as const)('reads back what it has written, in %s', locale => {
  const requests = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
  const bytes = fc.oneof(fc.integer({ min: 0, max: 10_000 }), requests)
  fc.assert(
    fc.property(fc.option(requests), fc.option(bytes), (count, size) => {
      expect(parseRequestLimit(formatRequestLimitInput(count, locale))).toEqual({ limit: count })
      expect(parseStorageLimit(formatStorageLimitInput(size, locale), locale)).toEqual({
        limit: size
      })
    })
  )
})

test('writes as people read', () => {
  expect(formatRequestLimitInput(1_000_000, 'en')).toBe('1,000,000')
  expect(formatRequestLimitInput(1_000_000, 'fr')).toBe('1\u00a0000\u00a0000')
  expect(formatStorageLimitInput(1_234_500_000_000, 'en')).toBe('1,234.5')
  expect(formatStorageLimitInput(10, 'fr')).toBe('0,00000001')
})
