import { sha256 } from '@noble/hashes/sha2.js'
import { toBase64Url, toUtf8 } from '../bytes.ts'
import type { ChallengePurpose } from './challenge.ts'
import type { PublicKeyJwk, PublicKeyPayload, PublicKeyPurpose } from './public-key-jwt.ts'

/** Returns the purpose that the challenge in the JWT's `nonce` must have. */
export function challengePurposeFor(purpose: PublicKeyPurpose): ChallengePurpose {
  return purpose === 'rekey' || purpose === 'email' ? 'rekey' : 'signup'
}

/** The field `th`, which binds a `public_key_jwt` to a mailed token. */
export function mailTokenHash(token: string): string {
  return toBase64Url(sha256(toUtf8(token)))
}

export function publicJwk({ x, y }: { x: Uint8Array; y: Uint8Array }): PublicKeyJwk {
  if (x.length !== 32 || y.length !== 32) throw new Error('public_key_jwt: not a point of P-256')
  return { kty: 'EC', crv: 'P-256', x: toBase64Url(x), y: toBase64Url(y) }
}

/** Returns the header, a dot and the payload, to be signed. */
export function publicKeyJwtSigningInput(payload: PublicKeyPayload): string {
  const header = { alg: 'ES256', typ: 'pk+jwt' }
  return [header, payload].map(part => toBase64Url(toUtf8(JSON.stringify(part)))).join('.')
}

export function formatPublicKeyJwt(signingInput: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw new Error('public_key_jwt: signature is not 64 bytes')
  return `${signingInput}.${toBase64Url(signature)}`
}
