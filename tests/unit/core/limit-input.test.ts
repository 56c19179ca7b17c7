import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  readRequestLimit,
  readStorageLimit,
  writeStorageLimit
} from '../../../src/core/limit-input.ts'

test.each([
  ['100', 100],
  [' 1 000 ', 1000],
  ['1\u202f000', 1000],
  ['0', 0],
  ['-3', 0],
  ['2.9', 2],
  ['', null],
  ['  ', null],
  ['x', null],
  ['1e9', null],
  ['Infinity', null],
  ['9'.repeat(30), Number.MAX_SAFE_INTEGER]
])('reads %j as a limit of %s requests', (text, limit) => {
  expect(readRequestLimit(text)).toBe(limit)
})

test.each([
  ['1', 1_000_000_000],
  ['1.5', 1_500_000_000],
  ['1,5', 1_500_000_000],
  ['0.000000001', 1],
  ['.5', 500_000_000],
  ['-2', 0],
  ['', null],
  ['many', null],
  ['9'.repeat(30), Number.MAX_SAFE_INTEGER]
])('reads %j gigabytes as %s bytes', (text, bytes) => {
  expect(readStorageLimit(text)).toBe(bytes)
})

test('writes bytes so that they are read again as they were', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000_000_000 }), bytes => {
      const text = writeStorageLimit(bytes)
      // below a ten-thousandth of a gigabyte JavaScript writes powers of ten
      fc.pre(!text.includes('e'))
      expect(readStorageLimit(text)).toBe(bytes)
    })
  )
  expect(writeStorageLimit(null)).toBe('')
})
