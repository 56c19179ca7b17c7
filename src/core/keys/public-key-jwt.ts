import * as z from 'zod/mini'
import { type Bytes, fromBase64Url, fromUtf8, toUtf8 } from '../bytes.ts'

/**
 * What a `public_key_jwt` is for.
 * - `signup`: a sign-up.
 * - `verify`: the confirmation of a sign-up that was made in another browser.
 * - `activate`: the activation of an invited account.
 * - `reset`: the reset of a password.
 * - `rekey`: a change of password.
 * - `email`: a change of e-mail.
 */
export const publicKeyPurposes = [
  'signup',
  'verify',
  'activate',
  'reset',
  'rekey',
  'email'
] as const
export type PublicKeyPurpose = (typeof publicKeyPurposes)[number]

/** Schema of 32 bytes in base64url. */
const Bytes32 = z.string().check(z.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/))

/**
 * Schema of a P-256 public key as JWK. Refuses all other members, above all `d`. With `d`, the JWK
 * would be a private key, and libraries would import it without an error.
 */
export const PublicKeyJwk = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: Bytes32,
  y: Bytes32
})
export type PublicKeyJwk = z.infer<typeof PublicKeyJwk>

const Header = z.strictObject({ alg: z.literal('ES256'), typ: z.literal('pk+jwt') })

/**
 * Payload of a `public_key_jwt`. Such a JWT contains a public key and proves that the browser has
 * the private key that belongs to it.
 */
export const PublicKeyPayload = z.strictObject({
  /** Host name of the site for which the JWT is valid, without port. */
  aud: z.string(),
  /** E-mail of the person in canonical form. */
  email: z.string(),
  purpose: z.enum(publicKeyPurposes),
  kdf: z.string(),
  /**
   * The full text of a challenge from the server. It proves that the JWT is new, even if the
   * browser's clock is wrong.
   */
  nonce: z.string(),
  /**
   * SHA-256, in base64url, of the token in the mailed link. Absent if the JWT is not for a mailed
   * link.
   */
  th: z.optional(Bytes32),
  jwk: PublicKeyJwk
})
export type PublicKeyPayload = z.infer<typeof PublicKeyPayload>

export interface PublicKeyJwt {
  payload: PublicKeyPayload
  /** The bytes that the JWT's signature covers: header, dot and payload. */
  signed: Bytes
  /** ES256 signature of the JWT: `r` and `s`, 64 bytes. */
  signature: Bytes
}

/**
 * Parses a `public_key_jwt`. Returns undefined if it is malformed. Does not check signature, nonce,
 * host or e-mail: the server does.
 */
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
