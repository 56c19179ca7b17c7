import type { PublicKeyJwk } from '../../../core/keys/public-key-jwt.ts'
import type { Keys } from '../deps.ts'
import { verifyEs256 } from '../es256.ts'

/** The row of a public key. The key is sealed for this row and cannot be opened for another one. */
export interface KeyPlace {
  company_id: string
  user_id: string
  key_id: string
  kdf: string
}

export interface SealedKey extends KeyPlace {
  pub_enc: Buffer
}

const version = 0x01

/** Seals a public key. Whoever has it can guess the password offline, so it is stored encrypted. */
export function sealPublicKey(keys: Keys, place: KeyPlace, jwk: PublicKeyJwk): Buffer {
  return Buffer.concat([Buffer.of(version), keys.seal(pointOf(jwk), aadOf(place))])
}

/** Returns whether an ES256 signature was made with a stored key. */
export function verifyWithSealedKey(
  keys: Keys,
  sealed: SealedKey,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  if (sealed.pub_enc[0] !== version) throw new Error(`key ${sealed.key_id} has an unknown form`)
  return verifiesPoint(keys.open(sealed.pub_enc.subarray(1), aadOf(sealed)), signed, signature)
}

/**
 * Returns whether an ES256 signature was made with a given key; false also for a point that is not
 * on the curve.
 */
export function verifyWithJwk(
  jwk: PublicKeyJwk,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  return verifiesPoint(pointOf(jwk), signed, signature)
}

function verifiesPoint(point: Uint8Array, signed: Uint8Array, signature: Uint8Array): boolean {
  try {
    // not noble, which rejects the high s of half of all browser signatures
    return verifyEs256(point, signed, signature)
  } catch {
    return false
  }
}

/** Returns the uncompressed point of SEC 1. */
function pointOf({ x, y }: PublicKeyJwk): Buffer {
  return Buffer.concat([Buffer.of(0x04), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

function aadOf({ company_id, user_id, key_id, kdf }: KeyPlace): string {
  return `vidimus/pub/v1|${company_id}|${user_id}|${key_id}|${kdf}`
}
