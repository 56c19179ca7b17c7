import { type Bytes, toBase64Url, toUtf8 } from '../core/bytes.ts'
import {
  type ChallengePurpose,
  checkChallengeBeforeSigning,
  formatChallengeResponse
} from '../core/keys/challenge.ts'
import type { DerivedKeyPair, KdfId } from '../core/keys/kdf.ts'
import type { PublicKeyPurpose } from '../core/keys/public-key-jwt.ts'
import {
  challengePurposeFor,
  formatPublicKeyJwt,
  mailTokenHash,
  publicJwk,
  publicKeyJwtSigningInput
} from '../core/keys/public-key-proof.ts'

export interface SigningKey {
  x: Uint8Array
  y: Uint8Array
  sign(bytes: Bytes): Promise<Uint8Array>
}

export interface PublicKeyJwtInput {
  /** Its purpose is `rekey` for a change of password or e-mail, otherwise `signup`. */
  challenge: string
  aud: string
  purpose: PublicKeyPurpose
  token?: string | undefined
  /**
   * For a change of e-mail: the current one, for which the challenge is. The new key is for the new
   * one.
   */
  present?: string | undefined
}

/** Signs only challenges, and a `public_key_jwt` that contains the signer's own public key. */
export interface Signer {
  respond(challenge: string, purpose: ChallengePurpose, host: string): Promise<string>
  publicKeyJwt(request: PublicKeyJwtInput): Promise<string>
}

/**
 * `derive` is called at most once per kind of key derivation, and only after a challenge has passed
 * every check.
 */
export function createSigner(email: string, derive: (kdf: KdfId) => Promise<SigningKey>): Signer {
  const held = new Map<KdfId, Promise<SigningKey>>()

  function keyFor(kdf: KdfId): Promise<SigningKey> {
    const key = held.get(kdf) ?? derive(kdf)
    held.set(kdf, key)
    return key
  }

  return {
    async respond(challenge, purpose, host) {
      const { bytes, kdf } = checkChallengeBeforeSigning({ challenge, purpose, host, email })
      const key = await keyFor(kdf)
      return formatChallengeResponse(challenge, await key.sign(bytes))
    },

    async publicKeyJwt({ challenge, aud, purpose, token, present = email }) {
      const expected = {
        challenge,
        purpose: challengePurposeFor(purpose),
        host: aud,
        email: present
      }
      const { kdf } = checkChallengeBeforeSigning(expected)
      const key = await keyFor(kdf)
      const jwk = publicJwk(key)
      const th = token === undefined ? {} : { th: mailTokenHash(token) }
      const input = publicKeyJwtSigningInput({
        aud,
        email,
        purpose,
        kdf,
        nonce: challenge,
        ...th,
        jwk
      })
      return formatPublicKeyJwt(input, await key.sign(toUtf8(input)))
    }
  }
}

/** Overwrites the private key `d` with zeros. */
export async function importSigningKey({ d, x, y }: DerivedKeyPair): Promise<SigningKey> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const jwk = { ...publicJwk({ x, y }), d: toBase64Url(d) }
  d.fill(0)
  const key = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign'])
  return {
    x,
    y,
    sign: async bytes => new Uint8Array(await crypto.subtle.sign(algorithm, key, bytes))
  }
}
