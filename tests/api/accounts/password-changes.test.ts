import { afterAll, beforeAll, expect, test } from 'vitest'
import { logIn } from '../../../src/contract/sessions.ts'
import { changePassword, getOwnAccount } from '../../../src/contract/users.ts'
import type { PublicKeyPayload } from '../../../src/core/keys/public-key-jwt.ts'
import {
  type Account,
  type MultiHostApp,
  makeMultiHostApp,
  newAccount
} from '../../helpers/accounts.ts'
import { makeKeys, type TestKeys } from '../../helpers/keys.ts'
import { errorWithCode } from '../../helpers/refusals.ts'
import { runCount } from '../../helpers/soak.ts'

let service: MultiHostApp
beforeAll(async () => {
  service = await makeMultiHostApp()
})
afterAll(() => service[Symbol.asyncDispose]())

interface Forged {
  /** The key that signs the challenge. The account's current key when absent. */
  signer?: TestKeys
  challenge?: string
  jwt?: string
  payload?: Partial<PublicKeyPayload>
}

/** Returns what a browser sends to change a password. `forged` replaces parts of it. */
async function proofsOf(account: Account, next: TestKeys, forged: Forged = {}) {
  const { host: aud, email, keys } = account
  const nonce = forged.challenge ?? (await service.challengeFor(account, 'rekey'))
  const proof = { aud, email, purpose: 'rekey', nonce, ...forged.payload } as const
  return {
    challenge_response: (forged.signer ?? keys).respond(nonce),
    public_key_jwt: forged.jwt ?? next.publicKeyJwt(proof)
  }
}

async function change(account: Account, token: string, next: TestKeys, forged?: Forged) {
  return service.call(account.host, changePassword, await proofsOf(account, next, forged), {
    token
  })
}

async function signedIn(account: Account): Promise<string> {
  return (await service.signIn(account)).access_token
}

const getsUser = (token: string) => service.call('localhost', getOwnAccount, {}, { token })

test('replaces the key: the new password signs in, the old one does not', async () => {
  const account = await service.signUp()
  const token = await signedIn(account)
  const next = makeKeys()
  await change(account, token, next)

  await expect(service.signIn(account)).rejects.toEqual(errorWithCode('login_failed'))
  await expect(service.signIn({ ...account, keys: next })).resolves.toHaveProperty('access_token')
  const { rows } = await service.owner.query(
    'select retired_at is null as live from user_key where user_id = $1 order by created_at, retired_at',
    [account.id]
  )
  expect(rows.map(row => row.live).sort()).toEqual([false, true])
})

test('ends every other session of the person and of nobody else, and tells the streams', async () => {
  const [ada, eve] = [await service.signUp(), await service.signUp()]
  const [mine, other] = [await signedIn(ada), await signedIn(ada)]
  const foreign = await signedIn(eve)
  const told: unknown[] = []
  const stop = service.deps.signals.sessions.on(person => told.push(person))
  await change(ada, mine, makeKeys())
  stop()

  const hers = { company: service.companies.localhost, user: ada.id }
  // of the sessions and of the API keys
  expect(told).toEqual([hers, hers])
  await expect(getsUser(mine)).resolves.toHaveProperty('id')
  await expect(getsUser(foreign)).resolves.toHaveProperty('id')
  await expect(getsUser(other)).rejects.toEqual(errorWithCode('unauthenticated'))
})

test('answers a wrong present password with 422, which signs nobody out', async () => {
  const account = await service.signUp()
  const token = await signedIn(account)
  await expect(change(account, token, makeKeys(), { signer: makeKeys() })).rejects.toMatchObject({
    code: 'password_wrong',
    status: 422
  })
  await expect(getsUser(token)).resolves.toHaveProperty('id')
  await expect(service.signIn(account)).resolves.toHaveProperty('device')
})

test('refuses the eleventh wrong password, and counts no right one', async () => {
  const account = await service.signUp()
  const token = await signedIn(account)
  const wrong = () => change(account, token, makeKeys(), { signer: makeKeys() })
  for (let tries = 0; tries < 9; tries++) {
    await expect(wrong()).rejects.toEqual(errorWithCode('password_wrong'))
  }
  for (let tries = 0; tries < 3; tries++) await change(account, token, account.keys)
  await expect(wrong()).rejects.toEqual(errorWithCode('password_wrong'))
  await expect(wrong()).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
  await expect(change(account, token, makeKeys())).rejects.toEqual(errorWithCode('rate_limited'))
})

