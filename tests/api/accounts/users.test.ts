import { generateKeyPairSync, sign } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createUser, getOwnAccount, updateOwnAccount } from '../../../src/contract/users.ts'
import {
  type Account,
  type MultiHostApp,
  makeMultiHostApp,
  newAccount
} from '../../helpers/accounts.ts'
import { makeKeys } from '../../helpers/keys.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

let service: MultiHostApp
beforeAll(async () => {
  service = await makeMultiHostApp()
})
afterAll(() => service[Symbol.asyncDispose]())

test('signs a person up, active at once and in the default group', async () => {
  const account = await service.signUp()
  const { access_token: token } = await service.signIn(account)

  expect(await service.call('localhost', getOwnAccount, {}, { token })).toEqual({
    id: account.id,
    email: account.email,
    username: 'Ada Lovelace',
    initials: 'AL',
    locale: 'und',
    features: ['deposit'],
    permissions: [],
    company: { id: service.companies.localhost, name: 'Here' },
    usage_remaining: { requests: null, storage: null },
    usage: {
      requests_used: 0,
      requests_limit: null,
      requests_remaining: null,
      storage_used: 0,
      storage_limit: null,
      storage_remaining: null,
      resets_at: null,
      own: { requests_used: 0, storage_used: 0 }
    }
  })
})

test('keeps the language chosen at sign-up', async () => {
  const account = newAccount()
  await service.call('localhost', createUser, {
    ...(await service.signUpInput(account)),
    locale: 'fr'
  })
  const { access_token: token } = await service.signIn(account)
  expect(await service.call('localhost', getOwnAccount, {}, { token })).toMatchObject({
    locale: 'fr'
  })
})

test('takes an e-mail in any spelling for the same one', async () => {
  const account = await service.signUp()
  const typed = { ...account, email: ` ${account.email.toUpperCase()}\n` }
  await expect(service.signIn(typed)).resolves.toHaveProperty('access_token')
})

test('stores the public key sealed, in its place', async () => {
  const account = await service.signUp()
  const { rows } = await service.owner.query('select * from user_key where user_id = $1', [
    account.id
  ])
  const sealed: Buffer = rows[0].pub_enc
  expect(sealed).toHaveLength(1 + 12 + 65 + 16)
  expect(sealed[0]).toBe(1)
  expect(sealed.includes(Buffer.from(account.keys.jwk.x, 'base64url'))).toBe(false)
  const aad = `vidimus/pub/v1|${rows[0].company_id}|${account.id}|${rows[0].key_id}|a1`
  const point = service.deps.keys.open(sealed.subarray(1), aad)
  expect(point.toString('base64url')).toBe(
    Buffer.concat([
      Buffer.of(4),
      Buffer.from(account.keys.jwk.x, 'base64url'),
      Buffer.from(account.keys.jwk.y, 'base64url')
    ]).toString('base64url')
  )
})

test('refuses a taken e-mail, in its own company only', async () => {
  const account = await service.signUp()
  const again = { ...newAccount(), email: account.email }
  await expect(signUp(again)).rejects.toMatchObject({ code: 'email_taken', status: 409 })
  await expect(signUp({ ...again, host: 'demo.localhost' })).resolves.toHaveProperty('id')
})

test('takes one of ten parallel sign-ups with one e-mail', async () => {
  const { email } = newAccount()
  const tries = Array.from({ length: 10 }, () => signUp({ ...newAccount(), email }))
  const results = await Promise.allSettled(tries)
  expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1)
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'email_taken' })
  }
})

test('takes no sign-up on a host that is not public', async () => {
  const account = newAccount('closed.localhost')
  await expect(signUp(account)).rejects.toMatchObject({ code: 'signup_closed', status: 403 })
})

