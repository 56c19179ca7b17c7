import { sha256 } from '@noble/hashes/sha2.js'
import * as z from 'zod/mini'
import type { ChallengePurpose } from './challenge.ts'
import { type Bytes, fromBase64Url, fromUtf8, toBase64Url, toUtf8 } from './evidence/bytes.ts'

export const publicKeyPurposes = [
  'signup',
  'verify',
  'activate',
  'reset',
  'rekey',
  'email'
] as const
export type PublicKeyPurpose = (typeof publicKeyPurposes)[number]

/** 32 bytes in their one spelling. */
const Bytes32 = z.string().check(z.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/))

/** Exactly four members: libraries import a key with `d` without complaint. */
export const PublicKeyJwk = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: Bytes32,
  y: Bytes32
})
export type PublicKeyJwk = z.infer<typeof PublicKeyJwk>

const Header = z.strictObject({ alg: z.literal('ES256'), typ: z.literal('pk+jwt') })

export const PublicKeyPayload = z.strictObject({
  /** Host name of the site, without port. */
  aud: z.string(),
  /** In canonical form. */
  email: z.string(),
  purpose: z.enum(publicKeyPurposes),
  kdf: z.string(),
  /** A whole challenge: the server's own freshness, so that no clock of a browser matters. */
  nonce: z.string(),
  /** base64url SHA-256 of the mail token, where one is used. */
  th: z.optional(Bytes32),
  jwk: PublicKeyJwk
})
export type PublicKeyPayload = z.infer<typeof PublicKeyPayload>

export interface PublicKeyJwt {
  payload: PublicKeyPayload
  /** What the signature covers. */
  signed: Bytes
  /** r and s, 64 bytes. */
  signature: Bytes
}

/** Purpose of the challenge that a `public_key_jwt` carries as its nonce. */
export function noncePurpose(purpose: PublicKeyPurpose): ChallengePurpose {
  return purpose === 'rekey' || purpose === 'email' ? 'rekey' : 'signup'
}

/** `th`: what a proof names of the mailed token it belongs to. */
export function mailTokenHash(token: string): string {
  return toBase64Url(sha256(toUtf8(token)))
}

export function publicJwk({ x, y }: { x: Uint8Array; y: Uint8Array }): PublicKeyJwk {
  return { kty: 'EC', crv: 'P-256', x: toBase64Url(x), y: toBase64Url(y) }
}

/** The JWS signing input; the key inside is the one that signs it. */
export function publicKeyJwtInput(payload: PublicKeyPayload): string {
  const header = { alg: 'ES256', typ: 'pk+jwt' }
  return [header, PublicKeyPayload.parse(payload)]
    .map(part => toBase64Url(toUtf8(JSON.stringify(part))))
    .join('.')
}

export function formatPublicKeyJwt(input: string, signature: Uint8Array): string {
  if (signature.length !== 64) throw new Error('public_key_jwt: signature is not 64 bytes')
  return `${input}.${toBase64Url(signature)}`
}

/** Form only: header, members and spelling. Signature, nonce, host and e-mail are the server's to check. */
export function parsePublicKeyJwt(text: string): PublicKeyJwt | undefined {
  const match = /^([\w-]+)\.([\w-]+)\.([\w-]{86})$/.exec(text)
  if (!match || text.length > 4096) return undefined
  const [, header = '', payload = '', signature = ''] = match
  try {
    Header.parse(readJson(header))
    return {
      payload: PublicKeyPayload.parse(readJson(payload)),
      signed: toUtf8(`${header}.${payload}`),
      signature: fromBase64Url(signature)
    }
  } catch {
    return undefined
  }
}

function readJson(segment: string): unknown {
  return JSON.parse(fromUtf8(fromBase64Url(segment)))
}
