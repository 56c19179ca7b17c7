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
  /** Of purpose signup, or rekey for a change of password or e-mail. */
  challenge: string
  /** `location.hostname` */
  aud: string
  purpose: PublicKeyPurpose
  /** Of a mailed link, where one is used. */
  token?: string | undefined
  /** Whose challenge it is, in canonical form, where a new e-mail is being proven. */
  present?: string | undefined
}

/** What a person's e-mail and password can do: sign challenges and one's own public key, nothing else. */
export interface Signer {
  /** The `challenge_response`. Refuses with `challenge_invalid` what `checkChallenge` refuses. */
  respond(challenge: string, purpose: ChallengePurpose, host: string): Promise<string>
  publicKeyJwt(request: PublicKeyRequest): Promise<string>
}

/** `derive` is asked once per derivation id, and only after a challenge has passed every check. */
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

/** Moves a derived key into WebCrypto, from where it cannot be read back, and overwrites the scalar. */
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
