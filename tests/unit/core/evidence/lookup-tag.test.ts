import { expect, test } from 'vitest'
import { toUtf8 } from '../../../../src/core/bytes.ts'
import { parseDigest } from '../../../../src/core/evidence/formats.ts'
import { lookupTag } from '../../../../src/core/evidence/lookup-tag.ts'
import { counted, fileDigest, lookupKey } from './vectors.ts'

const digest = parseDigest(fileDigest)

test('gives the published tags', () => {
  expect(lookupTag(lookupKey, 'sha256', digest)).toEqual({
    scheme: 1,
    keyVersion: 1,
    tag: 'JbY8ezqyI8dU7rEuQFZkIBNE5kKhN5c7F9amhdrp9Zs'
  })
  expect(lookupTag(lookupKey, 'blob', digest).tag).toBe(
    '4xxVB5q408yEM9aoqc_SFZ4K0TnFvLGbIzQcetGL9vI'
  )
})

test('differs by key, kind, register and input, and carries the key’s version', () => {
  const tags = [
    lookupTag(lookupKey, 'sha256', digest),
    lookupTag({ version: 2, key: counted(0x41) }, 'sha256', digest),
    lookupTag(lookupKey, 'blob', digest),
    lookupTag(lookupKey, 'row/UFFSU1RVVldYWVpbXF1eXw', toUtf8('A-001')),
    lookupTag(lookupKey, 'row/EBESExQVFhcYGRobHB0eHw', toUtf8('A-001')),
    lookupTag(lookupKey, 'sha256', counted(0))
  ]
  expect(new Set(tags.map(({ tag }) => tag)).size).toBe(tags.length)
  expect(tags[1]?.keyVersion).toBe(2)
})

test('takes raw digest bytes and a whole key only', () => {
  expect(() => lookupTag(lookupKey, 'sha256', toUtf8(fileDigest))).toThrow('32 bytes')
  expect(() => lookupTag({ version: 1, key: new Uint8Array(16) }, 'blob', digest)).toThrow(
    '32 bytes'
  )
})