test('answers a repeated sign-up with what the first one made', async () => {
  const account = newAccount()
  const input = await service.signUpInput(account)
  const headers = { 'idempotency-key': `key-${account.email}` }
  const first = await service.call('localhost', createUser, input, { headers })
  // the challenge is used and old by now
  service.wait(600)
  const response = await service.fetch(signUpRequest(input), { headers })

  expect(response.status).toBe(201)
  expect(response.headers.get('idempotent-replayed')).toBe('true')
  expect(await response.json()).toEqual(first)
})

test('refuses one idempotency key for two people, and one that is too long', async () => {
  const headers = { 'idempotency-key': `key-${newAccount().email}` }
  const [first, second] = [newAccount(), newAccount()]
  const send = async (account: Account, key = headers) =>
    service.call('localhost', createUser, await service.signUpInput(account), { headers: key })
  await send(first)
  await expect(send(second)).rejects.toEqual(errorWithCode('idempotency_key_reused'))
  const long = { 'idempotency-key': 'k'.repeat(256) }
  await expect(send(second, long)).rejects.toEqual(errorWithCode('invalid_input'))
})

type SignUpInput = { email: string; username: string; public_key_jwt: string }
type Forge = (account: Account, input: SignUpInput) => Promise<string> | string

const badKeys: Record<string, Forge> = {
  'no JWT at all': () => 'a.b.c',
  'another purpose': async account => forged(account, { purpose: 'reset' }),
  'another host': async account => forged(account, { aud: 'demo.localhost' }),
  'another e-mail': async account => forged(account, { email: 'eve@example.com' }),
  'an e-mail that is not canonical': async account =>
    forged(account, { email: account.email.toUpperCase() }),
  'a derivation nobody knows': async account => forged(account, { kdf: 'a0' }),
  'the hash of a mail token': async account => forged(account, { th: account.keys.jwk.x }),
  'another key inside than the one that signed': async account =>
    forged(account, { jwk: makeKeys().jwk }),
  'a private key': async account =>
    rewritten(account, payload => {
      payload['jwk'] = { ...account.keys.jwk, d: account.keys.jwk.x }
    }),
  'a point that is not on the curve': async account =>
    rewritten(account, payload => {
      payload['jwk'] = { ...account.keys.jwk, y: account.keys.jwk.x }
    }),
  'coordinates spelt otherwise': async account =>
    rewritten(account, (payload, jwk) => {
      payload['jwk'] = { ...jwk, x: otherSpelling(jwk.x) }
    }),
  'short coordinates': async account =>
    rewritten(account, (payload, jwk) => {
      payload['jwk'] = { ...jwk, x: jwk.x.slice(0, -1) }
    }),
  'a surplus member': async account =>
    rewritten(account, payload => {
      payload['admin'] = true
    }),
  'the algorithm none': async account =>
    rewritten(account, () => undefined, { alg: 'none', typ: 'pk+jwt' }),
  'another type': async account =>
    rewritten(account, () => undefined, { alg: 'ES256', typ: 'JWT' }),
  'a key in the header': async account =>
    rewritten(account, () => undefined, { alg: 'ES256', typ: 'pk+jwt', jwk: account.keys.jwk }),
  'the address of a key': async account =>
    rewritten(account, () => undefined, { alg: 'ES256', typ: 'pk+jwt', jku: 'http://127.0.0.1/' }),
  'a flipped signature': (_account, input) => flip(input.public_key_jwt, -40),
  'a signature spelt otherwise': (_account, input) => otherSpelling(input.public_key_jwt),
  'a cut signature': (_account, input) => input.public_key_jwt.slice(0, -1),
  'a changed payload': (_account, input) => flip(input.public_key_jwt, 80)
}

test.for(Object.entries(badKeys))('refuses a public_key_jwt with %s', async ([, forge]) => {
  const account = newAccount()
  const input = await service.signUpInput(account)
  const public_key_jwt = await forge(account, input)
  const before = await rows()

  await expect(
    service.call('localhost', createUser, { ...input, public_key_jwt })
  ).rejects.toMatchObject({ code: 'key_invalid', status: 422 })
  expect(await rows()).toEqual(before)
})

