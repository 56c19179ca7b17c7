import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { parseDigest } from '../../../../../src/core/evidence/formats.ts'
import { keyedHashOf } from '../../../../../src/server/domain/evidence/keyed-hashes.ts'
import { countingBytes, fileDigest, lookupKey } from '../../../core/evidence/vectors.ts'

const key = createSecretKey(lookupKey)
const digest = parseDigest(fileDigest)

test.for([
  ['sha256', 'JbY8ezqyI8dU7rEuQFZkIBNE5kKhN5c7F9amhdrp9Zs'],
  ['blob', '4xxVB5q408yEM9aoqc_SFZ4K0TnFvLGbIzQcetGL9vI']
] as const)('makes the %s tag that is published', ([kind, tag]) => {
  expect(keyedHashOf(key, kind, digest).toString('base64url')).toBe(tag)
  expect(keyedHashOf(key, kind, countingBytes(0)).toString('base64url')).not.toBe(tag)
  const others = createSecretKey(countingBytes(0x41))
  expect(keyedHashOf(others, kind, digest).toString('base64url')).not.toBe(tag)
  expect(() => keyedHashOf(key, kind, digest.subarray(1))).toThrow('32 bytes')
})
