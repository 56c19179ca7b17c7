import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes, toBase64Url, toUtf8 } from '../bytes.ts'
import { createHashInputPrefix } from './formats.ts'

/** The salt and the value of a commitment. Whoever has both can check the commitment. */
export type CommitmentOpening = { salt: string; value: string }

/**
 * What a commitment is computed from: the value and its salt, and the field, record and log to
 * which the value belongs.
 */
export type CommitmentInput = {
  /**
   * Name of the log. Because of `origin` and `id`, a commitment cannot be used for another record
   * or in another log.
   */
  origin: string
  id: string
  name: string
  salt: Uint8Array
  value: string
}

/**
 * Returns the commitment to a value: a salted SHA-256 as 43 characters of base64url. It reveals
 * nothing about the value to people without the salt.
 */
export function createCommitment({ origin, id, name, salt, value }: CommitmentInput): string {
  if (salt.length !== 32) throw new Error('commit: a salt has 32 bytes')
  return toBase64Url(
    sha256(concatBytes(createHashInputPrefix('commit', origin, id, name), salt, toUtf8(value)))
  )
}

/**
 * Derives two salts from a link key (the secret of a link to a receipt): one for the commitment to
 * the original fingerprint, one for the commitment to the stored fingerprint. Whoever has the link
 * key can check these two commitments and no others.
 */
export function deriveLinkSalts(linkKey: Uint8Array): { orig: Bytes; stored: Bytes } {
  return {
    orig: derive(linkKey, concatBytes(createHashInputPrefix('salt'), toUtf8('orig'))),
    stored: derive(linkKey, concatBytes(createHashInputPrefix('salt'), toUtf8('stored')))
  }
}

function derive(linkKey: Uint8Array, message: Uint8Array): Bytes {
  if (linkKey.length !== 32) throw new Error('commit: a link key has 32 bytes')
  return hmac(sha256, linkKey, message)
}
