import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concatBytes, toBase64Url } from '../bytes.ts'
import { hashPrefix } from './formats.ts'

/**
 * A company's secret key for lookup tags. A lookup tag is a keyed hash that finds a record or file.
 * The same fingerprint has a different tag in every company.
 */
export type LookupKey = { version: number; key: Uint8Array }

/**
 * What a lookup tag finds: a record by its fingerprint (`sha256`), a stored file by its fingerprint
 * (`blob`), or a row of another register (`row/<register id>`, not used yet).
 */
export type LookupTagKind = 'sha256' | 'blob' | `row/${string}`

/**
 * A keyed hash that finds a record or file. `keyVersion` is the version of the company's key, and
 * `tag` the HMAC-SHA256 in base64url.
 */
export type LookupTag = { scheme: 1; keyVersion: number; tag: string }

/**
 * Returns the lookup tag of a fingerprint or other input: an HMAC-SHA256. Nobody can compute the
 * tag without the company's key.
 */
export function lookupTag(lookupKey: LookupKey, kind: LookupTagKind, input: Uint8Array): LookupTag {
  if (lookupKey.key.length !== 32) throw new Error('tag: a lookup key has 32 bytes')
  const tag = toBase64Url(hmac(sha256, lookupKey.key, lookupTagMessage(kind, input)))
  return { scheme: 1, keyVersion: lookupKey.version, tag }
}

/**
 * Returns the bytes from which the HMAC of a lookup tag is computed, for callers that compute the
 * HMAC without `lookupTag`.
 */
export function lookupTagMessage(kind: LookupTagKind, input: Uint8Array): Uint8Array {
  if (!kind.startsWith('row/') && input.length !== 32)
    throw new Error('tag: a fingerprint has 32 bytes')
  return concatBytes(hashPrefix(`tag/${kind}`), input)
}