const badChallenges: Record<string, (account: Account) => Promise<string>> = {
  'of a login': account => service.challengeFor(account, 'login'),
  'of a key change': account => service.challengeFor(account, 'rekey'),
  'of another e-mail': () => service.challengeFor(newAccount(), 'signup'),
  'of another host of the company': account =>
    service.challengeFor({ ...account, host: 'second.localhost' }, 'signup'),
  'of another company': account =>
    service.challengeFor({ ...account, host: 'demo.localhost' }, 'signup'),
  'with a forged MAC': async account => flip(await service.challengeFor(account, 'signup'), -20),
  'with a changed payload': async account =>
    flip(await service.challengeFor(account, 'signup'), 40),
  'that is no challenge': async () => 'signup.v1.e30.AAAA',
  'that ran out': async account => {
    const challenge = await service.challengeFor(account, 'signup')
    service.wait(126)
    return challenge
  },
  'that was used before': async account => {
    const challenge = await service.challengeFor(account, 'signup')
    await signUp(account, challenge)
    return challenge
  }
}

test.for(Object.entries(badChallenges))(
  'refuses a sign-up with a challenge %s',
  async ([, make]) => {
    const account = newAccount()
    const nonce = await make(account)
    const before = await rows()

    await expect(signUp(account, nonce)).rejects.toMatchObject({
      code: 'challenge_invalid',
      status: 422
    })
    expect(await rows()).toEqual(before)
  }
)

test('takes signatures with high and with low s', async () => {
  const seen = new Set<boolean>()
  for (let round = 0; seen.size < 2 || round < 8; round++) {
    const account = newAccount()
    const input = await service.signUpInput(account)
    seen.add(isHigh(input.public_key_jwt))
    await expect(service.call('localhost', createUser, input)).resolves.toHaveProperty('id')
  }
})

test('changes the name and the language, each alone', async () => {
  const { access_token: token } = await service.signIn(await service.signUp())
  const update = (input: { username?: string; locale?: 'en' | 'fr' }) =>
    service.call('localhost', updateOwnAccount, input, { token })

  expect(await update({ locale: 'fr' })).toMatchObject({ username: 'Ada Lovelace', locale: 'fr' })
  expect(await update({ username: ' Grace Hopper ' })).toMatchObject({
    username: 'Grace Hopper',
    initials: 'GH',
    locale: 'fr'
  })
  expect(await update({})).toMatchObject({ username: 'Grace Hopper', locale: 'fr' })
})

test('gathers the features of all groups', async () => {
  const account = await service.signUp()
  await service.owner.query(
    `with made as (
       insert into "group" (company_id, id, name, features, max_requests, max_storage, created_at)
       values ($1, gen_random_uuid(), 'More', '{archive,deposit}', 5, 10, now())
       returning company_id, id)
     insert into group_user select company_id, id, $2 from made`,
    [service.companies.localhost, account.id]
  )
  const { access_token: token } = await service.signIn(account)
  expect(await service.call('localhost', getOwnAccount, {}, { token })).toMatchObject({
    features: ['archive', 'deposit']
  })
})

