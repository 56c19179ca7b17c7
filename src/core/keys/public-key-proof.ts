import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64Url, toUtf8 } from '../bytes.ts'
import type { ChallengePurpose } from './challenge.ts'
import type { PublicKeyJwk, PublicKeyPayload, PublicKeyPurpose } from './public-key-jwt.ts'

/**
 * A `public_key_jwt` contains a challenge in its field `nonce`. Returns the purpose that this
 * challenge must have if the JWT is for `purpose`.
 */
export function challengePurposeFor(purpose: PublicKeyPurpose): ChallengePurpose {
  return purpose === 'rekey' || purpose === 'email' ? 'rekey' : 'signup'
}

/**
 * Returns the SHA-256 of a mailed token in base64url. It is the field `th` of a `public_key_jwt`,
 * which binds the JWT to that token.
 */
export function mailTokenHash(token: string): string {
  return toBase64Url(sha256(toUtf8(token)))
}

/** Returns a P-256 public key as JWK. Throws if a coordinate does not have 32 bytes. */
export function publicJwk({ x, y }: { x: Uint8Array; y: Uint8Array }): PublicKeyJwk {
  if (x.length !== 32 || y.length !== 32) throw new Error('public_key_jwt: not a point of P-256')
  return { kty: 'EC', crv: 'P-256', x: toBase64Url(x), y: toBase64Url(y) }
}

/**
 * Returns the text of a `public_key_jwt` that has to be signed: header, dot and payload. Sign it
 * with the private key that belongs to the public key in the payload.
 */
export function publicKeyJwtSigningInput(payload: PublicKeyPayload): string {
  const header = { alg: 'ES256', typ: 'pk+jwt' }
  return [header, payload].map(part => toBase64Url(toUtf8(JSON.stringify(part)))).join('.')
}

/**
 * Returns a `public_key_jwt`: `signingInput`, a dot and the signature. `signingInput` is the text
 * that `publicKeyJwtSigningInput` returns, and `signature` its signature. Throws if the signature
 * does not have 64 bytes.
 */
export function formatPublicKeyJwt(signingInput: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw new Error('public_key_jwt: signature is not 64 bytes')
  return `${signingInput}.${toBase64Url(signature)}`
}
