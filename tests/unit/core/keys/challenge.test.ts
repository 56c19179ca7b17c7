import { createHash, createHmac } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromUtf8, toBase64Url, toUtf8 } from '../../../../src/core/bytes.ts'
import {
  type ChallengePayload,
  type ChallengePurpose,
  challengePurposes,
  checkChallengeBeforeSigning,
  emailHash,
  formatChallenge,
  formatChallengeResponse,
  parseChallenge,
  splitChallengeResponse
} from '../../../../src/core/keys/challenge.ts'
import { corruptedText } from '../../../helpers/corrupted.ts'
import { runCount } from '../../../helpers/soak.ts'

const mac = (signed: Uint8Array) => createHmac('sha256', 'a key').update(signed).digest()

const payload: ChallengePayload = {
  aud: 'docs.acme.test',
  eh: emailHash('alice@example.com'),
  n: toBase64Url(new Uint8Array(16).fill(9)),
  iat: 1_700_000_000,
  exp: 1_700_000_120,
  kdf: 'a1',
  mk: '1'
}
const expected = {
  challenge: formatChallenge('login', payload, mac),
  purpose: 'login' as ChallengePurpose,
  host: 'docs.acme.test',
  email: 'alice@example.com'
}

/**
 * Returns a challenge with a valid MAC and any content, even one that `formatChallenge` refuses.
 */
function forge(content: unknown, purpose = 'login'): string {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  const signed = `${purpose}.v1.${toBase64Url(toUtf8(text))}`
  return `${signed}.${toBase64Url(mac(toUtf8(signed)))}`
}

