import { generateKeyPairSync, sign } from 'node:crypto'
import { challengeResponse } from '../../src/core/challenge.ts'
import { PublicKeyJwk, type PublicKeyPayload } from '../../src/core/public-key-jwt.ts'
import { formatPublicKeyJwt, publicKeyJwtInput } from '../../src/core/public-key-proof.ts'

export interface TestKeys {
  jwk: PublicKeyJwk
  /** Signs whatever it is given, so that a test can answer a challenge no browser would. */
  respond(challenge: string): string
  publicKeyJwt(
    payload: Omit<PublicKeyPayload, 'jwk' | 'kdf'> & Partial<Pick<PublicKeyPayload, 'jwk' | 'kdf'>>
  ): string
}

/** A random key where a browser would derive one: the derivation takes a third of a second. */
export function makeKeys(): TestKeys {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = PublicKeyJwk.parse(publicKey.export({ format: 'jwk' }))
  const signatureOf = (text: string) =>
    sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return {
    jwk,
    respond: challenge => challengeResponse(challenge, signatureOf(challenge)),
    publicKeyJwt(payload) {
      const input = publicKeyJwtInput({ kdf: 'a1', jwk, ...payload })
      return formatPublicKeyJwt(input, signatureOf(input))
    }
  }
}
