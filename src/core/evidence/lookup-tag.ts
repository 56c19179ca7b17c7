import { concatBytes } from '../bytes.ts'
import { createHashInputPrefix } from './formats.ts'

/**
 * What the server finds with a lookup tag (a keyed hash of a fingerprint): a record (`sha256`) or a
 * stored file (`blob`).
 */
export type LookupTagKind = 'sha256' | 'blob'

/**
 * Returns the bytes from which a lookup tag is computed. The tag is the HMAC-SHA256 of these bytes
 * with the company's secret key, so the same fingerprint has a different tag in every company.
 */
export function lookupTagMessage(kind: LookupTagKind, fingerprint: Uint8Array): Uint8Array {
  if (fingerprint.length !== 32) throw new Error('tag: a fingerprint has 32 bytes')
  return concatBytes(createHashInputPrefix(`tag/${kind}`), fingerprint)
}
