import type { PublicKeyJwk } from '../../../core/keys/public-key-jwt.ts'
import type { Keys } from '../deps.ts'
import { verifyEs256 } from '../es256.ts'

/** Where a public key lies: its sealed bytes open nowhere else. */
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

/** A public key lets its thief guess the password offline, so it rests encrypted. */
export function sealPublicKey(keys: Keys, place: KeyPlace, jwk: PublicKeyJwk): Buffer {
  return Buffer.concat([Buffer.of(version), keys.seal(pointOf(jwk), aadOf(place))])
}

/** Whether the holder of a stored key made an ES256 signature. */
export function verifyWithSealedKey(
  keys: Keys,
  sealed: SealedKey,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  if (sealed.pub_enc[0] !== version) throw new Error(`key ${sealed.key_id} has an unknown form`)
  return verifiesPoint(keys.open(sealed.pub_enc.subarray(1), aadOf(sealed)), signed, signature)
}

/** The same for a key that came with its signature; `false` too for a point that is not on the curve. */
export function verifyWithJwk(
  jwk: PublicKeyJwk,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  return verifiesPoint(pointOf(jwk), signed, signature)
}

function verifiesPoint(point: Uint8Array, signed: Uint8Array, signature: Uint8Array): boolean {
  try {
    // not noble, which refuses the high s that half of all browser signatures have
    return verifyEs256(point, signed, signature)
  } catch {
    return false
  }
}

/** Uncompressed, as SEC 1 writes it. */
function pointOf({ x, y }: PublicKeyJwk): Buffer {
  return Buffer.concat([Buffer.of(0x04), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

function aadOf({ company_id, user_id, key_id, kdf }: KeyPlace): string {
  return `vidimus/pub/v1|${company_id}|${user_id}|${key_id}|${kdf}`
}
