import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AppError } from '../../../src/contract/kit/errors.ts'
import {
  endSession,
  getChallenge,
  listSessions,
  logIn,
  logOut
} from '../../../src/contract/sessions.ts'
import { createUser, getOwnAccount } from '../../../src/contract/users.ts'
import { readTokenExpirySeconds } from '../../../src/core/keys/access-token.ts'
import { expiredRowDeletions } from '../../../src/server/domain/expired-rows.ts'
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

test('signs in with the key of the sign-up', async () => {
  const account = await service.signUp()
  const { access_token: token } = await service.signIn(account)
  expect(await service.call('localhost', getOwnAccount, {}, { token })).toMatchObject({
    id: account.id
  })
})

test('remembers the browser family and nothing else of the browser', async () => {
  const account = await service.signUp()
  const agents = {
    'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0': 'Firefox',
    'Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15':
      'Safari',
    'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36':
      'Chrome',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0':
      'Edge',
    'curl/8': 'Other'
  }
  for (const agent of Object.keys(agents)) {
    await service.signIn(account, { headers: { 'user-agent': agent } })
  }
  const { rows } = await service.owner.query(
    'select agent from session where user_id = $1 order by created_at, id',
    [account.id]
  )
  expect(rows.map(row => row.agent).sort()).toEqual(Object.values(agents).sort())
})

//
test('gives one token for one response sent 50 times in parallel, ten times over', async () => {
  for (let round = 0; round < 10; round++) {
    const account = await service.signUp()
    const challenge_response = account.keys.respond(await service.challengeFor(account))
    const input = { email: account.email, challenge_response }
    const results = await Promise.allSettled(
      // from 50 addresses, so that no limit answers in place of the challenge
      Array.from({ length: 50 }, (_, at) =>
        service.call('localhost', logIn, input, { address: `198.51.100.${at}` })
      )
    )
    expect(results.filter(result => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'login_failed' })
    }
    const { rows } = await service.owner.query('select 1 from session where user_id = $1', [
      account.id
    ])
    expect(rows).toHaveLength(1)
  }
})

type Attempt = (account: Account) => Promise<{ email: string; challenge_response: string }>

const refusals: Record<string, Attempt> = {
  'an unknown e-mail': async () => answer(newAccount()),
  'another key': async account => answer({ ...account, keys: makeKeys() }),
  'a challenge of a sign-up': async account =>
    respond(account, await service.challengeFor(account, 'signup')),
  'a challenge of a key change': async account =>
    respond(account, await service.challengeFor(account, 'rekey')),
  'a challenge of another host of the company': async account =>
    respond(account, await service.challengeFor({ ...account, host: 'second.localhost' })),
  'a challenge of another company': async account =>
    respond(account, await service.challengeFor({ ...account, host: 'demo.localhost' })),
  'a challenge of another e-mail': async account =>
    respond(account, await service.challengeFor(newAccount())),
  'a challenge that ran out': async account => {
    const attempt = await answer(account)
    service.wait(126)
    return attempt
  },
  'a challenge that was answered before': async account => {
    const attempt = await answer(account)
    await service.call('localhost', logIn, attempt)
    return attempt
  },
  'the second signature of an answered challenge': async account => {
    const attempt = await answer(account)
    await service.call('localhost', logIn, attempt)
    return { ...attempt, challenge_response: malleate(attempt.challenge_response) }
  },
  'a forged MAC': async account => respond(account, flip(await service.challengeFor(account), -20)),
  'a changed payload': async account =>
    respond(account, flip(await service.challengeFor(account), 40)),
  'a JWT in place of a challenge': async account => respond(account, 'eyJhbGciOiJub25lIn0.e30'),
  'a flipped signature': async account => changed(account, text => flip(text, -40)),
  'a signature spelt otherwise': async account => changed(account, otherSpelling),
  'a cut signature': async account => changed(account, text => text.slice(0, -1)),
  'a long signature': async account => changed(account, text => `${text}A`),
  'a signature of zeros': async account =>
    changed(account, text => text.slice(0, -86) + 'A'.repeat(86)),
  'no signature': async account => changed(account, text => text.slice(0, -87)),
  nothing: async account => changed(account, () => '')
}

