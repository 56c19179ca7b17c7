import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes, toUtf8 } from '../bytes.ts'
import { canonicalize, type Json } from './canonical-json.ts'
import { createCommitment } from './commitments.ts'
import { createHashInputPrefix } from './formats.ts'

/** What the hash of an audit entry covers, as canonical JSON. */
export interface AuditEntry {
  company: string
  id: string
  // milliseconds since 1970
  at: number
  actor: { id: string; company: string }
  /**
   * Differs from `company` in the second entry of a change, in the log of an actor from elsewhere.
   */
  acted_in: string
  action: string
  target: string
  /** Commitment to the changed fields. Absent if no field changed, or in such a second entry. */
  changes?: string
}

export type FieldValues = { [name: string]: Json }

export interface FieldChanges {
  before: FieldValues
  after: FieldValues
}

/** Takes the place of the previous hash in the first entry of a log. */
export const initialPreviousHash: Bytes = new Uint8Array(32)

export const auditHashPrefix: Bytes = createHashInputPrefix('audit')

export function canonicalizeAuditEntry({ changes, ...entry }: AuditEntry): string {
  return canonicalize({ ...entry, ...(changes === undefined ? {} : { changes }), v: 1 })
}

/** SHA-256 of `auditHashPrefix`, the previous hash, the number in 8 bytes, and the JSON. */
export function auditHash(previous: Uint8Array, seq: number, text: string): Bytes {
  if (previous.length !== 32) throw new Error('audit: a hash has 32 bytes')
  const number = new Uint8Array(8)
  new DataView(number.buffer).setBigUint64(0, BigInt(seq))
  return sha256(concatBytes(auditHashPrefix, previous, number, toUtf8(text)))
}

/** Returns the fields that differ as canonical JSON of `FieldChanges`, or undefined. */
export function canonicalizeFieldChanges(before: object, after: object): string | undefined {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  const differing = names.filter(name => textOf(was[name]) !== textOf(is[name]))
  if (differing.length === 0) return undefined
  const pick = (fields: FieldValues): FieldValues =>
    Object.fromEntries(
      differing.flatMap(name => {
        const value = fields[name]
        return value === undefined ? [] : [[name, value]]
      })
    )
  const changes = { before: pick(was), after: pick(is) } satisfies FieldChanges
  return canonicalize(changes)
}

export function createChangesCommitment(
  { company, id }: Pick<AuditEntry, 'company' | 'id'>,
  salt: Uint8Array,
  changes: string
): string {
  return createCommitment({ origin: `audit/${company}`, id, name: 'changes', salt, value: changes })
}

// `canonicalize` throws for null and undefined
function fieldsOf(values: object): FieldValues {
  const present = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined
  )
  return Object.fromEntries(present)
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : canonicalize(value)
}
