import * as z from 'zod/mini'
import { type Bytes, fromBase64Url, fromUtf8, toUtf8 } from '../bytes.ts'
import { publicKeyPurposes } from './public-key-proof.ts'

/** 32 bytes in base64url. */
const Bytes32 = z.string().check(z.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/))

/**
 * A public key with exactly four members. A member `d` would make it a private key, which libraries
 * would import without an error.
 */
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
  /**
   * A complete challenge. It proves that the JWT is fresh without relying on the browser's clock.
   */
  nonce: z.string(),
  /** base64url SHA-256 of the mailed token, if the call uses one. */
  th: z.optional(Bytes32),
  jwk: PublicKeyJwk
})
export type PublicKeyPayload = z.infer<typeof PublicKeyPayload>

export interface PublicKeyJwt {
  payload: PublicKeyPayload
  /** The bytes that the signature covers. */
  signed: Bytes
  /** `r` and `s` of ES256, 64 bytes. */
  signature: Bytes
}

/**
 * Parses a `public_key_jwt`. Returns undefined where it is malformed. The server still has to check
 * signature, nonce, host and e-mail.
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