test.for(Object.entries(refusals))('refuses %s with the same bytes', async ([, attempt]) => {
  const account = await service.signUp()
  const input = await attempt(account)
  const before = await sessions()
  const response = await service.fetch(post('/user/login', input))

  expect(response.status).toBe(401)
  const { instance, ...body } = await response.json()
  expect(instance).toMatch(/^[\w-]{12}$/)
  expect(body).toEqual({
    type: 'about:blank',
    title: 'Unauthorized',
    status: 401,
    detail: 'E-mail and password do not match, or the challenge is used',
    code: 'login_failed'
  })
  expect(await sessions()).toEqual(before)
})

test('opens as many keys for a stranger as for a person, and one for who signs in', async () => {
  const account = await service.signUp()
  const opened = async (attempt: Attempt) => {
    const input = await attempt(account)
    const { open } = service.deps.keys
    let count = 0
    service.deps.keys.open = (sealed, aad) => {
      count++
      return open(sealed, aad)
    }
    await service.fetch(post('/user/login', input))
    service.deps.keys.open = open
    return count
  }
  expect(await opened(async () => answer(account))).toBe(1)
  expect(await opened(async () => answer({ ...account, keys: makeKeys() }))).toBe(5)
  expect(await opened(async () => answer(newAccount()))).toBe(5)
})

test('takes signatures with high and with low s', async () => {
  const account = await service.signUp()
  const input = await answer(account)
  await expect(service.call('localhost', logIn, input)).resolves.toHaveProperty('device')
  const other = await answer(account)
  other.challenge_response = malleate(other.challenge_response)
  await expect(service.call('localhost', logIn, other)).resolves.toHaveProperty('device')
})

test('gives clocks five seconds beyond the two minutes of a challenge', async () => {
  const account = await service.signUp()
  const input = await answer(account)
  service.wait(124)
  await expect(service.call('localhost', logIn, input)).resolves.toHaveProperty('access_token')
})

test('does not open a stored key in the row of another person', async () => {
  const [ada, eve] = [await service.signUp(), await service.signUp()]
  await service.owner.query(
    `update user_key set pub_enc = (select pub_enc from user_key where user_id = $2)
     where user_id = $1`,
    [ada.id, eve.id]
  )
  const response = await service.fetch(
    post('/user/login', await answer({ ...ada, keys: eve.keys }))
  )
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('sealed')
})

test('signs in with the newest key that is not retired', async () => {
  const account = await service.signUp()
  await service.owner.query('update user_key set retired_at = now() where user_id = $1', [
    account.id
  ])
  await expect(service.signIn(account)).rejects.toEqual(errorWithCode('login_failed'))
})

test('says the same about a known and an unknown e-mail, and stores nothing', async () => {
  const { email } = await service.signUp()
  const before = await everything()
  const [known, unknown] = [
    await service.call('localhost', getChallenge, { email }),
    await service.call('localhost', getChallenge, { email: newAccount().email })
  ]
  expect(known.kdf).toBe('a1')
  expect(unknown.kdf).toBe('a1')
  expect(known.challenge).toHaveLength(unknown.challenge.length)
  expect(await everything()).toEqual(before)
})

test('keeps challenges out of every cache', async () => {
  const request = new Request('http://api.localhost/user/login/challenge?email=a@example.com')
  const response = await service.fetch(request)
  expect(response.headers.get('cache-control')).toBe('no-store')
})

test('forgets used challenges an hour after they could be repeated', async () => {
  await using own = await makeMultiHostApp()
  await own.signIn(await own.signUp())
  const left = async () => {
    for (const deletion of expiredRowDeletions) await deletion(own.deps, own.companies.localhost)
    return (await own.owner.query('select n from used_challenge')).rows.length
  }
  own.wait(3600)
  expect(await left()).toBe(2)
  own.wait(200)
  expect(await left()).toBe(0)
})

