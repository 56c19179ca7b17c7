import { createHash, createPublicKey, verify } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import published from '../../../public/kdf-a1.json' with { type: 'json' }
import { fromHex, toBase64Url } from '../../../src/core/bytes.ts'
import {
  emailHash,
  formatChallenge,
  splitChallengeResponse
} from '../../../src/core/keys/challenge.ts'
import { parsePublicKeyJwt } from '../../../src/core/keys/public-key-jwt.ts'
import { publicJwk } from '../../../src/core/keys/public-key-proof.ts'
import { createSigner, importSigningKey } from '../../../src/workers/signer.ts'

describe('signer', () => {
  test('answers a challenge with a signature of the derived key', async () => {
    const { signer, jwk } = await open()
    const challenge = makeChallenge('login')
    const parts = splitChallengeResponse(await signer.respond(challenge, 'login', 'docs.acme.test'))
    expect(parts?.challenge).toBe(challenge)
    expect(isSigned(jwk, Buffer.from(challenge), parts?.signature)).toBe(true)
  })

  test('signs its public key, fresh by a challenge', async () => {
    const { signer, jwk } = await open()
    const challenge = makeChallenge('signup')
    const text = await signer.publicKeyJwt({ challenge, aud: 'docs.acme.test', purpose: 'signup' })
    const jwt = parsePublicKeyJwt(text)
    expect(jwt?.payload).toEqual({
      aud: 'docs.acme.test',
      email: 'alice@example.com',
      purpose: 'signup',
      kdf: 'a1',
      nonce: challenge,
      jwk
    })
    expect(isSigned(jwk, jwt?.signed, jwt?.signature)).toBe(true)
  })

  test('names the mailed token it belongs to, by its hash', async () => {
    const { signer } = await open()
    const request = { challenge: makeChallenge('signup'), aud: 'docs.acme.test' }
    const text = await signer.publicKeyJwt({ ...request, purpose: 'reset', token: 'abc' })
    const th = createHash('sha256').update('abc').digest('base64url')
    expect(parsePublicKeyJwt(text)?.payload).toMatchObject({ purpose: 'reset', th })
  })

  test('proves a new e-mail with a challenge of the present one, and of no third', async () => {
    const { signer } = await open()
    const challenge = makeChallenge('rekey', 'before@example.com')
    const request = { challenge, aud: 'docs.acme.test', purpose: 'email' } as const
    const text = await signer.publicKeyJwt({ ...request, present: 'before@example.com' })
    expect(parsePublicKeyJwt(text)?.payload).toMatchObject({
      email: 'alice@example.com',
      nonce: challenge
    })
    await expect(signer.publicKeyJwt(request)).rejects.toThrow('wrong email')
  })

  test('derives once for sign-up and the sign-in after it, and not for a refused challenge', async () => {
    const { signer, derived } = await open()
    const host = 'docs.acme.test'
    await expect(signer.respond(makeChallenge('login'), 'login', 'evil.test')).rejects.toThrow(
      'wrong host'
    )
    expect(derived()).toBe(0)
    await signer.publicKeyJwt({ challenge: makeChallenge('signup'), aud: host, purpose: 'signup' })
    await signer.respond(makeChallenge('login'), 'login', host)
    expect(derived()).toBe(1)
  })

  test('does not vouch for its key with a challenge of another purpose', async () => {
    const { signer, derived } = await open()
    const challenge = makeChallenge('login')
    await expect(
      signer.publicKeyJwt({ challenge, aud: 'docs.acme.test', purpose: 'signup' })
    ).rejects.toThrow('wrong form')
    expect(derived()).toBe(0)
  })

  test('overwrites the scalar it takes', async () => {
    const [vector] = published.vectors
    const d = fromHex(vector?.d ?? '')
    await importSigningKey({ d, x: fromHex(vector?.x ?? ''), y: fromHex(vector?.y ?? '') })
    expect(d).toEqual(new Uint8Array(32))
  })
})

async function open() {
  const [vector] = published.vectors
  if (!vector) throw new Error('a vector is missing')
  const point = { x: fromHex(vector.x), y: fromHex(vector.y) }
  let derived = 0
  const signer = createSigner(vector.email_c, () => {
    derived++
    return importSigningKey({ d: fromHex(vector.d), ...point })
  })
  return { signer, jwk: publicJwk(point), derived: () => derived }
}

function makeChallenge(purpose: 'login' | 'signup' | 'rekey', email = 'alice@example.com'): string {
  const eh = emailHash(email)
  const n = toBase64Url(new Uint8Array(16))
  const payload = { aud: 'docs.acme.test', eh, n, iat: 1, exp: 121, kdf: 'a1', mk: '1' }
  return formatChallenge(purpose, payload, () => new Uint8Array(32))
}

function isSigned(
  jwk: ReturnType<typeof publicJwk>,
  bytes = new Uint8Array(),
  signature = new Uint8Array()
): boolean {
  const key = createPublicKey({ key: { ...jwk }, format: 'jwk' })
  return verify('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }, signature)
}
