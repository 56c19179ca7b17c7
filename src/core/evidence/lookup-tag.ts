import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concat, toBase64Url } from '../bytes.ts'
import { hashPrefix } from './formats.ts'

/** A company's own key: the same fingerprint has another tag in every company. */
export type LookupKey = { version: number; key: Uint8Array }

/** `sha256` finds a record by a fingerprint, `blob` names stored bytes, `row/<register id>` finds a register's row. */
export type TagKind = 'sha256' | 'blob' | `row/${string}`

export type LookupTag = { scheme: 1; keyVersion: number; tag: string }

/** The only way from a fingerprint to a row or a file name; without the key it leads nowhere. */
export function lookupTag(lookupKey: LookupKey, kind: TagKind, input: Uint8Array): LookupTag {
  if (lookupKey.key.length !== 32) throw new Error('tag: a lookup key has 32 bytes')
  const tag = toBase64Url(hmac(sha256, lookupKey.key, tagged(kind, input)))
  return { scheme: 1, keyVersion: lookupKey.version, tag }
}

/** What the HMAC-SHA256 of a tag is made of, for whoever makes it by other means. */
export function tagged(kind: TagKind, input: Uint8Array): Uint8Array {
  if (!kind.startsWith('row/') && input.length !== 32)
    throw new Error('tag: a fingerprint has 32 bytes')
  return concat(hashPrefix(`tag/${kind}`), input)
}