test('ends one session at sign-out and tells the streams', async () => {
  const account = await service.signUp()
  const [first, second] = [await service.signIn(account), await service.signIn(account)]
  const told: unknown[] = []
  const stop = service.deps.signals.sessions.on(person => told.push(person))
  await service.call('localhost', logOut, {}, { token: first.access_token })
  stop()

  expect(told).toEqual([{ company: service.companies.localhost, user: account.id }])
  await expect(getsUser(first.access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
  await expect(getsUser(second.access_token)).resolves.toHaveProperty('id')
})

test('ends all sessions of one person at sign-out everywhere', async () => {
  const [ada, eve] = [await service.signUp(), await service.signUp()]
  const tokens = [await service.signIn(ada), await service.signIn(ada)]
  const other = await service.signIn(eve)
  await service.call('localhost', logOut, { all: true }, { token: tokens[0]?.access_token })

  for (const { access_token } of tokens) {
    await expect(getsUser(access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
  }
  await expect(getsUser(other.access_token)).resolves.toHaveProperty('id')
  const again = await service.signIn(ada)
  await expect(getsUser(again.access_token)).resolves.toHaveProperty('id')
})

test('lists where a person is signed in: this browser first, then the last seen', async () => {
  const account = await service.signUp()
  const agents = ['Firefox/142.0', 'Edg/140.0', 'Safari/605.1.15']
  const tokens: string[] = []
  for (const agent of agents) {
    const headers = { 'user-agent': agent }
    tokens.push((await service.signIn(account, { headers })).access_token)
    service.wait(60)
  }
  await service.signIn(await service.signUp())
  const [first = ''] = tokens
  const list = await service.call('localhost', listSessions, {}, { token: first })
  expect(list.map(({ agent, current }) => [agent, current])).toEqual([
    ['Firefox', true],
    ['Safari', false],
    ['Edge', false]
  ])
  expect(list.map(session => session.id)).toContain(claimsOf(first)['sid'])
})

test('lists no session that is over', async () => {
  const account = await service.signUp()
  const signedOut = (await service.signIn(account)).access_token
  await service.call('localhost', logOut, {}, { token: signedOut })
  // its browser was closed an hour ago
  await service.signIn(account)
  service.wait(3600)
  const { access_token: token } = await service.signIn(account)
  const list = () => service.call('localhost', listSessions, {}, { token })
  expect(await list()).toMatchObject([{ current: true }])

  await service.signIn(account)
  expect(await list()).toHaveLength(2)
  await service.owner.query(
    `update session set created_at = created_at - interval '1 s'
     where user_id = $1 and id <> $2`,
    [account.id, claimsOf(token)['sid']]
  )
  await service.owner.query('update "user" set tokens_valid_after = $2 where id = $1', [
    account.id,
    service.deps.clock()
  ])
  expect(await list()).toHaveLength(1)
})

test('ends one session of the person, tells the streams, and ends it once', async () => {
  const account = await service.signUp()
  const [mine, other] = [await service.signIn(account), await service.signIn(account)]
  const id = String(claimsOf(other.access_token)['sid'])
  const told: unknown[] = []
  const stop = service.deps.signals.sessions.on(person => told.push(person))
  const end = () => service.call('localhost', endSession, { id }, { token: mine.access_token })
  await end()
  stop()

  expect(told).toEqual([{ company: service.companies.localhost, user: account.id }])
  await expect(getsUser(other.access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
  await expect(getsUser(mine.access_token)).resolves.toHaveProperty('id')
  await expect(end()).rejects.toEqual(errorWithCode('not_found'))
})

test('keeps at most 100 sessions of a person, the newest, and tells the streams', async () => {
  const account = await service.signUp()
  const oldest = await service.signIn(account)
  await service.owner.query(
    `insert into session (company_id, id, user_id, agent, created_at, last_seen_at, expires_at)
     select company_id, gen_random_uuid(), user_id, agent, created_at - interval '1 s',
            last_seen_at, expires_at
       from session, generate_series(1, 98) where id = $1`,
    [claimsOf(oldest.access_token)['sid']]
  )
  const live = async () => {
    const { rows } = await service.owner.query(
      `select count(*)::int from session where user_id = $1 and revoked_at is null`,
      [account.id]
    )
    return rows[0].count
  }
  await service.owner.query(
    `update session set created_at = created_at - interval '2 s' where id = $1`,
    [claimsOf(oldest.access_token)['sid']]
  )
  await service.signIn(account)
  const had = await live()
  await expect(getsUser(oldest.access_token)).resolves.toHaveProperty('id')

  const told: unknown[] = []
  const stop = service.deps.signals.sessions.on(person => told.push(person))
  const logins = await Promise.all([1, 2, 3, 4].map(() => service.signIn(account)))
  stop()
  expect(had).toBeLessThanOrEqual(100)
  expect(await live()).toBe(100)
  expect(told).toContainEqual({ company: service.companies.localhost, user: account.id })
  await expect(getsUser(oldest.access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
  for (const { access_token } of logins) {
    await expect(getsUser(access_token)).resolves.toHaveProperty('id')
  }
})

//
test.for([-300, 300])('signs nobody out when the clock is set %d seconds', async seconds => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  service.wait(seconds)
  const user = await getsUser(access_token)
  await expect(getsUser(user.access_token ?? access_token)).resolves.toHaveProperty('id')
  const { access_token: other } = await service.signIn(account)
  await expect(getsUser(other)).resolves.toHaveProperty('id')
  service.wait(-seconds)
  await expect(getsUser(other)).resolves.toHaveProperty('id')
})

//
test('lets a person sign in again whose clock was set back after a sign-out everywhere', async () => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  await service.call('localhost', logOut, { all: true }, { token: access_token })
  service.wait(-300)
  await expect(getsUser(access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
  const again = await service.signIn(account)
  await expect(getsUser(again.access_token)).resolves.toHaveProperty('id')
  service.wait(300)
})

//
test('answers whoever an e-mail belongs to with the same bytes', async () => {
  const [known, disabled] = [await service.signUp(), await service.signUp()]
  await disable(disabled)
  const [pending, invited] = [await waiting(), await inviting(known)]
  const people = [known, newAccount(), disabled, pending, invited]
  const bytesOf = async (request: Request, at: number) => {
    // each from an address of its own, whose limits are all as yet untouched
    const response = await service.fetch(request, { address: `198.51.100.${200 + at}` })
    const headers = [...response.headers].filter(([name]) => name !== 'date')
    // the request's own id, the random parts of a challenge, and the seconds left of a period
    const body = (await response.text())
      .replace(/"instance":"[\w-]{12}"/, '"instance":"…"')
      .replace(/login\.v1\.[\w-]+\.[\w-]+/, challenge => 'x'.repeat(challenge.length))
    const text = JSON.stringify([response.status, headers.sort(), body])
    return text.replace(/;t=\d+/g, ';t=…')
  }
  const challenges = people.map(({ email }, at) => {
    const query = new URLSearchParams({ email })
    return bytesOf(new Request(`http://api.localhost/user/login/challenge?${query}`), at)
  })
  expect([...new Set(await Promise.all(challenges))]).toHaveLength(1)
  const failures = people.map(async (account, at) =>
    bytesOf(post('/user/login', await answer({ ...account, keys: makeKeys() })), at)
  )
  expect([...new Set(await Promise.all(failures))]).toHaveLength(1)
})

test('ends a session that was being made during a sign-out everywhere', async () => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  service.wait(1)
  await service.owner.query('update "user" set tokens_valid_after = $2 where id = $1', [
    account.id,
    service.deps.clock()
  ])
  await expect(getsUser(access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
})

test('notes each minute in which a session is used, in one write', async () => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  const signedIn = service.deps.clock()
  service.wait(59)
  await getsUser(access_token)
  expect(await lastSeen(account)).toEqual(signedIn)

  service.wait(1)
  await Promise.all(Array.from({ length: 5 }, () => getsUser(access_token)))
  const used = service.deps.clock()
  expect(await lastSeen(account)).toEqual(used)
  service.wait(30)
  await getsUser(access_token)
  expect(await lastSeen(account)).toEqual(used)
})

test('renews a token at 40 minutes left', async () => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  service.wait(19 * 60)
  expect(await getsUser(access_token)).not.toHaveProperty('access_token')

  service.wait(61)
  const renewed = (await getsUser(access_token)).access_token ?? ''
  expect(readTokenExpirySeconds(renewed)).toBe(
    Math.floor(service.deps.clock().getTime() / 1000) + 3600
  )
  expect(await lastSeen(account)).toEqual(service.deps.clock())
  expect(claimsOf(renewed)).toMatchObject({
    sid: claimsOf(access_token)['sid'],
    auth_time: claimsOf(access_token)['auth_time']
  })
  await expect(getsUser(renewed)).resolves.toHaveProperty('id')
})

test('ends a session twelve hours after sign-in, however often it was renewed', async () => {
  const account = await service.signUp()
  let { access_token: token } = await service.signIn(account)
  const start = service.deps.clock().getTime()
  for (let minutes = 0; minutes < 11 * 60 + 30; minutes += 30) {
    service.wait(30 * 60)
    token = (await getsUser(token)).access_token ?? token
  }
  expect(readTokenExpirySeconds(token)).toBe(Math.floor((start + 12 * 3_600_000) / 1000))
  expect(await getsUser(token)).not.toHaveProperty('access_token')
  service.wait(30 * 60)
  await expect(getsUser(token)).rejects.toEqual(errorWithCode('unauthenticated'))
})

test('asks the session for its end, whatever the token says', async () => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  await service.owner.query('update session set expires_at = $2 where user_id = $1', [
    account.id,
    service.deps.clock()
  ])
  await expect(getsUser(access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
})

test('does not renew without a poll: an hour of silence signs out', async () => {
  const { access_token } = await service.signIn(await service.signUp())
  service.wait(3601)
  await expect(getsUser(access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
})

test('answers a disabled person with the reason, and at login only who holds the key', async () => {
  const account = await service.signUp()
  const { access_token } = await service.signIn(account)
  const since = await disable(account)
  const disabled = { code: 'account_disabled', disabled: { scope: 'user', reason: 'left', since } }

  await expect(getsUser(access_token)).rejects.toMatchObject(disabled)
  await expect(service.signIn(account)).rejects.toMatchObject(disabled)
  await expect(service.signIn({ ...account, keys: makeKeys() })).rejects.toEqual(
    errorWithCode('login_failed')
  )
  await service.owner.query('update "user" set disabled = null where id = $1', [account.id])
  await expect(getsUser(access_token)).resolves.toHaveProperty('id')
})

test('answers everybody of a suspended company within a second', async () => {
  await using own = await makeMultiHostApp()
  const account = await own.signUp()
  const { access_token: token } = await own.signIn(account)
  const mark = { reason: 'payment', since: '2026-11-01T00:00:00.000Z' }
  await own.owner.query('update company set disabled = $2 where id = $1', [
    own.companies.localhost,
    JSON.stringify(mark)
  ])
  await expect(own.call('localhost', getOwnAccount, {}, { token })).rejects.toMatchObject({
    code: 'account_disabled',
    disabled: { scope: 'company', reason: 'other', since: mark.since }
  })
  await expect(own.signUp('demo.localhost')).resolves.toHaveProperty('id')
})

test('refuses a call that brings its token in a cookie', async () => {
  const { access_token } = await service.signIn(await service.signUp())
  const headers = { cookie: `__Host-vidimus=${access_token}` }
  const response = await service.fetch(new Request('http://api.localhost/user', { headers }))
  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ code: 'unauthenticated' })
})

test('never reads a cookie', () => {
  for (const file of [
    'api/kit/mount.ts',
    'api/kit/context.ts',
    'app.ts',
    'uploads/upload-routes.ts'
  ]) {
    const source = readFileSync(new URL(`../../../src/server/${file}`, import.meta.url), 'utf8')
    expect(source, file).not.toMatch(/getCookie|header\('cookie'|headers\.cookie/i)
  }
})

test('refuses the eleventh failed login of an e-mail from one address, known or not', async () => {
  for (const account of [await service.signUp(), newAccount()]) {
    const wrong = { ...account, keys: makeKeys() }
    for (let tries = 0; tries < 10; tries++) {
      await expect(service.signIn(wrong)).rejects.toEqual(errorWithCode('login_failed'))
    }
    const limited = { code: 'rate_limited', status: 429, retryAfter: expect.any(Number) }
    await expect(service.signIn(wrong)).rejects.toMatchObject(limited)
    await expect(service.signIn(account)).rejects.toMatchObject(limited)
  }
  await expect(service.signIn(await service.signUp())).resolves.toHaveProperty('device')
})

test('does not count logins that succeed', async () => {
  const account = await service.signUp()
  for (let tries = 0; tries < 15; tries++) await service.signIn(account)
})

test('signs in also when the count cannot be taken back', async () => {
  const account = await service.signUp()
  await service.owner.query(`
    create function keep_count() returns trigger language plpgsql
      as $$ begin raise 'no count is taken back'; end $$;
    create trigger keep_count before update on rate_count for each row
      when (new.points < old.points) execute function keep_count()`)
  try {
    await expect(service.signIn(account)).resolves.toHaveProperty('device')
  } finally {
    await service.owner.query('drop function keep_count cascade')
  }
})

test('lets the owner in while a stranger tries a hundred passwords', async () => {
  const account = await service.signUp()
  const { device } = await service.signIn(account)
  const other = await service.signIn(await service.signUp())
  const wrong = { ...account, keys: makeKeys() }
  const attempt = (address: string) =>
    service.signIn(wrong, { address }).catch((error: AppError) => error.code)
  const codes = []
  // ten at a time, because a busy machine refuses more
  for (let round = 0; round < 11; round++) {
    const addresses = Array.from({ length: 10 }, (_, at) => `203.0.113.${2 * round + (at % 2)}`)
    codes.push(...(await Promise.all(addresses.map(attempt))))
  }
  expect(codes.filter(code => code === 'login_failed')).toHaveLength(100)

  const address = '192.0.2.200'
  const limited = { code: 'rate_limited' }
  await expect(service.signIn(account, { address })).rejects.toMatchObject(limited)
  await expect(service.signIn(account, { address, device: other.device })).rejects.toMatchObject(
    limited
  )
  await expect(
    service.signIn(account, { address, device: otherSpelling(device) })
  ).rejects.toMatchObject(limited)
  await expect(service.signIn(account, { address, device })).resolves.toHaveProperty('device')
  for (let tries = 0; tries < 10; tries++) {
    await expect(service.signIn(wrong, { device })).rejects.toEqual(errorWithCode('login_failed'))
  }
  await expect(service.signIn(wrong, { device })).rejects.toMatchObject(limited)
})

test('counts challenges and logins of an address together, of one company only', async () => {
  const { limits } = service.deps.settings
  await using own = await makeMultiHostApp({ limits: { ...limits, signInPerAddressMinute: 4 } })
  const account = newAccount()
  const ask = (address: string, host = 'localhost') =>
    own.call(host, getChallenge, { email: account.email }, { address })
  await own.call('localhost', getChallenge, { email: account.email }, { address: '2001:db8::1' })
  await expect(own.signIn(account, { address: '2001:db8::2' })).rejects.toThrow()
  for (let tries = 0; tries < 2; tries++) await ask('2001:db8::3:4')

  await expect(ask('2001:db8:0:0:ffff::1')).rejects.toEqual(errorWithCode('rate_limited'))
  await expect(ask('2001:db8:0:1::1')).resolves.toHaveProperty('challenge')
  await expect(ask('2001:db8::1', 'demo.localhost')).resolves.toHaveProperty('challenge')
})

async function getsUser(token: string) {
  return service.call('localhost', getOwnAccount, {}, { token })
}

async function answer(account: Account) {
  return respond(account, await service.challengeFor(account))
}

async function respond({ email, keys }: Account, challenge: string) {
  return { email, challenge_response: keys.respond(challenge) }
}

async function changed(account: Account, change: (response: string) => string) {
  const { email, challenge_response } = await answer(account)
  return { email, challenge_response: change(challenge_response) }
}

function post(path: string, body: object): Request {
  return new Request(`http://api.localhost${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
}

async function disable({ email }: Account): Promise<string> {
  const since = service.deps.clock().toISOString()
  await service.owner.query('update "user" set disabled = $2 where email = $1', [
    email,
    JSON.stringify({ reason: 'left', since })
  ])
  return since
}

/** Creates a sign-up whose e-mail is not confirmed yet. */
async function waiting(): Promise<Account> {
  const { settings } = service.deps
  settings.mailServer = true
  const account = await service.signUp()
  settings.mailServer = false
  expect(await rowsOf('signup', account)).toBe(1)
  return account
}

/**
 * Invites a person by the account `by`, which becomes an administrator. Returns the invited person,
 * who has no password yet.
 */
async function inviting(by: Account & { id: string }): Promise<Account> {
  await service.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [by.id])
  const { access_token: token } = await service.signIn(by)
  const account = newAccount()
  await service.call('localhost', createUser, { email: account.email }, { token })
  expect(await rowsOf('"user"', account)).toBe(1)
  return account
}

async function rowsOf(table: string, { email }: Account): Promise<number> {
  const found = await service.owner.query(`select 1 from ${table} where email = $1`, [email])
  return found.rows.length
}

async function sessions(): Promise<number> {
  return (await service.owner.query('select 1 from session')).rows.length
}

async function everything(): Promise<unknown> {
  const { rows } = await service.owner.query(`select
    (select count(*) from "user")::int users, (select count(*) from session)::int sessions,
    (select count(*) from used_challenge)::int challenges`)
  return rows[0]
}

async function lastSeen({ email }: Account): Promise<Date> {
  const { rows } = await service.owner.query(
    `select session.last_seen_at from session join "user" on "user".id = user_id where email = $1`,
    [email]
  )
  return rows[0].last_seen_at
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

/**
 * Replaces s in the signature with n − s, which gives a second valid signature of the same bytes.
 */
function malleate(response: string): string {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const signature = Buffer.from(response.slice(-86), 'base64url')
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`)
  signature.write((order - s).toString(16).padStart(64, '0'), 32, 'hex')
  return response.slice(0, -86) + signature.toString('base64url')
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
