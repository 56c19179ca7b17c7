import {
  argon2Sync,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  sign
} from 'node:crypto'
import { toBase64Url } from '../../src/core/bytes.ts'
import { formatChallengeResponse } from '../../src/core/keys/challenge.ts'
import { type Argon2id, deriveKeyPair } from '../../src/core/keys/kdf.ts'
import { PublicKeyJwk, type PublicKeyPayload } from '../../src/core/keys/public-key-jwt.ts'
import {
  formatPublicKeyJwt,
  publicJwk,
  publicKeyJwtSigningInput
} from '../../src/core/keys/public-key-proof.ts'

export interface TestKeys {
  jwk: PublicKeyJwk
  /** Signs any challenge, including those that a browser would refuse. */
  respond(challenge: string): string
  publicKeyJwt(
    payload: Omit<PublicKeyPayload, 'jwk' | 'kdf'> & Partial<Pick<PublicKeyPayload, 'jwk' | 'kdf'>>
  ): string
}

/** Returns a random key. Deriving a key from a password would take a third of a second. */
export function makeKeys(): TestKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return keysOf(privateKey, PublicKeyJwk.parse(publicKey.export({ format: 'jwk' })))
}

/** Returns the key pair that a browser derives from e-mail and password. */
export async function deriveKeys(email: string, password: string): Promise<TestKeys> {
  const { d, x, y } = await deriveKeyPair('a1', email, password, argon2id)
  const jwk = publicJwk({ x, y })
  const key = createPrivateKey({ format: 'jwk', key: { ...jwk, d: toBase64Url(d) } })
  return keysOf(key, jwk)
}

function keysOf(key: KeyObject, jwk: PublicKeyJwk): TestKeys {
  const signatureOf = (text: string) =>
    sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return {
    jwk,
    respond: challenge => formatChallengeResponse(challenge, signatureOf(challenge)),
    publicKeyJwt(payload) {
      const input = publicKeyJwtSigningInput({ kdf: 'a1', jwk, ...payload })
      return formatPublicKeyJwt(input, signatureOf(input))
    }
  }
}

/** The Argon2id of Node. Tests use it to check the two implementations that browsers use. */
export const argon2id: Argon2id = ({ password, salt, memoryKib, passes, lanes, bytes }) =>
  new Uint8Array(
    argon2Sync('argon2id', {
      message: password,
      nonce: salt,
      memory: memoryKib,
      passes,
      parallelism: lanes,
      tagLength: bytes
    })
  )
