import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concat, toUtf8 } from '../bytes.ts'
import { canonicalise, type Json } from './canonical-json.ts'
import { commit } from './commitments.ts'
import { hashPrefix } from './formats.ts'

/** The part of an audit entry that its hash covers as readable text. */
export interface AuditEntry {
  /** The company to whose chain the entry belongs. */
  company: string
  id: string
  /** Time in milliseconds since 1970. */
  at: number
  actor: { id: string; company: string }
  /** The company that was changed. */
  acted_in: string
  action: string
  target: string
  /** Commitment to the changed fields, where there are any. */
  changes?: string
}

export type Fields = { [name: string]: Json }

/**
 * The changed fields before and after the change. A field is absent where it had or has no value.
 */
export interface Changes {
  before: Fields
  after: Fields
}

/** The hash that the first entry of every chain has in place of a previous hash. */
export const firstPreviousHash: Bytes = new Uint8Array(32)

/** Prefix of the bytes that the hash of an entry covers. */
export const auditPrefix: Bytes = hashPrefix('audit')

/** Returns an entry as canonical JSON, the text that its hash covers. */
export function auditText({ changes, ...entry }: AuditEntry): string {
  return canonicalise({ ...entry, ...(changes === undefined ? {} : { changes }), v: 1 })
}

/**
 * Returns the hash of the entry with the number `seq`: SHA-256 of the prefix, the hash of the
 * previous entry, the number in 8 bytes, and the text of the entry.
 */
export function auditHash(previous: Uint8Array, seq: number, text: string): Bytes {
  if (previous.length !== 32) throw new Error('audit: a hash has 32 bytes')
  const number = new Uint8Array(8)
  new DataView(number.buffer).setBigUint64(0, BigInt(seq))
  return sha256(concat(auditPrefix, previous, number, toUtf8(text)))
}

/** Returns the canonical JSON of the fields that differ, or undefined where none does. */
export function changesText(before: object, after: object): string | undefined {
  const [was, is] = [fieldsOf(before), fieldsOf(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  const differing = names.filter(name => textOf(was[name]) !== textOf(is[name]))
  if (differing.length === 0) return undefined
  const pick = (fields: Fields): Fields =>
    Object.fromEntries(
      differing.flatMap(name => {
        const value = fields[name]
        return value === undefined ? [] : [[name, value]]
      })
    )
  const changes = { before: pick(was), after: pick(is) } satisfies Changes
  return canonicalise(changes)
}

/** Returns the commitment to the changed fields of an entry. */
export function commitChanges(
  { company, id }: Pick<AuditEntry, 'company' | 'id'>,
  salt: Uint8Array,
  changes: string
): string {
  return commit({ origin: `audit/${company}`, id, name: 'changes', salt, value: changes })
}

/** Returns the fields that have a value. The canonical JSON has no null. */
function fieldsOf(values: object): Fields {
  const present = Object.entries(values).filter(
    ([, value]) => value !== null && value !== undefined
  )
  return Object.fromEntries(present)
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : canonicalise(value)
}
