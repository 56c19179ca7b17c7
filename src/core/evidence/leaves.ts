import type { Bytes } from '../bytes.ts'
import { type Json, parseCanonicalJson } from './canonical-json.ts'
import { depositFields, leafHash } from './deposit-leaf.ts'
import { isRecordId } from './formats.ts'
import { ed25519Type, parseVerifierKey, type VerifierKey } from './signed-notes.ts'

/** What a leaf says in clear. Other versions and types than ours have rules that we do not know. */
export type Leaf =
  | { type: 'deposit'; id: string; hash: Bytes; commitments: Map<string, string> }
  | { type: 'policy'; id: string; hash: Bytes; origin: string; key: VerifierKey }
  | { type: 'unknown' }

/** Throws if the text is not a leaf: not canonical, too long, or without what its type has. */
export function parseLeaf(text: string): Leaf {
  // throws if the text is too long for a leaf
  const hash = leafHash(text)
  const leaf = membersOf(parseCanonicalJson(text))
  const [version, type, id] = ['v', 'type', 'id'].map(name => leaf.get(name))
  if (typeof version !== 'number' || typeof type !== 'string')
    throw new Error('leaf: no version or type')
  if (version !== 1 || (type !== 'deposit' && type !== 'policy')) return { type: 'unknown' }
  if (typeof id !== 'string' || !isRecordId(id)) throw new Error('leaf: no id')
  if (type === 'deposit') return { type, id, hash, commitments: commitmentsOf(leaf.get('c')) }
  const [origin, log] = [leaf.get('origin'), leaf.get('log')]
  if (typeof origin !== 'string' || typeof log !== 'string')
    throw new Error('leaf: a policy names its origin and its key')
  return { type, id, hash, origin, key: parseLogKey(log, origin) }
}

/** Throws if the text is not the verifier key of a log with this origin. */
export function parseLogKey(text: string, origin: string): VerifierKey {
  const key = parseVerifierKey(text)
  if (key.type !== ed25519Type || key.name !== origin)
    throw new Error('key: not an Ed25519 key with the name of the log')
  return key
}

/** Throws if the value is not an object. */
export function membersOf(value: Json | undefined): Map<string, Json> {
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error('JSON: not an object')
  return new Map(Object.entries(value))
}

function commitmentsOf(value: Json | undefined): Map<string, string> {
  const commitments = new Map<string, string>()
  for (const [name, commitment] of membersOf(value)) {
    if (typeof commitment !== 'string' || !/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(commitment))
      throw new Error('leaf: a commitment is 32 bytes')
    commitments.set(name, commitment)
  }
  if (depositFields.some(name => !commitments.has(name)))
    throw new Error('leaf: a deposit commits to all its fields')
  return commitments
}
