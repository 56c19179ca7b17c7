import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concat, toBase64Url, toUtf8 } from '../bytes.ts'
import { hashPrefix } from './formats.ts'

/** A salted value of a leaf: whoever holds both can check the commitment. */
export type Opening = { salt: string; value: string }

export type CommitInput = {
  /** Name of the log. Together with `id` it keeps a published commitment from being claimed elsewhere. */
  origin: string
  id: string
  name: string
  salt: Uint8Array
  value: string
}

/** 43 characters of base64url that say nothing about the value without its salt. */
export function commit({ origin, id, name, salt, value }: CommitInput): string {
  if (salt.length !== 32) throw new Error('commit: a salt has 32 bytes')
  return toBase64Url(sha256(concat(hashPrefix('commit', origin, id, name), salt, toUtf8(value))))
}

/** The two salts that one link key opens: those of the fingerprints, and no other field's. */
export function linkSalts(linkKey: Uint8Array): { orig: Bytes; stored: Bytes } {
  return {
    orig: derive(linkKey, concat(hashPrefix('salt'), toUtf8('orig'))),
    stored: derive(linkKey, concat(hashPrefix('salt'), toUtf8('stored')))
  }
}

/** AES-256-GCM key of the openings that a link carries. */
export function boxKey(linkKey: Uint8Array): Bytes {
  return derive(linkKey, hashPrefix('box'))
}

function derive(linkKey: Uint8Array, message: Uint8Array): Bytes {
  if (linkKey.length !== 32) throw new Error('commit: a link key has 32 bytes')
  return hmac(sha256, linkKey, message)
}
