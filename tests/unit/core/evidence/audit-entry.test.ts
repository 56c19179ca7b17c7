import { expect, test } from 'vitest'
import { toHex } from '../../../../src/core/bytes.ts'
import {
  type AuditEntry,
  auditHash,
  canonicalizeAuditEntry,
  canonicalizeFieldChanges,
  createChangesCommitment,
  initialPreviousHash
} from '../../../../src/core/evidence/audit-entry.ts'
import { countingBytes } from './vectors.ts'

// computed with another implementation
const company = '01890a5d-ac96-774b-bcce-b302099a8057'
const changes =
  '{"after":{"features":["deposit"],"name":"Crew"},"before":{"max_requests":100,"name":"Team"}}'
const commitment = 'quBdFFfJM8CmJqgCSNvACQaoOlaw3laYBENxDhhV43I'
const entry: AuditEntry = {
  company,
  id: '01890a5d-ac96-774b-bcce-b302099a8058',
  at: 1_795_339_695_123,
  actor: { id: '01890a5d-ac96-774b-bcce-b302099a8059', company },
  acted_in: company,
  action: 'group.update',
  target: '01890a5d-ac96-774b-bcce-b302099a8060',
  changes: commitment
}
const first = '101ce27ac9b8b562f9af92d92b1752fab0d4cc6e84492b084bb9388cb0e71644'
const second = 'a2ed0537ddecd9f5839a827cb4d36d44a43dddcdea35dd4abe45057ec81fcff3'

test('commits to the changed fields as another implementation does', () => {
  expect(createChangesCommitment(entry, countingBytes(0x60), changes)).toBe(commitment)
  expect(createChangesCommitment(entry, countingBytes(0x61), changes)).not.toBe(commitment)
})

test('chains entries as another implementation does', () => {
  const text = canonicalizeAuditEntry(entry)
  const hash = auditHash(initialPreviousHash, 1, text)
  expect(toHex(hash)).toBe(first)
  expect(toHex(auditHash(hash, 2, text))).toBe(second)
})

test('changes the hash with every part of an entry', () => {
  const other = '01890a5d-ac96-774b-bcce-b302099a80ff'
  const { changes: _, ...plain } = entry
  const others: AuditEntry[] = [
    { ...entry, company: other },
    { ...entry, id: other },
    { ...entry, at: entry.at + 1 },
    { ...entry, actor: { id: other, company } },
    { ...entry, actor: { ...entry.actor, company: other } },
    { ...entry, acted_in: other },
    { ...entry, action: 'group.create' },
    { ...entry, target: other },
    { ...entry, changes: commitment.toLowerCase() },
    plain
  ]
  const hashes = [entry, ...others].map(each =>
    toHex(auditHash(initialPreviousHash, 1, canonicalizeAuditEntry(each)))
  )
  expect(new Set(hashes).size).toBe(others.length + 1)
  expect(toHex(auditHash(initialPreviousHash, 2, canonicalizeAuditEntry(entry)))).not.toBe(first)
})

test('keeps the fields that differ and leaves out what has no value', () => {
  const before = { name: 'Team', max_requests: 100, max_storage: null, features: ['deposit'] }
  expect(canonicalizeFieldChanges(before, { ...before, features: ['deposit'] })).toBeUndefined()
  expect(canonicalizeFieldChanges(before, { ...before, max_requests: null, max_storage: 7 })).toBe(
    '{"after":{"max_storage":7},"before":{"max_requests":100}}'
  )
  expect(canonicalizeFieldChanges({}, { name: 'Team', note: undefined })).toBe(
    '{"after":{"name":"Team"},"before":{}}'
  )
  expect(canonicalizeFieldChanges({}, {})).toBeUndefined()
})

test('refuses a hash of another length and values that JSON does not keep', () => {
  expect(() => auditHash(new Uint8Array(31), 1, '{}')).toThrow('32 bytes')
  expect(() => canonicalizeFieldChanges({}, { ratio: 0.5 })).toThrow('integer')
  expect(() => canonicalizeFieldChanges({}, { at: new Date() })).toThrow('canonical')
})
