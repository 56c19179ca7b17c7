import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64Url, toUtf8 } from '../bytes.ts'
import type { ChallengePurpose } from './challenge.ts'
import type { PublicKeyJwk, PublicKeyPayload } from './public-key-jwt.ts'

export const publicKeyPurposes = [
  'signup',
  'verify',
  'activate',
  'reset',
  'rekey',
  'email'
] as const
export type PublicKeyPurpose = (typeof publicKeyPurposes)[number]

/**
 * Returns the purpose of the challenge that a `public_key_jwt` of this purpose contains as `nonce`.
 */
export function noncePurpose(purpose: PublicKeyPurpose): ChallengePurpose {
  return purpose === 'rekey' || purpose === 'email' ? 'rekey' : 'signup'
}

/**
 * Returns the hash of a mailed token. A `public_key_jwt` names the token it belongs to by this
 * hash, `th`.
 */
export function mailTokenHash(token: string): string {
  return toBase64Url(sha256(toUtf8(token)))
}

/** Returns a public key as JWK. Throws where a coordinate is not 32 bytes. */
export function publicJwk({ x, y }: { x: Uint8Array; y: Uint8Array }): PublicKeyJwk {
  if (x.length !== 32 || y.length !== 32) throw new Error('public_key_jwt: not a point of P-256')
  return { kty: 'EC', crv: 'P-256', x: toBase64Url(x), y: toBase64Url(y) }
}

/**
 * Returns the JWS signing input of a `public_key_jwt`. Sign it with the key that the payload
 * contains.
 */
export function publicKeyJwtInput(payload: PublicKeyPayload): string {
  const header = { alg: 'ES256', typ: 'pk+jwt' }
  return [header, payload].map(part => toBase64Url(toUtf8(JSON.stringify(part)))).join('.')
}

export function formatPublicKeyJwt(input: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw new Error('public_key_jwt: signature is not 64 bytes')
  return `${input}.${toBase64Url(signature)}`
}
