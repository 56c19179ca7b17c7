import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  activateUser,
  checkMailLink,
  type LinkPurpose,
  verifyEmail
} from '../../../src/contract/accounts.ts'
import { resendInvitation } from '../../../src/contract/members.ts'
import { getChallenge, logIn } from '../../../src/contract/sessions.ts'
import { getDemoAccount } from '../../../src/contract/setup.ts'
import { createUser, getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { mailTokenHash } from '../../../src/core/keys/public-key-proof.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import { listUnconfirmedSignUpsWithNewLinks } from '../../../src/server/domain/accounts/signups.ts'
import { findPrimaryDomain } from '../../../src/server/domain/companies/served-hosts.ts'
import { createEmptyDemo, demoHost, fillDemo } from '../../../src/server/domain/demo/demo.ts'
import { demoAccount } from '../../../src/server/domain/demo-account.ts'
import { expiredRowDeletions } from '../../../src/server/domain/expired-rows.ts'
import { makeMultiHostApp, newAccount } from '../../helpers/accounts.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeDomain } from '../../helpers/cases.ts'
import { deriveKeys, makeKeys, type TestKeys } from '../../helpers/keys.ts'
import { makeMailToken, makePerson, makeSignUp, publicKeyJwtFor } from '../../helpers/mailed.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

const host = 'acme.localhost'

describe('a request to a host under localhost', () => {
  const own = { dev: false }

  test('makes an account at once on a developer’s machine', async () => {
    await using app = await makeApp({ settings: own })
    const person = await signUpOver(app)
    expect(await whoIs(app, person)).toMatchObject({ features: ['deposit'] })
  })

  test.for([
    ['through a proxy that says so', own, { 'x-forwarded-for': '203.0.113.9' }],
    ['through a proxy of another kind', own, { via: '1.1 proxy' }],
    ['where a public address is set', { dev: false, hasPublicUrl: true }, {}]
  ] as const)('waits for an administrator %s', async ([, settings, headers]) => {
    await using app = await makeApp({ settings })
    const person = await signUpOver(app, headers)
    expect(await whoIs(app, person, headers)).toMatchObject({
      pending: true,
      delivery: 'administrator'
    })
  })

  test('is misdirected once any company has a domain of its own, except for the operators', async () => {
    await using app = await makeApp({ settings: own })
    const config = async (name: string) =>
      (await app.request(`api.${name}`, { path: `/${name}` })).status
    expect(await config('beta.localhost')).toBe(200)
    await app.addCompany('Orchard', 'docs.orchard.test')
    expect(await config('docs.orchard.test')).toBe(200)
    for (const name of ['beta.localhost', 'api.beta.localhost']) {
      expect((await app.request(name, { path: '/' })).status, name).toBe(421)
    }
    // the oldest company is that of the operators, who would be locked out
    expect(await config(host)).toBe(200)
    // but it is no developer's machine
    expect(await whoIs(app, await signUpOver(app))).toMatchObject({
      pending: true,
      delivery: 'administrator'
    })
    app.deps.settings.dev = true
    app.wait(2)
    expect(await config('beta.localhost')).toBe(200)
  })

  test('is misdirected for the operators too, once their company has proved a host', async () => {
    await using app = await makeApp({ settings: own })
    const acme = app.companies[host]
    await app.owner.query(`update domain set host = 'localhost' where host = $1`, [host])
    await makeDomain(app.owner, acme, '*.acme.test')
    const first = () => app.request('api.localhost', { path: '/localhost' })
    // a wildcard alone has no page to sign in at
    expect((await first()).status).toBe(200)
    const id = await makeDomain(app.owner, acme, 'docs.acme.test')
    app.wait(2)
    expect((await first()).status).toBe(421)
    // links in mails must lead to pages that are served
    const primary = await inCompany(app.deps.db, acme, findPrimaryDomain)
    expect(primary).toEqual({ id, host: 'docs.acme.test' })
    await app.owner.query('update domain set verified_at = null where id = $1', [id])
    app.wait(2)
    expect((await first()).status).toBe(200)
  })

  test('signs in with the demonstration’s published password on a developer’s machine only', async () => {
    await using app = await makeApp({ settings: own })
    await createEmptyDemo(app.deps)
    // the person is made first
    await fillDemo(app.deps, () => true)
    const { email, password } = demoAccount
    const keys = await deriveKeys(email, password)
    const demo = { host: demoHost, email, keys }
    expect((await signInOver(app, demo)).status).toBe(200)
    expect(await shownAt(demoHost)).toEqual({ account: demoAccount })
    const proxied = { 'x-forwarded-for': '203.0.113.9' }
    const refused = await signInOver(app, demo, proxied)
    expect(refused.status).toBe(401)
    expect(JSON.parse(refused.body.toString()).code).toBe('login_failed')
    expect(await shownAt(demoHost, proxied)).toEqual({})
    // the account of the demonstration alone is published
    expect(await shownAt(host)).toEqual({})
    async function shownAt(name: string, headers = {}): Promise<unknown> {
      const { body } = await app.request(`api.${name}`, { path: getDemoAccount.path, headers })
      return JSON.parse(body.toString())
    }
  })
})

describe('a sign-up where no mail server is set', () => {
  test('is taken on a public host and waits 30 days for an administrator', async () => {
    await using service = await makeMultiHostApp({ dev: false })
    const account = await service.signUp('docs.demo.test')
    const { access_token: token } = await service.signIn(account)
    const user = await service.call('docs.demo.test', getOwnAccount, {}, { token })
    expect(user).toMatchObject({ pending: true, delivery: 'administrator' })

    service.wait(29 * 86_400)
    for (const deletion of expiredRowDeletions) await deletion(service.deps, service.companies.demo)
    const [waiting, ...more] = await listUnconfirmedSignUpsWithNewLinks(service.deps)
    expect(more).toEqual([])
    expect(waiting).toMatchObject({
      email: account.email,
      username: 'Ada Lovelace',
      company: 'Demo',
      link: expect.stringContaining('http://docs.demo.test/verify-account#t=')
    })
    const fragment = new URL(waiting?.link ?? '').hash.slice(1)
    const mailed = new URLSearchParams(fragment).get('t') ?? ''
    // the link alone opens nothing
    await expect(service.call('docs.demo.test', verifyEmail, { token: mailed })).rejects.toEqual(
      errorWithCode('proof_required')
    )
    const again = (await service.signIn(account)).access_token
    await service.call('docs.demo.test', verifyEmail, { token: mailed }, { token: again })
    expect(await service.call('docs.demo.test', getOwnAccount, {}, { token: again })).toMatchObject(
      {
        features: ['deposit']
      }
    )
    expect(await listUnconfirmedSignUpsWithNewLinks(service.deps)).toEqual([])
    const { rows } = await service.owner.query('select hash from mail_token')
    expect(JSON.stringify(rows)).not.toContain(mailed)
    await expect(
      service.call('docs.demo.test', verifyEmail, { token: mailed }, { token: again })
    ).rejects.toEqual(errorWithCode('mail_token_used'))

    const late = await service.signUp('docs.demo.test')
    service.wait(31 * 86_400)
    expect(await listUnconfirmedSignUpsWithNewLinks(service.deps)).toEqual([])
    await expect(service.signIn(late)).rejects.toEqual(errorWithCode('login_failed'))
  })

  test('is refused where the domain is not public', async () => {
    await using service = await makeMultiHostApp({ dev: false })
    await service.owner.query(`update domain set public = false where host = 'docs.demo.test'`)
    service.deps.signals.domains.send('docs.demo.test')
    await expect(service.signUp('docs.demo.test')).rejects.toEqual(errorWithCode('signup_closed'))
  })

  test('gets 24 hours where there is one', async () => {
    await using service = await makeMultiHostApp({ mailServer: true })
    const account = await service.signUp()
    const { access_token: token } = await service.signIn(account)
    expect(await service.call('localhost', getOwnAccount, {}, { token })).toMatchObject({
      delivery: 'mail'
    })
    service.wait(25 * 3600)
    expect(await listUnconfirmedSignUpsWithNewLinks(service.deps)).toEqual([])
  })
})

test('a name that a stranger chose is not kept where a password confirms the sign-up', async () => {
  await using service = await makeMultiHostApp({ mailServer: true })
  const account = newAccount()
  const input = await service.signUpInput(account)
  await service.call('localhost', createUser, { ...input, username: 'Not My Name', locale: 'fr' })
  const { token } = await service.mailTo(account.email, 'verify')
  const owner = { ...account, keys: makeKeys() }
  const nonce = await service.challengeFor(owner, 'signup')
  const { email } = account
  const proof = {
    aud: 'localhost',
    email,
    purpose: 'verify',
    nonce,
    th: mailTokenHash(token)
  } as const
  const public_key_jwt = owner.keys.publicKeyJwt(proof)
  const unnamed = new Request('http://api.localhost/user/verify', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, public_key_jwt })
  })
  expect((await service.fetch(unnamed)).status).toBe(400)
  const username = 'Ada Lovelace'
  await service.call('localhost', verifyEmail, { token, public_key_jwt, username })
  const { access_token } = await service.signIn(owner)
  const user = await service.call('localhost', getOwnAccount, {}, { token: access_token })
  expect(user).toMatchObject({ username, locale: 'und' })
})

