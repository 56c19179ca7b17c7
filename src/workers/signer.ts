import type { Bytes } from '../core/bytes.ts'
import { toBase64Url, toUtf8 } from '../core/bytes.ts'
import { type ChallengePurpose, challengeResponse, checkChallenge } from '../core/keys/challenge.ts'
import type { DerivedKey, KdfId } from '../core/keys/kdf.ts'
import {
  formatPublicKeyJwt,
  mailTokenHash,
  noncePurpose,
  type PublicKeyPurpose,
  publicJwk,
  publicKeyJwtInput
} from '../core/keys/public-key-proof.ts'

export interface SigningKey {
  x: Uint8Array
  y: Uint8Array
  sign(bytes: Bytes): Promise<Uint8Array>
}

export interface PublicKeyRequest {
  /** A challenge of purpose `signup`, or of purpose `rekey` for a change of password or e-mail. */
  challenge: string
  /** `location.hostname` */
  aud: string
  purpose: PublicKeyPurpose
  /** The token of the mailed link, if the person has opened one. */
  token?: string | undefined
  /**
   * The present e-mail in canonical form, for a change of e-mail: the challenge contains the
   * present e-mail, not the new one.
   */
  present?: string | undefined
}

/**
 * Signs with the key of an e-mail and a password. Signs only challenges and the key's own
 * `public_key_jwt`.
 */
export interface Signer {
  /**
   * Returns the `challenge_response`. Throws `challenge_invalid` for a challenge that
   * `checkChallenge` refuses.
   */
  respond(challenge: string, purpose: ChallengePurpose, host: string): Promise<string>
  publicKeyJwt(request: PublicKeyRequest): Promise<string>
}

/**
 * Creates a signer. Calls `derive` once for each key derivation, and only for a challenge that has
 * passed every check.
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
      const { bytes, kdf } = checkChallenge({ challenge, purpose, host, email })
      const key = await keyFor(kdf)
      return challengeResponse(challenge, await key.sign(bytes))
    },

    async publicKeyJwt({ challenge, aud, purpose, token, present = email }) {
      const expected = { challenge, purpose: noncePurpose(purpose), host: aud, email: present }
      const { kdf } = checkChallenge(expected)
      const key = await keyFor(kdf)
      const jwk = publicJwk(key)
      const th = token === undefined ? {} : { th: mailTokenHash(token) }
      const input = publicKeyJwtInput({ aud, email, purpose, kdf, nonce: challenge, ...th, jwk })
      return formatPublicKeyJwt(input, await key.sign(toUtf8(input)))
    }
  }
}

/** Imports a derived key into WebCrypto, from which it cannot be read, and overwrites `d`. */
export async function importSigningKey({ d, x, y }: DerivedKey): Promise<SigningKey> {
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
