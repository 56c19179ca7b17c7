import { createPublicKey, verify } from 'node:crypto'
import type { PublicKeyJwk } from '../../core/public-key-jwt.ts'
import type { Keys } from './deps.ts'

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
  const point = Buffer.concat([
    Buffer.of(0x04),
    Buffer.from(jwk.x, 'base64url'),
    Buffer.from(jwk.y, 'base64url')
  ])
  return Buffer.concat([Buffer.of(version), keys.seal(point, aadOf(place))])
}

/** Whether the holder of a stored key made an ES256 signature. */
export function verifiesSealed(
  keys: Keys,
  sealed: SealedKey,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  if (sealed.pub_enc[0] !== version) throw new Error(`key ${sealed.key_id} has an unknown form`)
  const point = keys.open(sealed.pub_enc.subarray(1), aadOf(sealed))
  const jwk: PublicKeyJwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url')
  }
  return verifiesJwk(jwk, signed, signature)
}

/** The same for a key that came with its signature; `false` too for a point that is not on the curve. */
export function verifiesJwk(jwk: PublicKeyJwk, signed: Uint8Array, signature: Uint8Array): boolean {
  const { kty, crv, x, y } = jwk
  try {
    const key = createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' })
    // not noble, which refuses the high s that half of all browser signatures have
    return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature)
  } catch {
    return false
  }
}

function aadOf({ company_id, user_id, key_id, kdf }: KeyPlace): string {
  return `vidimus/pub/v1|${company_id}|${user_id}|${key_id}|${kdf}`
}