describe('a mailed link', () => {
  test('says what it opens as often as it is read, until it is used', async () => {
    await using app = await makeApp()
    const invited = await makePerson(app, true)
    const token = await makeMailToken(app, 'activate', invited)
    const read = (purpose: LinkPurpose, at = host) =>
      app.call(at, checkMailLink, { token, purpose })
    expect(await read('activate')).toEqual({ username: 'Ada' })
    expect(await read('activate')).toEqual({ username: 'Ada' })
    const invalid = { code: 'mail_token_invalid' }
    await expect(read('reset')).rejects.toMatchObject(invalid)
    await expect(read('activate', 'beta.localhost')).rejects.toMatchObject(invalid)
    const public_key_jwt = await publicKeyJwtFor(app, 'activate', { ...invited, token })
    await app.call(host, activateUser, { token, username: 'Grace', public_key_jwt })
    await expect(read('activate')).rejects.toEqual(errorWithCode('mail_token_used'))
  })

  test('of a sign-up does not pass its name on, and is over with another key', async () => {
    await using app = await makeApp()
    const waiting = await makeMailToken(app, 'verify', await makeSignUp(app))
    expect(await app.call(host, checkMailLink, { token: waiting, purpose: 'verify' })).toEqual({})
    const person = await makePerson(app)
    const token = await makeMailToken(app, 'reset', person)
    expect(await app.call(host, checkMailLink, { token, purpose: 'reset' })).toEqual({})
    await app.owner.query('update user_key set retired_at = now() where user_id = $1', [person.id])
    await expect(app.call(host, checkMailLink, { token, purpose: 'reset' })).rejects.toEqual(
      errorWithCode('mail_token_invalid')
    )
  })
})

