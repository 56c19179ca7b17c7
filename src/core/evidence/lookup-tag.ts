import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concat, toBase64Url } from '../bytes.ts'
import { hashPrefix } from './formats.ts'

/** A company's key for tags. The same fingerprint has a different tag in every company. */
export type LookupKey = { version: number; key: Uint8Array }

/** `sha256` finds a record by a fingerprint, `blob` names stored bytes, `row/<register id>` a register's row. */
export type TagKind = 'sha256' | 'blob' | `row/${string}`

export type LookupTag = { scheme: 1; keyVersion: number; tag: string }

/** Returns the tag under which rows and files of a fingerprint are stored. Only the key can make it. */
export function lookupTag(lookupKey: LookupKey, kind: TagKind, input: Uint8Array): LookupTag {
  if (lookupKey.key.length !== 32) throw new Error('tag: a lookup key has 32 bytes')
  const tag = toBase64Url(hmac(sha256, lookupKey.key, tagInput(kind, input)))
  return { scheme: 1, keyVersion: lookupKey.version, tag }
}

/** Returns the HMAC-SHA256 input of a tag, for callers with their own HMAC. */
export function tagInput(kind: TagKind, input: Uint8Array): Uint8Array {
  if (!kind.startsWith('row/') && input.length !== 32)
    throw new Error('tag: a fingerprint has 32 bytes')
  return concat(hashPrefix(`tag/${kind}`), input)
}
