import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes, toUtf8 } from '../bytes.ts'
import { canonicalize, type Json } from './canonical-json.ts'
import { createCommitment } from './commitments.ts'
import { createHashInputPrefix } from './formats.ts'

/**
 * The readable part of an entry of the audit log: who changed what, where and when. The hash
 * of the entry covers the canonical JSON of this part.
 */
export interface AuditEntry {
  /** Id of the company whose audit log contains the entry. */
  company: string
  id: string
  /** Time of the change in milliseconds since 1970. */
  at: number
  actor: { id: string; company: string }
  /**
   * Id of the company in which the change was made. It is usually the same as `company`. If the
   * actor belongs to another company, the change has a second entry, in the log of the actor's
   * company. In that entry, `company` is the actor's company and `acted_in` is the changed company.
   */
  acted_in: string
  action: string
  target: string
  /**
   * Commitment to the changed fields (a salted hash of them). Absent if no field changed, or if
   * `acted_in` differs from `company`.
   */
  changes?: string
}

export type FieldValues = { [name: string]: Json }

/** The changed fields of an item before and after a change. A field without a value is absent. */
export interface FieldChanges {
  before: FieldValues
  after: FieldValues
}

/**
 * The value that takes the place of the previous hash in the first entry of an audit log: 32 zero
 * bytes.
 */
export const initialPreviousHash: Bytes = new Uint8Array(32)

/**
 * The first bytes of the input of every audit hash. They make sure that an audit hash never equals
 * a hash for another purpose.
 */
export const auditHashPrefix: Bytes = createHashInputPrefix('audit')

/** Returns an audit entry as canonical JSON, the text that the entry's hash covers. */
export function canonicalizeAuditEntry({ changes, ...entry }: AuditEntry): string {
  return canonicalize({ ...entry, ...(changes === undefined ? {} : { changes }), v: 1 })
}

/**
 * Returns the hash of the audit entry number `seq` with the given canonical JSON: SHA-256 of
 * `auditHashPrefix`, the previous entry's hash, the number in 8 bytes, and the JSON.
 */
export function auditHash(previous: Uint8Array, seq: number, text: string): Bytes {
  if (previous.length !== 32) throw new Error('audit: a hash has 32 bytes')
  const number = new Uint8Array(8)
  new DataView(number.buffer).setBigUint64(0, BigInt(seq))
  return sha256(concatBytes(auditHashPrefix, previous, number, toUtf8(text)))
}

/**
 * Returns the fields that differ between two objects as the canonical JSON of `FieldChanges`.
 * Returns undefined if no field differs.
 */
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

/**
 * Returns the commitment (a salted hash) to the changed fields of an audit entry. `changes` is the
 * text that `canonicalizeFieldChanges` returns.
 */
export function createChangesCommitment(
  { company, id }: Pick<AuditEntry, 'company' | 'id'>,
  salt: Uint8Array,
  changes: string
): string {
  return createCommitment({ origin: `audit/${company}`, id, name: 'changes', salt, value: changes })
}

/**
 * Returns the fields of an object that have a value. Leaves out null and undefined, because
 * `canonicalize` throws for them.
 */
function fieldsOf(values: object): FieldValues {
  const present = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined
  )
  return Object.fromEntries(present)
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : canonicalize(value)
}