const badChallenges: Record<string, (account: Account) => Promise<string>> = {
  'of a login': account => service.challengeFor(account, 'login'),
  'of a sign-up': account => service.challengeFor(account, 'signup'),
  'of another e-mail': () => service.challengeFor(newAccount(), 'rekey'),
  'of another host of the company': account =>
    service.challengeFor({ ...account, host: 'second.localhost' }, 'rekey'),
  'of another company': account =>
    service.challengeFor({ ...account, host: 'demo.localhost' }, 'rekey'),
  'with a forged MAC': async account => flip(await service.challengeFor(account, 'rekey'), -20),
  'that ran out': async account => {
    const challenge = await service.challengeFor(account, 'rekey')
    service.wait(126)
    return challenge
  },
  'that was answered before': async account => {
    const challenge = await service.challengeFor(account, 'rekey')
    await change(account, await signedIn(account), account.keys, { challenge })
    return challenge
  }
}

test.for(Object.entries(badChallenges))('refuses a challenge %s', async ([, make]) => {
  const account = await service.signUp()
  const challenge = await make(account)
  const token = await signedIn(account)
  const before = await rows()
  await expect(change(account, token, makeKeys(), { challenge })).rejects.toMatchObject({
    code: 'challenge_invalid',
    status: 422
  })
  expect(await rows()).toEqual(before)
})

const badKeys: Record<string, (account: Account) => Promise<Forged> | Forged> = {
  'that is none': () => ({ jwt: 'a.b.c' }),
  'of a sign-up': () => ({ payload: { purpose: 'signup' } }),
  'of a reset': () => ({ payload: { purpose: 'reset' } }),
  'for another host': () => ({ payload: { aud: 'demo.localhost' } }),
  'for another e-mail': () => ({ payload: { email: 'eve@example.com' } }),
  'with another challenge of the same person': async account => ({
    payload: { nonce: await service.challengeFor(account, 'rekey') }
  }),
  'of a derivation nobody knows': () => ({ payload: { kdf: 'a0' } }),
  'with the hash of a mail token': account => ({ payload: { th: account.keys.jwk.x } }),
  'that another key signed': () => ({ payload: { jwk: makeKeys().jwk } })
}

test.for(Object.entries(badKeys))('refuses a public_key_jwt %s', async ([, forge]) => {
  const account = await service.signUp()
  const token = await signedIn(account)
  const forged = await forge(account)
  const before = await rows()
  await expect(change(account, token, makeKeys(), forged)).rejects.toMatchObject({
    code: 'key_invalid',
    status: 422
  })
  expect(await rows()).toEqual(before)
})

test('lets one of ten parallel changes with the old password through', async () => {
  const account = await service.signUp()
  const token = await signedIn(account)
  const tries = Array.from({ length: 10 }, () => {
    const next = makeKeys()
    return change(account, token, next).then(() => next)
  })
  const results = await Promise.allSettled(tries)
  const done = results.filter(result => result.status === 'fulfilled')
  expect(done).toHaveLength(1)
  for (const result of results) {
    if (result.status === 'rejected') {
      expect(result.reason).toMatchObject({ code: 'password_wrong' })
    }
  }
  const [winner] = done
  if (winner) await service.signIn({ ...account, keys: winner.value })
})

test('leaves no session behind that the old password was just making', async () => {
  for (let round = 0; round < runCount(1, 10); round++) {
    const account = await service.signUp()
    const token = await signedIn(account)
    const logins = await Promise.all(
      Array.from({ length: 5 }, async () => ({
        email: account.email,
        challenge_response: account.keys.respond(await service.challengeFor(account))
      }))
    )
    const next = makeKeys()
    const [, ...made] = await Promise.allSettled([
      change(account, token, next),
      ...logins.map(input => service.call('localhost', logIn, input))
    ])
    await service.signIn({ ...account, keys: next })
    for (const login of made) {
      if (login.status === 'rejected') continue
      await expect(getsUser(login.value.access_token)).rejects.toEqual(
        errorWithCode('unauthenticated')
      )
    }
  }
})

test('writes no e-mail and no key into the log', async () => {
  const account = await service.signUp()
  const token = await signedIn(account)
  const next = makeKeys()
  await expect(change(account, token, next, { signer: makeKeys() })).rejects.toThrow()
  await change(account, token, next)
  const log = JSON.stringify(service.logged)
  expect(log).toContain('rekey_failed')
  expect(log).not.toContain(account.email)
  expect(log).not.toContain(next.jwk.x)
})

function flip(text: string, at: number): string {
  const index = at < 0 ? text.length + at : at
  const flipped = text[index] === 'A' ? 'B' : 'A'
  return text.slice(0, index) + flipped + text.slice(index + 1)
}

async function rows(): Promise<unknown> {
  const { rows } = await service.owner.query(`select
    (select count(*) from user_key)::int keys,
    (select count(*) from user_key where retired_at is null)::int live,
    (select count(*) from session where revoked_at is null)::int sessions,
    (select count(*) from used_challenge)::int challenges`)
  return rows[0]
}
