import { createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromUtf8, toBase64Url, toUtf8 } from '../../../../src/core/bytes.ts'
import { parsePublicKeyJwt, publicKeyPurposes } from '../../../../src/core/keys/public-key-jwt.ts'
import {
  challengePurposeFor,
  formatPublicKeyJwt,
  publicJwk
} from '../../../../src/core/keys/public-key-proof.ts'
import { corruptedText } from '../../../helpers/corrupted.ts'
import { makeKeys } from '../../../helpers/keys.ts'
import { runCount } from '../../../helpers/soak.ts'

const keys = makeKeys()
const claims = {
  aud: 'docs.acme.test',
  email: 'alice@example.com',
  purpose: 'signup',
  nonce: 'signup.v1.e30.mac'
} as const
const token = keys.publicKeyJwt(claims)
const [header = '', body = '', signature = ''] = token.split('.')
const payload = { ...claims, kdf: 'a1', jwk: keys.jwk }

const encode = (value: unknown) => toBase64Url(toUtf8(JSON.stringify(value)))
const withHeader = (value: unknown) => `${encode(value)}.${body}.${signature}`
const withPayload = (value: unknown) => `${header}.${encode(value)}.${signature}`

describe('public_key_jwt', () => {
  test('carries the key that signed it', () => {
    const jwt = parsePublicKeyJwt(token)
    if (!jwt) throw new Error('not parsed')
    expect(jwt.payload).toEqual(payload)
    const key = createPublicKey({ key: { ...jwt.payload.jwk }, format: 'jwk' })
    const how = { key, dsaEncoding: 'ieee-p1363' } as const
    expect(verify('sha256', jwt.signed, how, jwt.signature)).toBe(true)
  })

  test('has a header of exactly two members', () => {
    expect(Buffer.from(header, 'base64url').toString()).toBe('{"alg":"ES256","typ":"pk+jwt"}')
  })

  test('takes the hash of a mail token along', () => {
    const th = toBase64Url(new Uint8Array(32).fill(3))
    expect(parsePublicKeyJwt(keys.publicKeyJwt({ ...claims, th }))?.payload.th).toBe(th)
  })

  test('writes coordinates of 32 bytes, leading zeros included', () => {
    const jwk = publicJwk({ x: new Uint8Array(32), y: new Uint8Array(32) })
    expect(jwk).toEqual({ kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) })
    const short = { x: new Uint8Array(31), y: new Uint8Array(32) }
    expect(() => publicJwk(short)).toThrow('P-256')
  })

  test('is fresh by a challenge of its purpose', () => {
    expect(publicKeyPurposes.map(purpose => [purpose, challengePurposeFor(purpose)])).toEqual([
      ['signup', 'signup'],
      ['verify', 'signup'],
      ['activate', 'signup'],
      ['reset', 'signup'],
      ['rekey', 'rekey'],
      ['email', 'rekey']
    ])
  })

  test('has one spelling of a key with four members, whatever comes (E-02)', () => {
    let accepted = 0
    const forged = fc
      .record({
        aud: fc.constantFrom(claims.aud, ''),
        email: fc.constantFrom(claims.email, 1),
        purpose: fc.constantFrom(...publicKeyPurposes, 'login'),
        nonce: fc.string({ maxLength: 40 }),
        kdf: fc.string({ maxLength: 3 }),
        jwk: fc.oneof(fc.constant(keys.jwk), fc.jsonValue({ maxDepth: 1 }))
      })
      .map(withPayload)
    fc.assert(
      fc.property(fc.oneof(corruptedText(token), corruptedText(token), forged), text => {
        const jwt = parsePublicKeyJwt(text)
        if (!jwt) return
        accepted++
        expect(text.length).toBeLessThanOrEqual(4096)
        expect(Object.keys(jwt.payload.jwk).sort()).toEqual(['crv', 'kty', 'x', 'y'])
        expect(publicKeyPurposes).toContain(jwt.payload.purpose)
        expect(formatPublicKeyJwt(fromUtf8(jwt.signed), jwt.signature)).toBe(text)
      }),
      { numRuns: runCount(1_000, 1_000_000) }
    )
    expect(accepted).toBeGreaterThan(100)
  })

  test.each([
    ['nothing', ''],
    ['two parts', `${header}.${body}`],
    ['no signature', `${header}.${body}.`],
    ['four parts', `${token}.${signature}`],
    ['a last character with spare bits', token.replace(/.$/, 'B')],
    ['over 4,096 bytes', withPayload({ ...payload, nonce: 'n'.repeat(4096) })],
    ['alg none', withHeader({ alg: 'none', typ: 'pk+jwt' })],
    ['alg HS256', withHeader({ alg: 'HS256', typ: 'pk+jwt' })],
    ['typ JWT', withHeader({ alg: 'ES256', typ: 'JWT' })],
    ['no typ', withHeader({ alg: 'ES256' })],
    ['a key in the header', withHeader({ alg: 'ES256', typ: 'pk+jwt', jwk: keys.jwk })],
    ['a key address', withHeader({ alg: 'ES256', typ: 'pk+jwt', jku: 'https://evil.test' })],
    ['a key id', withHeader({ alg: 'ES256', typ: 'pk+jwt', kid: '1' })],
    ['an unknown claim', withPayload({ ...payload, exp: 1 })],
    ['an unknown purpose', withPayload({ ...payload, purpose: 'login' })],
    ['no nonce', withPayload({ ...payload, nonce: undefined })],
    ['a private key', withPayload({ ...payload, jwk: { ...keys.jwk, d: keys.jwk.x } })],
    ['another curve', withPayload({ ...payload, jwk: { ...keys.jwk, crv: 'P-384' } })],
    ['a short x', withPayload({ ...payload, jwk: { ...keys.jwk, x: keys.jwk.x.slice(1) } })],
    [
      'x in another spelling',
      withPayload({ ...payload, jwk: { ...keys.jwk, x: `${'A'.repeat(42)}B` } })
    ],
    ['a payload that is no object', withPayload('text')],
    ['no JSON', `${header}.${toBase64Url(toUtf8('{'))}.${signature}`]
  ])('is refused with %s', (_, text) => {
    expect(parsePublicKeyJwt(text)).toBeUndefined()
  })
})
