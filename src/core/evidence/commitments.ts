import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { type Bytes, concatBytes, toBase64Url, toUtf8 } from '../bytes.ts'
import { createHashInputPrefix } from './formats.ts'

export type CommitmentOpening = { salt: string; value: string }

export type CommitmentInput = {
  // name of the log: no commitment fits another record or another log
  origin: string
  id: string
  name: string
  salt: Uint8Array
  value: string
}

/** Returns a salted SHA-256 that reveals nothing about the value to people without the salt. */
export function createCommitment({ origin, id, name, salt, value }: CommitmentInput): string {
  if (salt.length !== 32) throw new Error('commit: a salt has 32 bytes')
  return toBase64Url(
    sha256(concatBytes(createHashInputPrefix('commit', origin, id, name), salt, toUtf8(value)))
  )
}

/**
 * Whoever has the link key, the secret of a link to a receipt, can check these two commitments and
 * no others.
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
