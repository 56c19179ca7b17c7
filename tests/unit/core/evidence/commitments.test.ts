import { sha256 } from '@noble/hashes/sha2.js'
import { expect, test } from 'vitest'
import { toBase64Url } from '../../../../src/core/bytes.ts'
import { createCommitment, deriveLinkSalts } from '../../../../src/core/evidence/commitments.ts'
import { formatDigest } from '../../../../src/core/evidence/formats.ts'
import {
  exampleFile,
  exampleRecordId,
  exampleSalt,
  exampleValues,
  fileDigest,
  leaf,
  linkKey,
  origin
} from './vectors.ts'

const example = {
  origin,
  id: exampleRecordId,
  name: 'orig',
  salt: deriveLinkSalts(linkKey).orig,
  value: fileDigest
}

test('gives the published fingerprint and salts', () => {
  expect(formatDigest(sha256(exampleFile))).toBe(fileDigest)
  expect(toBase64Url(deriveLinkSalts(linkKey).orig)).toBe(
    'wDoaRb7OJxxrQPg7r2oOUzLCMFjeaixtaa23TiIVvZM'
  )
  expect(toBase64Url(deriveLinkSalts(linkKey).stored)).toBe(
    'plKnflYOqOlxnHIr8Lk27E0wIfGiagk7erlARnEnIr0'
  )
})

test('gives the published commitment of every field', () => {
  expect(createCommitment(example)).toBe('QLX_HEIQw8MSYBR70qhVoqp4PjztjWlm2vzhOpKNQi0')
  const published = JSON.parse(leaf).c
  for (const [name, value] of Object.entries(exampleValues)) {
    const salt = new Map(Object.entries(deriveLinkSalts(linkKey))).get(name) ?? exampleSalt(name)
    expect([name, createCommitment({ origin, id: exampleRecordId, name, salt, value })]).toEqual([
      name,
      published[name]
    ])
  }
})

test('changes with every part', () => {
  const others = [
    { ...example, origin: 'other.example/log' },
    { ...example, id: 'EBESExQVFhcYGRobHB0eHw' },
    { ...example, name: 'stored' },
    { ...example, salt: deriveLinkSalts(linkKey).stored },
    { ...example, value: '' },
    // The same characters in other parts.
    { ...example, origin: `${origin}A`, id: exampleRecordId.slice(1) }
  ]
  expect(new Set([example, ...others].map(createCommitment))).toHaveProperty(
    'size',
    others.length + 1
  )
})

test('refuses salts and keys of another length, and zero bytes in names', () => {
  expect(() => createCommitment({ ...example, salt: new Uint8Array(31) })).toThrow('32 bytes')
  expect(() => createCommitment({ ...example, name: 'or\0ig' })).toThrow('zero byte')
  expect(() => createCommitment({ ...example, value: '\uD800' })).toThrow('surrogate')
  expect(() => deriveLinkSalts(new Uint8Array(16))).toThrow('32 bytes')
})
