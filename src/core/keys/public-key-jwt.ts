import * as z from 'zod/mini'
import { type Bytes, fromBase64Url, fromUtf8, toUtf8 } from '../bytes.ts'

/** `verify` confirms a sign-up from another browser. `email` is a change of e-mail. */
export const publicKeyPurposes = [
  'signup',
  'verify',
  'activate',
  'reset',
  'rekey',
  'email'
] as const
export type PublicKeyPurpose = (typeof publicKeyPurposes)[number]

const Bytes32 = z.string().check(z.regex(/^[\w-]{42}[AEIMQUYcgkosw048]$/))

/** Refuses other members, above all `d`: a private key would be imported without an error. */
export const PublicKeyJwk = z.strictObject({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: Bytes32,
  y: Bytes32
})
export type PublicKeyJwk = z.infer<typeof PublicKeyJwk>

const Header = z.strictObject({ alg: z.literal('ES256'), typ: z.literal('pk+jwt') })

/** Proves that the browser has the private key that belongs to the public key in it. */
export const PublicKeyPayload = z.strictObject({
  aud: z.string(),
  email: z.string(),
  purpose: z.enum(publicKeyPurposes),
  kdf: z.string(),
  // a challenge proves that the JWT is new, even if the browser's clock is wrong
  nonce: z.string(),
  // SHA-256 of the token in the mailed link, if there is one
  th: z.optional(Bytes32),
  jwk: PublicKeyJwk
})
export type PublicKeyPayload = z.infer<typeof PublicKeyPayload>

export interface PublicKeyJwt {
  payload: PublicKeyPayload
  // header, dot and payload
  signed: Bytes
  signature: Bytes
}

/** Does not check signature, nonce, host or e-mail: the server does. */
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
