import { concatBytes } from '../bytes.ts'
import { createHashInputPrefix } from './formats.ts'

/** A tag finds a record by its fingerprint, or a stored file. */
export type LookupTagKind = 'sha256' | 'blob'

/**
 * Returns what the tag is an HMAC of. The company's secret key makes it another one in every
 * company.
 */
export function lookupTagMessage(kind: LookupTagKind, fingerprint: Uint8Array): Uint8Array {
  if (fingerprint.length !== 32) throw new Error('tag: a fingerprint has 32 bytes')
  return concatBytes(createHashInputPrefix(`tag/${kind}`), fingerprint)
}
