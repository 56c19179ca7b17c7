import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concat, toBase64Url, toUtf8 } from '../bytes.ts'
import { hashPrefix } from './formats.ts'

/** The salt and value of a commitment. With both, anyone can check it. */
export type Opening = { salt: string; value: string }

export type CommitInput = {
  /** Name of the log. Together with `id` it binds a commitment to one record of one log. */
  origin: string
  id: string
  name: string
  salt: Uint8Array
  value: string
}

/** Returns a commitment of 43 characters. Without the salt it reveals nothing about the value. */
export function commit({ origin, id, name, salt, value }: CommitInput): string {
  if (salt.length !== 32) throw new Error('commit: a salt has 32 bytes')
  return toBase64Url(sha256(concat(hashPrefix('commit', origin, id, name), salt, toUtf8(value))))
}

/**
 * Derives the salts of the original and the stored fingerprint from a link key. A holder of the
 * link key can check these two commitments and no others.
 */
export function linkSalts(linkKey: Uint8Array): { orig: Bytes; stored: Bytes } {
  return {
    orig: derive(linkKey, concat(hashPrefix('salt'), toUtf8('orig'))),
    stored: derive(linkKey, concat(hashPrefix('salt'), toUtf8('stored')))
  }
}

/** Derives the AES-256-GCM key that encrypts the openings in a link. */
export function boxKey(linkKey: Uint8Array): Bytes {
  return derive(linkKey, hashPrefix('box'))
}

function derive(linkKey: Uint8Array, message: Uint8Array): Bytes {
  if (linkKey.length !== 32) throw new Error('commit: a link key has 32 bytes')
  return hmac(sha256, linkKey, message)
}
