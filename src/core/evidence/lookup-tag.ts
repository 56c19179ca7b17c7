import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concat, toBase64Url } from '../bytes.ts'
import { hashPrefix } from './formats.ts'

/** A company's key for lookup tags. The same fingerprint has a different tag in every company. */
export type LookupKey = { version: number; key: Uint8Array }

/**
 * What a tag finds: `sha256` a record by its fingerprint, `blob` stored bytes, `row/<register id>`
 * a row of a register.
 */
export type TagKind = 'sha256' | 'blob' | `row/${string}`

export type LookupTag = { scheme: 1; keyVersion: number; tag: string }

/**
 * Returns the tag under which the rows and files of a fingerprint are stored. Nobody can compute it
 * without the key.
 */
export function lookupTag(lookupKey: LookupKey, kind: TagKind, input: Uint8Array): LookupTag {
  if (lookupKey.key.length !== 32) throw new Error('tag: a lookup key has 32 bytes')
  const tag = toBase64Url(hmac(sha256, lookupKey.key, tagInput(kind, input)))
  return { scheme: 1, keyVersion: lookupKey.version, tag }
}

/** Returns the HMAC-SHA256 input of a tag, for callers that compute the HMAC themselves. */
export function tagInput(kind: TagKind, input: Uint8Array): Uint8Array {
  if (!kind.startsWith('row/') && input.length !== 32)
    throw new Error('tag: a fingerprint has 32 bytes')
  return concat(hashPrefix(`tag/${kind}`), input)
}