test('says what is used of which limit, until when, over all groups', async () => {
  const account = await service.signUp()
  await service.owner.query('delete from group_user where user_id = $1', [account.id])
  const start = service.deps.clock()
  for (const [interval, requests, storage] of [
    ['P30D', 1000, 5000],
    ['P1D', 200, 300]
  ]) {
    await service.owner.query(
      `with made as (
         insert into "group"
           (company_id, id, name, max_requests, max_requests_interval, max_storage, created_at)
         values ($1, gen_random_uuid(), 'Limited ' || $4::text, $3, $4, $5, $6) returning company_id, id),
       counted as (
         insert into usage (company_id, group_id, kind, period_start, used, reserved)
         select company_id, id, 'requests', date_trunc('day', $6::timestamptz, 'UTC'), 3, 1 from made)
       insert into group_user select company_id, id, $2 from made`,
      [service.companies.localhost, account.id, requests, interval, storage, start]
    )
  }
  const { access_token: token } = await service.signIn(account)
  const { usage, usage_remaining } = await service.call('localhost', getOwnAccount, {}, { token })
  expect(usage).toMatchObject({
    requests_used: 8,
    requests_limit: 1200,
    requests_remaining: 1192,
    storage_used: 0,
    storage_limit: 5300,
    storage_remaining: 5300
  })
  expect(usage_remaining).toEqual({ requests: 1192, storage: 5300 })
  const resets = Date.parse(usage?.resets_at ?? '') - service.deps.clock().getTime()
  expect(resets).toBeGreaterThan(0)
  expect(resets).toBeLessThanOrEqual(86_400_000)
})

test('writes no e-mail and no key into the log', async () => {
  const account = await service.signUp()
  await expect(service.signIn({ ...account, keys: makeKeys() })).rejects.toThrow()
  const log = JSON.stringify(service.logged)
  expect(log).toContain('login_failed')
  expect(log).not.toContain(account.email)
  expect(log).not.toContain(account.keys.jwk.x)
})

async function signUp(account: Account, nonce?: string) {
  const { host: aud, email } = account
  const challenge = nonce ?? (await service.challengeFor(account, 'signup'))
  const public_key_jwt = account.keys.publicKeyJwt({
    aud,
    email,
    purpose: 'signup',
    nonce: challenge
  })
  return service.call(aud, createUser, { email, username: 'Ada', public_key_jwt })
}

function signUpRequest(input: SignUpInput): Request {
  return new Request('http://api.localhost/user', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input)
  })
}

async function forged(
  account: Account,
  change: Partial<Parameters<Account['keys']['publicKeyJwt']>[0]>
): Promise<string> {
  const nonce = await service.challengeFor(account, 'signup')
  const { host: aud, email } = account
  return account.keys.publicKeyJwt({ aud, email, purpose: 'signup', nonce, ...change })
}

/**
 * Returns a `public_key_jwt` whose payload or key `change` has altered. It is signed with the key
 * that it contained before, so nothing but the change is wrong.
 */
async function rewritten(
  account: Account,
  change: (payload: Record<string, unknown>, jwk: { x: string; y: string }) => void,
  header: object = { alg: 'ES256', typ: 'pk+jwt' }
): Promise<string> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const jwk = { kty: 'EC', crv: 'P-256', x, y }
  const { host: aud, email } = account
  const nonce = await service.challengeFor(account, 'signup')
  const payload: Record<string, unknown> = { aud, email, purpose: 'signup', kdf: 'a1', nonce, jwk }
  change(payload, jwk)
  const input = [header, payload]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(input), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363'
  })
  return `${input}.${signature.toString('base64url')}`
}

function flip(text: string, at: number): string {
  const index = at < 0 ? text.length + at : at
  const flipped = text[index] === 'A' ? 'B' : 'A'
  return text.slice(0, index) + flipped + text.slice(index + 1)
}

/**
 * Replaces the last character of a base64url text with another one that decodes to the same bytes.
 */
function otherSpelling(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return text.slice(0, -1) + alphabet[alphabet.indexOf(text.slice(-1)) + 1]
}

function isHigh(jwt: string): boolean {
  return (Buffer.from(jwt.slice(-86), 'base64url')[32] ?? 0) >= 0x80
}

async function rows(): Promise<unknown> {
  const { rows } = await service.owner.query(`select
    (select count(*) from "user")::int users, (select count(*) from user_key)::int keys,
    (select count(*) from group_user)::int memberships,
    (select count(*) from used_challenge)::int challenges,
    (select count(*) from idempotency)::int acts`)
  return rows[0]
}