describe('challenge', () => {
  test.each(challengePurposes)('is read back as it was written: %s', purpose => {
    const text = formatChallenge(purpose, payload, mac)
    const challenge = parseChallenge(text, purpose)
    expect(challenge?.payload).toEqual(payload)
    expect(fromUtf8(challenge?.signed ?? new Uint8Array())).toBe(text.replace(/\.[^.]*$/, ''))
    expect(Buffer.from(challenge?.mac ?? [])).toEqual(mac(challenge?.signed ?? new Uint8Array()))
  })

  test('holds the longest host', () => {
    const aud = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`
    expect(formatChallenge('login', { ...payload, aud }, mac)).toMatch(/^login\.v1\./)
  })

  test('is not written with a short MAC or a payload out of form', () => {
    expect(() => formatChallenge('login', payload, () => new Uint8Array(31))).toThrow('form')
    expect(() => formatChallenge('login', { ...payload, mk: '' }, mac)).toThrow('form')
  })

  test.each([
    ['an unknown member', { ...payload, extra: 1 }],
    ['a member too few', { ...payload, mk: undefined }],
    ['a prototype member', JSON.stringify(payload).replace('{', '{"__proto__":{},')],
    ['a fraction as time', { ...payload, exp: 0.5 }],
    ['a time as text', { ...payload, iat: '1700000000' }],
    ['a host with port', { ...payload, aud: 'localhost:4321' }],
    ['a hash in another spelling', { ...payload, eh: `${payload.eh.slice(0, 42)}B` }],
    ['a list', [payload]],
    ['nothing', 'null'],
    ['no JSON', '{']
  ])('refuses a payload with %s', (_, content) => {
    expect(parseChallenge(forge(content), 'login')).toBeUndefined()
  })

  test('is read as what its MAC is of, or not at all (E-02)', async () => {
    let accepted = 0
    const text = corruptedText(expected.challenge)
    await fc.assert(
      fc.property(text, fc.constantFrom(...challengePurposes), (challenge, purpose) => {
        const read = parseChallenge(challenge, purpose)
        if (!read) return
        accepted++
        expect(purpose).toBe('login')
        expect(`${fromUtf8(read.signed)}.${toBase64Url(read.mac)}`).toBe(challenge)
        const written = formatChallenge(purpose, read.payload, () => read.mac)
        expect(parseChallenge(written, purpose)?.payload).toEqual(read.payload)
      }),
      { numRuns: runCount(10_000, 1_000_000) }
    )
    expect(accepted).toBeGreaterThan(100)
  })

  test('tells the e-mail only by its hash', () => {
    expect(emailHash('alice@example.com')).toBe(
      createHash('sha256').update('alice@example.com').digest('base64url')
    )
  })
})

describe('what a browser signs', () => {
  test('the whole challenge, with the key of its derivation', () => {
    expect(checkChallengeBeforeSigning(expected)).toEqual({
      bytes: toUtf8(expected.challenge),
      kdf: 'a1'
    })
  })

  test('long expired or not yet valid alike: its own clock may be wrong', () => {
    for (const iat of [0, 4_000_000_000]) {
      const challenge = formatChallenge('login', { ...payload, iat, exp: iat + 120 }, mac)
      expect(checkChallengeBeforeSigning({ ...expected, challenge }).kdf).toBe('a1')
    }
  })

  test('nothing made with a retired derivation', () => {
    expect(() => checkChallengeBeforeSigning(expected, { a1: { status: 'retired' } })).toThrow(
      'wrong kdf'
    )
  })

  test.each([
    ['another host', { host: 'docs.other.test' }, 'wrong host'],
    ['a parent host', { host: 'acme.test' }, 'wrong host'],
    ['another e-mail', { email: 'alice@example.org' }, 'wrong email'],
    ['another purpose', { purpose: 'rekey' as const }, 'wrong form'],
    ['a surrounding blank', { challenge: `${expected.challenge}\n` }, 'wrong form'],
    ['a cut MAC', { challenge: expected.challenge.slice(0, -1) }, 'wrong form'],
    ['a longer life', { challenge: forge({ ...payload, exp: payload.exp + 1 }) }, 'wrong lifetime'],
    ['an unknown derivation', { challenge: forge({ ...payload, kdf: 'a2' }) }, 'wrong kdf'],
    ['an inherited name', { challenge: forge({ ...payload, kdf: 'constructor' }) }, 'wrong kdf'],
    [
      'a JWT signing input',
      { challenge: `eyJhbGciOiJFUzI1NiJ9.${toBase64Url(toUtf8('{}'))}` },
      'form'
    ]
  ])('not with %s', (_, change, message) => {
    expect(() => checkChallengeBeforeSigning({ ...expected, ...change })).toThrow(message)
  })

  // security.md A-03
  test('nothing that differs from what it asked for', async () => {
    const different = <T>(arbitrary: fc.Arbitrary<T>, from: T) =>
      arbitrary.filter(value => value !== from)
    const tampered: fc.Arbitrary<Partial<typeof expected>> = fc.oneof(
      fc.record({ host: different(fc.domain(), expected.host) }),
      fc.record({ email: different(fc.emailAddress(), expected.email) }),
      fc.record({ purpose: fc.constantFrom('signup' as const, 'rekey' as const) }),
      fc.record({ challenge: fc.string({ maxLength: 300 }).map(text => forge(text)) }),
      fc.record({ challenge: fc.jsonValue().map(value => forge(value)) }),
      fc.record({ challenge: fc.string({ maxLength: 700 }).map(text => `eyJ${text}`) }),
      fc.record({ challenge: fc.string().map(text => `eyJ${expected.challenge}${text}`) }),
      fc.record({
        challenge: different(fc.domain(), payload.aud).map(aud => forge({ ...payload, aud }))
      }),
      fc.record({
        challenge: different(fc.string({ maxLength: 16 }), 'a1').map(kdf =>
          forge({ ...payload, kdf })
        )
      }),
      fc.record({
        challenge: different(fc.integer(), payload.exp).map(exp => forge({ ...payload, exp }))
      }),
      fc.record({
        challenge: fc
          .tuple(
            fc.nat(expected.challenge.length - 1),
            fc.constantFrom('', '.', '=', ' ', '\n', 'é')
          )
          .map(
            ([at, text]) =>
              expected.challenge.slice(0, at) + text + expected.challenge.slice(at + 1)
          )
          .filter(challenge => challenge !== expected.challenge)
      })
    )
    let signatures = 0
    await fc.assert(
      fc.property(tampered, change => {
        expect(() => {
          checkChallengeBeforeSigning({ ...expected, ...change })
          signatures++
        }).toThrow(/^challenge: wrong/)
      }),
      { numRuns: runCount(200, 10_000) }
    )
    expect(signatures).toBe(0)
  })
})

describe('response', () => {
  const signature = new Uint8Array(64).fill(255)

  test('has one spelling, whatever comes (E-02)', async () => {
    let accepted = 0
    const response = formatChallengeResponse(expected.challenge, signature)
    await fc.assert(
      fc.property(corruptedText(response), text => {
        const parts = splitChallengeResponse(text)
        if (!parts) return
        accepted++
        expect(parts.signature).toHaveLength(64)
        expect(formatChallengeResponse(parts.challenge, parts.signature)).toBe(text)
      }),
      { numRuns: runCount(10_000, 1_000_000) }
    )
    expect(accepted).toBeGreaterThan(1000)
  })

  test('is the challenge and a signature, and splits into them', () => {
    const response = formatChallengeResponse(expected.challenge, signature)
    expect(response).toBe(`${expected.challenge}.${'_'.repeat(85)}w`)
    expect(splitChallengeResponse(response)).toEqual({ challenge: expected.challenge, signature })
  })

  test.each([
    ['nothing', ''],
    ['no challenge', `.${'_'.repeat(85)}w`],
    ['a short signature', `${expected.challenge}.${'_'.repeat(84)}w`],
    ['a long signature', `${expected.challenge}.${'_'.repeat(86)}w`],
    ['a last character with spare bits', `${expected.challenge}.${'_'.repeat(86)}`],
    ['padding', `${expected.challenge}.${'_'.repeat(84)}w=`],
    ['standard base64', `${expected.challenge}.${'/'.repeat(85)}w`]
  ])('is refused with %s', (_, text) => {
    expect(splitChallengeResponse(text)).toBeUndefined()
  })
})
