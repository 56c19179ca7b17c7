import { createSecretKey } from 'node:crypto'
import { expect, test } from 'vitest'
import { fromBase64Url } from '../../../../../src/core/bytes.ts'
import { lookupTag } from '../../../../../src/core/evidence/lookup-tag.ts'
import { keyedHashOf } from '../../../../../src/server/domain/evidence/company-keys.ts'
import { counted, lookupKey } from '../../../core/evidence/vectors.ts'

test.for(['sha256', 'blob'] as const)('makes the %s tag that is published', kind => {
  const key = createSecretKey(lookupKey.key)
  const digest = counted(0)
  const { tag } = lookupTag(lookupKey, kind, digest)
  expect(keyedHashOf(key, kind, digest)).toEqual(Buffer.from(fromBase64Url(tag)))
  expect(() => keyedHashOf(key, kind, digest.subarray(1))).toThrow('32 bytes')
})