describe('what a private category holds', () => {
  test('is confirmed to members of its groups and administrators, and to nobody else', async () => {
    await using app = await makeApp()
    const member = await app.signUp()
    const stranger = await app.signUp()
    const admin = await app.signUp()
    const company = app.companies[host]
    await limitTo(app, 'private', member)
    const bytes = randomBytes(64)
    await app.deposit(member, bytes)
    await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [admin.id])

    expect(await verdictFor(member, bytes)).toBe('authentic')
    expect(await verdictFor(admin, bytes)).toBe('authentic')
    expect(await verdictFor(stranger, bytes)).toBe('not_found')
    const unknown = await app.call(host, verify, { items: [{ sha256: digestOf(bytes) }] })
    expect(unknown.items[0]).toMatchObject({ verdict: 'not_found', findings: [] })
    // a member who leaves the group is like everybody
    await app.owner.query(
      `delete from group_user using "group" g
       where g.company_id = $1 and g.id = group_id and g.name = 'Insiders'`,
      [company]
    )
    expect(await verdictFor(member, bytes)).toBe('not_found')
  })
})

test.each([
  [
    'a category of the default group',
    `update category set visibility = 'private' where company_id = $1 and visibility = 'public'`
  ],
  [
    'a new category for the default group',
    `insert into group_category (company_id, group_id, category_id)
    select g.company_id, g.id, c.id from "group" g join category c using (company_id)
    where g.company_id = $1 and g.is_default and c.visibility = 'private'`
  ]
])('the database refuses %s that strangers join and that is not public', async (_name, change) => {
  await using app = await makeApp()
  const company = app.companies[host]
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     values ($1, gen_random_uuid(), '{"en": "Secret", "fr": "Secret"}', 'private', now())`,
    [company]
  )
  await expect(app.owner.query(change, [company])).rejects.toMatchObject({
    code: '23514',
    constraint: 'default_group_public'
  })
  // where nobody signs up alone, the group may hold it
  await app.owner.query('update domain set public = false where company_id = $1', [company])
  await app.owner.query(change, [company])
})

describe('invitations', () => {
  test('of one address are mailed three times an hour, then queued', async () => {
    await using app = await makeApp({ settings: { mailServer: true } })
    const { admin, invite, token } = await administered(app)
    const first = await invite(`guest-${randomUUID()}@example.com`)
    expect(first.queued_until).toBeUndefined()
    const again = () => app.call(host, resendInvitation, { id: first.id }, { token })
    expect((await again()).queued_until).toBeUndefined()
    expect((await again()).queued_until).toBeUndefined()
    const queued = (await again()).queued_until ?? ''
    const seconds = (Date.parse(queued) - app.deps.clock().getTime()) / 1000
    expect(seconds).toBeGreaterThan(3500)
    expect(seconds).toBeLessThanOrEqual(3600)
    // one that waits is not doubled
    expect((await again()).queued_until).toBe(queued)
    await app.allMailsSent()
    expect(app.sentMails.filter(mail => mail.kind === 'activate')).toHaveLength(3)
    app.wait(3601)
    const company = app.companies[host]
    if (company) app.deps.signals.mails.send(company)
    await app.allMailsSent()
    expect(app.sentMails.filter(mail => mail.kind === 'activate')).toHaveLength(4)
    expect(admin.host).toBe(host)
  })

  test('of one company are mailed 5,000 times a day, from any address, then queued', async () => {
    await using app = await makeApp({ settings: { mailServer: true } })
    const { invite } = await administered(app)
    await app.owner.query(
      `insert into invitation (company_id, id, recipient, due_at)
       select $1, gen_random_uuid(), sha256(n::text::bytea), now() - interval '1 hour'
       from generate_series(1, 4999) n`,
      [app.companies[host]]
    )
    expect((await invite(`guest-${randomUUID()}@example.com`)).queued_until).toBeUndefined()
    const next = await invite(`guest-${randomUUID()}@example.com`)
    const hours = (Date.parse(next.queued_until ?? '') - app.deps.clock().getTime()) / 3_600_000
    expect(Math.round(hours)).toBe(23)
  })

  async function administered(app: TestApp) {
    app.deps.settings.mailServer = false
    const admin = await app.signUp()
    app.deps.settings.mailServer = true
    await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [admin.id])
    const { token } = admin
    const invite = (email: string) => app.call(host, createUser, { email }, { token })
    return { admin, token, invite }
  }
})

interface Known {
  host: string
  email: string
  keys: TestKeys
}

/** Signs a person up over a real connection, as a browser or a proxy on this machine does. */
async function signUpOver(app: TestApp, headers: Record<string, string> = {}): Promise<Known> {
  const person = { host, email: `ada-${randomUUID()}@example.com`, keys: makeKeys() }
  const { email, keys } = person
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  const public_key_jwt = keys.publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  const made = await post(app, host, '/user', { email, username: 'Ada', public_key_jwt }, headers)
  expect(made.status).toBe(201)
  return person
}

async function signInOver(app: TestApp, { host, email, keys }: Known, headers = {}) {
  const path = `/user/login/challenge?email=${encodeURIComponent(email)}`
  const { body } = await app.request(`api.${host}`, { path })
  const challenge_response = keys.respond(JSON.parse(body.toString()).challenge)
  return post(app, host, '/user/login', { email, challenge_response }, headers)
}

async function whoIs(app: TestApp, { email, keys }: Known, headers = {}): Promise<unknown> {
  const { challenge } = await app.call(host, getChallenge, { email })
  const input = { email, challenge_response: keys.respond(challenge) }
  const { access_token } = await app.call(host, logIn, input)
  const authorization = `Bearer ${access_token}`
  const answer = await app.request(`api.${host}`, {
    path: '/user',
    headers: { ...headers, authorization }
  })
  return JSON.parse(answer.body.toString())
}

function post(app: TestApp, at: string, path: string, body: object, headers = {}) {
  return app.request(`api.${at}`, {
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body)
  })
}

/**
 * Sets the visibility of the company's category and makes a new group the only one that may use it.
 * The group has one member, `person`.
 */
async function limitTo(app: TestApp, visibility: string, person: TestPerson): Promise<void> {
  const company = app.companies[host]
  const group = randomUUID()
  await app.owner.query('delete from group_category where company_id = $1', [company])
  await app.owner.query('update category set visibility = $2 where company_id = $1', [
    company,
    visibility
  ])
  await app.owner.query(
    `insert into "group" (company_id, id, name, features, created_at)
     values ($1, $2, 'Insiders', '{deposit}', now())`,
    [company, group]
  )
  await app.owner.query('insert into group_user values ($1, $2, $3)', [company, group, person.id])
  await app.owner.query('insert into group_category values ($1, $2, $3)', [
    company,
    group,
    person.category
  ])
}

async function verdictFor(person: TestPerson, bytes: Uint8Array): Promise<string | undefined> {
  const { items } = await person.call(verify, { items: [{ sha256: digestOf(bytes) }] })
  return items[0]?.verdict
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
