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

/**
 * The key pair of an e-mail and a password. `x` and `y` are the public key; the private key cannot
 * be read.
 */
export interface SigningKey {
  x: Uint8Array
  y: Uint8Array
  sign(bytes: Bytes): Promise<Uint8Array>
}

/** The values from which a signer builds a `public_key_jwt`, which it then signs. */
export interface PublicKeyJwtInput {
  /**
   * A challenge from the server. Its purpose is `rekey` for a change of password or e-mail,
   * otherwise `signup`.
   */
  challenge: string
  /** Host name of the page, from `location.hostname`. */
  aud: string
  purpose: PublicKeyPurpose
  /** Token of the mailed link that the person has opened. */
  token?: string | undefined
  /**
   * Current e-mail of the person in canonical form, given only for a change of e-mail. The
   * challenge is for this e-mail; the new key is for the new e-mail.
   */
  present?: string | undefined
}

/**
 * Signs with a key that is derived from an e-mail and a password. Signs only two kinds of texts:
 * challenges, and a `public_key_jwt` that contains the signer's own public key.
 */
export interface Signer {
  /**
   * Returns the `challenge_response`: a challenge and its signature. Rejects if
   * `checkChallengeBeforeSigning` refuses the challenge.
   */
  respond(challenge: string, purpose: ChallengePurpose, host: string): Promise<string>
  publicKeyJwt(request: PublicKeyJwtInput): Promise<string>
}

/**
 * Creates a signer for an e-mail in canonical form. `derive` derives the key from the password. The
 * signer calls `derive` at most once per kind of key derivation, and only after a challenge has
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

/**
 * Imports a derived key into WebCrypto, so that nobody can read the private key any more.
 * Overwrites the private key `d` with zeros.
 */
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
