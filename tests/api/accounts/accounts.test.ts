import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import {
  activateUser,
  confirmEmailChange,
  deleteOwnAccount,
  requestEmailChange,
  requestPasswordReset,
  resendOwnVerifyLink,
  resetPassword,
  verifyEmail
} from '../../../src/contract/accounts.ts'
import { getDeposit } from '../../../src/contract/deposits.ts'
import type { Endpoint } from '../../../src/contract/kit/endpoint.ts'
import { disableUser, enableUser, resendInvitation } from '../../../src/contract/members.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import {
  changePassword,
  createUser,
  getOwnAccount,
  updateOwnAccount
} from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { decodeTokenPayload } from '../../../src/core/keys/access-token.ts'
import type { PublicKeyPurpose } from '../../../src/core/keys/public-key-jwt.ts'
import { mailTokenHash } from '../../../src/core/keys/public-key-proof.ts'
import * as members from '../../../src/server/domain/accounts/member-changes.ts'
import * as users from '../../../src/server/domain/accounts/users.ts'
import type { MailMessage } from '../../../src/server/domain/deps.ts'
import { expiredRowDeletions } from '../../../src/server/domain/expired-rows.ts'
import { authenticate } from '../../../src/server/domain/sessions/authentication.ts'
import {
  type Account,
  type MultiHostApp,
  makeMultiHostApp,
  newAccount
} from '../../helpers/accounts.ts'
import { makeApp } from '../../helpers/app.ts'
import { makeKeys, type TestKeys } from '../../helpers/keys.ts'
import { errorWithCode } from '../../helpers/refusals.ts'
import { runCount } from '../../helpers/soak.ts'

//

/**
 * The service under test. It has a mail server, so people must confirm their e-mails. Its mails are
 * collected.
 */
let service: MultiHostApp
beforeAll(async () => {
  service = await makeMultiHostApp({ mailServer: true })
})
afterAll(() => service[Symbol.asyncDispose]())

const invalid = { code: 'mail_token_invalid', status: 410 }
const used = { code: 'mail_token_used', status: 409 }

async function tokenOf(email: string, kind: MailMessage['kind']): Promise<string> {
  await service.allMailsSent()
  return (await service.mailTo(email, kind)).token
}

/** Returns the `public_key_jwt` with which a browser registers a new key for a mailed link. */
async function proof(
  purpose: PublicKeyPurpose,
  { host, email, keys }: Account,
  token: string
): Promise<string> {
  const nonce = await service.challengeFor({ host, email }, 'signup')
  return keys.publicKeyJwt({ aud: host, email, purpose, nonce, th: mailTokenHash(token) })
}

/** Signs a person up on a host and confirms the e-mail. Returns the person with a session token. */
async function confirmed(host = 'localhost'): Promise<Account & { id: string; token: string }> {
  const account = await service.signUp(host)
  const { access_token: token } = await service.signIn(account)
  await service.call(
    host,
    verifyEmail,
    { token: await tokenOf(account.email, 'verify') },
    { token }
  )
  return { ...account, token }
}

/** Makes these people operators. Nobody else has a permission afterwards. */
async function makeOperators(...people: { id: string }[]): Promise<void> {
  await service.owner.query(`update "user" set permissions = '{}'`)
  await service.owner.query(
    `update "user" set permissions = '{operator}' where id = any ($1::uuid[])`,
    [people.map(({ id }) => id)]
  )
}

function call<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  endpoint: Endpoint<Input, Output>,
  input: z.input<Input>,
  token?: string
) {
  return service.call('localhost', endpoint, input, { token })
}

const whoIs = (token: string) => call(getOwnAccount, {}, token)

describe('a sign-up', () => {
  test('gives a pending session that may see and name itself, and nothing else', async () => {
    const account = await service.signUp()
    const { access_token: token } = await service.signIn(account)
    expect(decodeTokenPayload(token)).toMatchObject({ st: 'pending', sub: account.id })
    expect(await whoIs(token)).toEqual({
      id: account.id,
      email: account.email,
      username: 'Ada Lovelace',
      initials: 'AL',
      locale: 'und',
      features: [],
      permissions: [],
      company: { id: service.companies.localhost, name: 'Here' },
      usage_remaining: { requests: 0, storage: 0 },
      pending: true,
      delivery: 'mail'
    })
    const changed = await call(updateOwnAccount, { locale: 'fr' }, token)
    expect(changed).toMatchObject({ locale: 'fr', pending: true })
    const sha256 = 'ab'.repeat(32)
    await expect(call(getDeposit, { id: 'A'.repeat(22) }, token)).rejects.toEqual(
      errorWithCode('forbidden')
    )
    // even what is open to strangers is not done in the name of somebody unconfirmed
    await expect(call(verify, { items: [{ sha256 }] }, token)).rejects.toEqual(
      errorWithCode('forbidden')
    )
  })

  test('opens its own session by the mail, and the next poll brings a full token', async () => {
    const account = await service.signUp()
    const { access_token: token } = await service.signIn(account)
    const mailed = await tokenOf(account.email, 'verify')
    await call(verifyEmail, { token: mailed }, token)

    const user = await whoIs(token)
    expect(user).toMatchObject({ id: account.id, features: ['deposit'] })
    expect(user.pending).toBeUndefined()
    expect(decodeTokenPayload(user.access_token ?? '')).toMatchObject({
      st: 'full',
      sub: account.id
    })
    expect((await whoIs(user.access_token ?? '')).access_token).toBeUndefined()
    await expect(service.signIn(account)).resolves.toHaveProperty('access_token')
  })

  test('asks for a password in any other browser, whose key then is the account’s', async () => {
    const account = await service.signUp()
    const { access_token: pending } = await service.signIn(account)
    const token = await tokenOf(account.email, 'verify')
    await expect(call(verifyEmail, { token })).rejects.toEqual(errorWithCode('proof_required'))
    const other = { ...account, keys: makeKeys() }
    const public_key_jwt = await proof('verify', other, token)
    await call(verifyEmail, { token, public_key_jwt, username: 'Ada' })

    await expect(whoIs(pending)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(service.signIn(account)).rejects.toEqual(errorWithCode('login_failed'))
    const { access_token } = await service.signIn(other)
    expect(await whoIs(access_token)).toMatchObject({ id: account.id })
  })

  test('never gives an attacker the account of an e-mail that its owner confirms', async () => {
    for (let round = 0; round < runCount(2, 40); round++) {
      const victim = newAccount()
      const attacker = { ...victim, keys: makeKeys() }
      await call(createUser, await service.signUpInput(attacker))
      const { access_token: stolen } = await service.signIn(attacker)
      const token = await tokenOf(victim.email, 'verify')
      // the owner clicks in their own browser: with nothing, then with a session of their own
      await expect(call(verifyEmail, { token })).rejects.toEqual(errorWithCode('proof_required'))
      if (round % 2 === 0) {
        await call(createUser, await service.signUpInput(victim))
        const own = (await service.signIn(victim)).access_token
        await expect(call(verifyEmail, { token }, own)).rejects.toEqual(
          errorWithCode('proof_required')
        )
        const mine = await tokenOf(victim.email, 'verify')
        await call(verifyEmail, { token: mine }, own)
      } else {
        const public_key_jwt = await proof('verify', victim, token)
        await call(verifyEmail, { token, public_key_jwt, username: 'Ada' })
      }
      await expect(whoIs(stolen)).rejects.toEqual(errorWithCode('unauthenticated'))
      await expect(service.signIn(attacker)).rejects.toEqual(errorWithCode('login_failed'))
      await expect(service.signIn(victim)).resolves.toHaveProperty('access_token')
    }
  })

  //
  test('answers whoever an e-mail belongs to with the same bytes', async () => {
    const known = await confirmed()
    const waiting = await service.signUp()
    const invited = newAccount()
    await invite(await administrator(), invited.email)
    const disabled = await confirmed()
    await disable(disabled.id)
    const answers: unknown[][] = []
    for (const { email } of [known, waiting, invited, disabled, newAccount()]) {
      const input = await service.signUpInput({ ...newAccount(), email })
      const response = await service.fetch(post('localhost', '/user', input))
      answers.push([
        response.status,
        [...response.headers].filter(([name]) => name !== 'ratelimit'),
        (await response.text()).replace(/[0-9a-f-]{36}/, '…')
      ])
    }
    expect(answers[0]?.[0]).toBe(201)
    expect(answers).toEqual(answers.map(() => answers[0]))
    await service.allMailsSent()
    const { link } = await service.mailTo(known.email, 'known')
    expect(link).toBe('http://localhost/sign-in')
    expect(service.sentMails.filter(mail => mail.to === known.email)).toHaveLength(2)
    await service.mailTo(invited.email, 'activate')
  })

  test('sends its mail again, three times an hour at most, and not to the confirmed', async () => {
    const account = await service.signUp()
    const { access_token: token } = await service.signIn(account)
    const again = () => call(resendOwnVerifyLink, {}, token)
    const first = await tokenOf(account.email, 'verify')
    await again()
    await again()
    await expect(again()).rejects.toMatchObject({ code: 'rate_limited', status: 429 })
    const last = await tokenOf(account.email, 'verify')
    expect(last).not.toBe(first)
    // whichever mail came through
    await call(verifyEmail, { token: first }, token)
    await expect(call(verifyEmail, { token: last }, token)).rejects.toMatchObject(invalid)
    const count = service.sentMails.length
    await again()
    await service.allMailsSent()
    expect(service.sentMails).toHaveLength(count)
  })

  test('is over after a day, with its sessions', async () => {
    const account = await service.signUp()
    const token = await tokenOf(account.email, 'verify')
    const pending = await service.signIn(account)
    service.wait(24 * 3600 + 1)
    for (const deletion of expiredRowDeletions)
      await deletion(service.deps, service.companies.localhost)
    await expect(whoIs(pending.access_token)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(service.signIn(account)).rejects.toEqual(errorWithCode('login_failed'))
    const public_key_jwt = await proof('verify', account, token)
    await expect(
      call(verifyEmail, { token, public_key_jwt, username: 'Ada' })
    ).rejects.toMatchObject(invalid)
  })

  test('is confirmed at once beside a login without losing its session', async () => {
    for (let round = 0; round < runCount(1, 10); round++) {
      const account = await service.signUp()
      const first = (await service.signIn(account)).access_token
      const token = await tokenOf(account.email, 'verify')
      const [, second] = await Promise.all([
        call(verifyEmail, { token }, first),
        service.signIn(account)
      ])
      expect(await whoIs(second.access_token)).toMatchObject({ id: account.id })
      expect((await whoIs(second.access_token)).pending).toBeUndefined()
    }
  })

  test('is refused a login with as many keys opened as a stranger is', async () => {
    const waiting = await service.signUp()
    const several = await service.signUp()
    for (let more = 0; more < 2; more++) {
      const again = { ...several, keys: makeKeys() }
      await call(createUser, await service.signUpInput(again))
    }
    const refused = async (email: string) => {
      const { open } = service.deps.keys
      let count = 0
      service.deps.keys.open = (sealed, aad) => {
        count++
        return open(sealed, aad)
      }
      const signingIn = service.signIn({ ...newAccount(), email })
      await expect(signingIn).rejects.toEqual(errorWithCode('login_failed'))
      service.deps.keys.open = open
      return count
    }
    const stranger = await refused(newAccount().email)
    for (const { email } of [waiting, several, await confirmed()]) {
      expect(await refused(email)).toBe(stranger)
    }
  })

  test('is refused a login with no commit that waits for the disk', async () => {
    const person = await confirmed()
    const signingIn = service.signIn({ ...newAccount(), email: person.email })
    await expect(signingIn).rejects.toEqual(errorWithCode('login_failed'))
    // the login held the key of somebody who is there, and a commit of that takes a flush of its own
    const { rows } = await service.owner.query(
      `select pg_xact_status(xmax::text::xid8) as status from user_key where user_id = $1`,
      [person.id]
    )
    expect(rows).toEqual([{ status: 'aborted' }])
  })

  test('is confirmed between the door and the answer of a call', async () => {
    const account = await service.signUp()
    const { access_token: token } = await service.signIn(account)
    const { deps } = service
    const tenant = await service.tenantOf('localhost')
    const person = await authenticate(deps, tenant, token)
    await call(verifyEmail, { token: await tokenOf(account.email, 'verify') }, token)
    expect(await users.getOwnAccount(deps, { tenant, person, isDeveloper: false })).toMatchObject({
      id: account.id
    })
    const stranger = { ...person, id: randomUUID() }
    await expect(
      users.getOwnAccount(deps, { tenant, person: stranger, isDeveloper: false })
    ).rejects.toEqual(errorWithCode('unauthenticated'))
  })

  test('is signed in as long as it waits, and as long as everybody once it is confirmed', async () => {
    const account = await service.signUp()
    const mailed = await tokenOf(account.email, 'verify')
    service.wait(20 * 3600)
    const { access_token: token } = await service.signIn(account)
    const endOf = async () => {
      const { rows } = await service.owner.query(
        'select extract(epoch from expires_at - created_at) / 3600 as hours from session where user_id = $1',
        [account.id]
      )
      return Math.round(Number(rows[0].hours))
    }
    expect(await endOf()).toBe(4)
    await call(verifyEmail, { token: mailed }, token)
    expect(await endOf()).toBe(12)
  })

  test('needs no mail on a loopback host without a mail server', async () => {
    await using local = await makeMultiHostApp()
    const account = await local.signUp()
    const { access_token: token } = await local.signIn(account)
    const user = await local.call('localhost', getOwnAccount, {}, { token })
    expect(user).toMatchObject({ features: ['deposit'] })
    expect(local.sentMails).toEqual([])
  })

  test('waits for its mail on every public host once there is a mail server', async () => {
    for (const host of ['localhost', 'docs.demo.test']) {
      const account = await service.signUp(host)
      const { access_token: token } = await service.signIn(account)
      expect(await service.call(host, getOwnAccount, {}, { token })).toMatchObject({
        pending: true
      })
    }
    await expect(service.signUp('closed.localhost')).rejects.toEqual(errorWithCode('signup_closed'))
  })
})

describe('a forgotten password', () => {
  const ask = (email: string, host = 'localhost') =>
    service.call(host, requestPasswordReset, { email })

  async function reset(account: Account, token: string, keys: TestKeys): Promise<void> {
    const public_key_jwt = await proof('reset', { ...account, keys }, token)
    await service.call(account.host, resetPassword, { token, public_key_jwt })
  }

  test('is replaced by mail: every session ends, and a notice follows', async () => {
    const account = await confirmed()
    await ask(account.email)
    const token = await tokenOf(account.email, 'reset')
    const told: unknown[] = []
    const stop = service.deps.signals.sessions.on(person => told.push(person))
    const keys = makeKeys()
    await reset(account, token, keys)
    stop()
    const whose = { company: service.companies.localhost, user: account.id }
    // of the sessions and of the API keys
    expect(told).toEqual([whose, whose])
    await expect(whoIs(account.token)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(service.signIn(account)).rejects.toEqual(errorWithCode('login_failed'))
    await expect(service.signIn({ ...account, keys })).resolves.toHaveProperty('device')
    await service.allMailsSent()
    await service.mailTo(account.email, 'password_changed')
  })

  test('is asked for with the same bytes for everybody, and mailed to those who are known', async () => {
    const known = await confirmed()
    const waiting = await service.signUp()
    const invited = newAccount()
    await invite(await administrator(), invited.email)
    const disabled = await confirmed()
    await disable(disabled.id)
    await service.allMailsSent()
    const before = service.sentMails.length
    const emails = [known, waiting, invited, disabled, newAccount()].map(({ email }) => email)
    const answers = []
    for (const email of emails) {
      const response = await service.fetch(post('localhost', '/user/reset/request', { email }))
      const headers = [...response.headers].filter(([name]) => name !== 'ratelimit')
      answers.push(JSON.stringify([response.status, headers, await response.text()]))
    }
    expect(new Set(answers).size).toBe(1)
    expect(JSON.parse(answers[0] ?? '')[0]).toBe(202)
    await service.allMailsSent()
    const sent = service.sentMails.slice(before).map(({ to, kind }) => [to, kind])
    const due = [
      [known.email, 'reset'],
      [invited.email, 'activate'],
      [disabled.email, 'reset']
    ]
    expect(sent.sort()).toEqual(due.sort())
  })

  test('is asked for three times an hour by one e-mail and address, known or not, and twenty by one address', async () => {
    await using strict = await makeMultiHostApp({
      mailServer: true,
      limits: { ...service.deps.settings.limits, mailsPerAddressHour: 20 }
    })
    const asked = (email: string, address: string) =>
      strict.call('localhost', requestPasswordReset, { email }, { address })
    const { email } = newAccount()
    for (let at = 0; at < 3; at++) await asked(email, '198.51.100.1')
    await expect(asked(email, '198.51.100.1')).rejects.toEqual(errorWithCode('rate_limited'))
    // so a stranger keeps no owner from asking
    await asked(email, '198.51.100.9')
    for (let at = 0; at < 20; at++) await asked(newAccount().email, '203.0.113.7')
    await expect(asked(newAccount().email, '203.0.113.7')).rejects.toEqual(
      errorWithCode('rate_limited')
    )
  })

  test('is mailed once to whoever is asked for several times, and again after some minutes', async () => {
    const { email } = await confirmed()
    const mailed = () =>
      service.sentMails.filter(({ to, kind }) => to === email && kind === 'reset')
    for (let times = 0; times < 3; times++) {
      await service.call(
        'localhost',
        requestPasswordReset,
        { email },
        { address: `192.0.2.${times}` }
      )
    }
    await service.allMailsSent()
    expect(mailed()).toHaveLength(1)
    service.wait(6 * 60)
    await ask(email)
    await service.allMailsSent()
    expect(mailed()).toHaveLength(2)
  })

  test('enables nobody who is disabled', async () => {
    const account = await confirmed()
    await disable(account.id)
    await ask(account.email)
    const keys = makeKeys()
    await reset(account, await tokenOf(account.email, 'reset'), keys)
    await expect(service.signIn({ ...account, keys })).rejects.toEqual(
      errorWithCode('account_disabled')
    )
  })

  test('opens for ten minutes', async () => {
    const account = await confirmed()
    await ask(account.email)
    const token = await tokenOf(account.email, 'reset')
    service.wait(601)
    await expect(reset(account, token, makeKeys())).rejects.toMatchObject(invalid)
  })

  test('takes no proof of another e-mail, purpose, host or token', async () => {
    const account = await confirmed()
    await ask(account.email)
    const token = await tokenOf(account.email, 'reset')
    const nonce = await service.challengeFor(account, 'signup')
    const good = { aud: 'localhost', email: account.email, purpose: 'reset', nonce } as const
    const th = mailTokenHash(token)
    const wrong = [
      { ...good },
      { ...good, th: mailTokenHash('other') },
      { ...good, th, email: 'eve@example.com' },
      { ...good, th, purpose: 'signup' as const },
      { ...good, th, aud: 'demo.localhost' },
      { ...good, th, jwk: makeKeys().jwk }
    ]
    for (const payload of wrong) {
      const public_key_jwt = makeKeys().publicKeyJwt(payload)
      await expect(call(resetPassword, { token, public_key_jwt })).rejects.toEqual(
        errorWithCode('key_invalid')
      )
    }
    await expect(service.signIn(account)).resolves.toHaveProperty('device')
    await reset(account, token, makeKeys())
  })
})

describe('an invitation', () => {
  test('lets a person choose name and password, and then sign in', async () => {
    const admin = await administrator()
    const account = newAccount()
    const { id } = await invite(admin, account.email)
    await expect(service.signIn(account)).rejects.toEqual(errorWithCode('login_failed'))
    const mail = await service.mailTo(account.email, 'activate')
    await activate(account, mail.token)
    const { access_token } = await service.signIn(account)
    expect(await whoIs(access_token)).toMatchObject({
      id,
      username: 'Grace Hopper',
      locale: 'fr',
      features: ['deposit']
    })
  })

  test('shows its link to the administrator where no mail server sends it', async () => {
    const admin = await administrator()
    const account = newAccount()
    const { id, link } = await withoutMailServer(() => invite(admin, account.email))
    const url = new URL(link ?? '')
    expect(url.origin + url.pathname).toBe('http://localhost/activate-account')
    expect(new URLSearchParams(url.hash.slice(1)).get('email')).toBe(account.email)
    await activate(account, new URLSearchParams(url.hash.slice(1)).get('t') ?? '')
    await expect(call(resendInvitation, { id }, admin.token)).rejects.toEqual(
      errorWithCode('already_active')
    )
    expect(await invite(admin, newAccount().email)).not.toHaveProperty('link')
  })

  test('is sent again, and each of its links works until one is used', async () => {
    const admin = await administrator()
    const account = newAccount()
    const { id } = await invite(admin, account.email)
    const first = await tokenOf(account.email, 'activate')
    await call(resendInvitation, { id }, admin.token)
    const second = await tokenOf(account.email, 'activate')
    await activate(account, first)
    await expect(activate(account, second)).rejects.toMatchObject(invalid)
    await expect(activate(account, first)).rejects.toMatchObject(used)
  })

  test('is made by administrators only, and for a free e-mail', async () => {
    const admin = await administrator()
    const person = await confirmed()
    const input = { email: newAccount().email }
    await expect(call(createUser, input)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(call(createUser, input, person.token)).rejects.toEqual(errorWithCode('forbidden'))
    await expect(invite(admin, person.email)).rejects.toEqual(errorWithCode('email_taken'))
  })

  test('gives its link once, and no second person, for one idempotency key', async () => {
    const admin = await administrator()
    const headers = { 'idempotency-key': randomBytes(8).toString('hex') }
    const input = { email: newAccount().email, username: 'Grace' }
    const make = () => service.call('localhost', createUser, input, { token: admin.token, headers })
    const first = await withoutMailServer(make)
    expect(first.link).toBeDefined()
    expect(await withoutMailServer(make)).toEqual({ id: first.id })
  })

  test('runs out after three days', async () => {
    const account = newAccount()
    await invite(await administrator(), account.email)
    const token = await tokenOf(account.email, 'activate')
    service.wait(72 * 3600 + 1)
    await expect(activate(account, token)).rejects.toMatchObject(invalid)
  })
})

describe('somebody who is disabled', () => {
  test('is told why from the next call on; enabling revives no session', async () => {
    const admin = await administrator()
    const person = await confirmed()
    await call(disableUser, { id: person.id, reason: 'left' }, admin.token)
    await expect(whoIs(person.token)).rejects.toMatchObject({
      code: 'account_disabled',
      disabled: { scope: 'user', reason: 'left' }
    })
    await call(enableUser, { id: person.id }, admin.token)
    await expect(whoIs(person.token)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(service.signIn(person)).resolves.toHaveProperty('device')
  })

  test('is never oneself, and no operator unless by one', async () => {
    const admin = await administrator()
    const operator = await confirmed()
    await service.owner.query(`update "user" set permissions = '{operator}' where id = $1`, [
      operator.id
    ])
    const by = (token: string, id: string) => call(disableUser, { id, reason: 'security' }, token)
    await expect(by(admin.token, admin.id)).rejects.toEqual(errorWithCode('not_oneself'))
    await expect(by(admin.token, operator.id)).rejects.toEqual(errorWithCode('forbidden'))
    await by(operator.token, admin.id)
  })

  test('is one of two operators who disable each other at once, not both', async () => {
    const [one, two] = [await confirmed(), await confirmed()]
    await makeOperators(one, two)
    const { deps } = service
    const tenant = await service.tenantOf('localhost')
    const { company_id } = tenant
    // both were let in before either was disabled
    const [first, second] = [
      await authenticate(deps, tenant, one.token),
      await authenticate(deps, tenant, two.token)
    ]
    const results = await Promise.allSettled([
      members.disableUser(deps, { company_id, by: first, id: second.id, reason: 'security' }),
      members.disableUser(deps, { company_id, by: second, id: first.id, reason: 'security' })
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const lost = results.find(result => result.status === 'rejected')
    expect(lost?.reason).toMatchObject({ code: 'forbidden' })
  })
})

describe('a change of e-mail', () => {
  async function ask(person: Account & { token: string }, next: Account, forged: object = {}) {
    const challenge = await service.challengeFor(person, 'rekey')
    const { host: aud, email } = next
    const payload = { aud, email, purpose: 'email', nonce: challenge, ...forged } as const
    const public_key_jwt = next.keys.publicKeyJwt(payload)
    const challenge_response = person.keys.respond(challenge)
    const input = { email, challenge_response, public_key_jwt }
    return service.call(person.host, requestEmailChange, input, { token: person.token })
  }
  const confirm = (token: string, by: string) => call(confirmEmailChange, { token }, by)

  test('waits for the new address, and then takes e-mail and key together', async () => {
    const person = await confirmed()
    const other = (await service.signIn(person)).access_token
    const next = newAccount()
    await ask(person, next)
    const token = await tokenOf(next.email, 'email_confirm')
    await service.mailTo(person.email, 'email_notice')
    await expect(service.signIn(person)).resolves.toHaveProperty('device')
    await expect(service.signIn(next)).rejects.toEqual(errorWithCode('login_failed'))

    await confirm(token, person.token)
    expect(await whoIs(person.token)).toMatchObject({ id: person.id, email: next.email })
    await expect(whoIs(other)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(service.signIn(person)).rejects.toEqual(errorWithCode('login_failed'))
    await expect(service.signIn(next)).resolves.toHaveProperty('device')
    await expect(confirm(token, person.token)).rejects.toMatchObject(used)
  })

  test('is confirmed by nobody but who asked, so that no stranger’s mail makes it theirs', async () => {
    const [attacker, victim] = [await confirmed(), await confirmed()]
    const next = newAccount()
    await ask(attacker, next)
    const token = await tokenOf(next.email, 'email_confirm')
    await expect(call(confirmEmailChange, { token })).rejects.toEqual(
      errorWithCode('unauthenticated')
    )
    await expect(confirm(token, victim.token)).rejects.toMatchObject(invalid)
  })

  test('tells an address that has an account so, and nothing to who asked', async () => {
    const [person, known] = [await confirmed(), await confirmed()]
    await service.allMailsSent()
    expect(await ask(person, { ...known, keys: makeKeys() })).toEqual({ delivery: 'mail' })
    await service.allMailsSent()
    await service.mailTo(known.email, 'known')
    const kinds = service.sentMails.filter(({ to }) => to === known.email).map(({ kind }) => kind)
    expect(kinds).not.toContain('email_confirm')
  })

  test('keeps no other mail of the company waiting for its transaction', async () => {
    const person = await confirmed()
    const holder = await service.owner.connect()
    await holder.query('begin; lock table email_change in exclusive mode')
    try {
      const asked = ask(person, newAccount())
      const waiting = `select 1 from pg_locks where relation = 'email_change'::regclass and not granted`
      await expect.poll(async () => (await holder.query(waiting)).rowCount).toBe(1)
      await call(requestPasswordReset, { email: newAccount().email })
      await holder.query('rollback')
      await asked
    } finally {
      holder.release(true)
    }
  })

  test('is stopped by a new password', async () => {
    const person = await confirmed()
    const next = newAccount()
    await ask(person, next)
    const token = await tokenOf(next.email, 'email_confirm')
    const challenge = await service.challengeFor(person, 'rekey')
    const { host: aud, email, keys } = person
    const public_key_jwt = keys.publicKeyJwt({ aud, email, purpose: 'rekey', nonce: challenge })
    const input = { challenge_response: keys.respond(challenge), public_key_jwt }
    await call(changePassword, input, person.token)
    await expect(confirm(token, person.token)).rejects.toMatchObject(invalid)
  })

  test('counts the last of several, and runs out after an hour', async () => {
    const person = await confirmed()
    const [first, second] = [newAccount(), newAccount()]
    await ask(person, first)
    const early = await tokenOf(first.email, 'email_confirm')
    await ask(person, second)
    const late = await tokenOf(second.email, 'email_confirm')
    await expect(confirm(early, person.token)).rejects.toMatchObject(invalid)
    service.wait(3601)
    const { access_token } = await service.signIn(person)
    await expect(confirm(late, access_token)).rejects.toMatchObject(invalid)
  })

  test('refuses the present address, and proofs that are not of it', async () => {
    const person = await confirmed()
    await expect(ask(person, person)).rejects.toMatchObject({
      code: 'invalid_input',
      fields: { email: { rule: 'unchanged' } }
    })
    const wrong = [{ purpose: 'rekey' }, { email: person.email }, { aud: 'demo.localhost' }]
    for (const forged of wrong) {
      await expect(ask(person, newAccount(), forged)).rejects.toEqual(errorWithCode('key_invalid'))
    }
  })
})

describe('an account that is deleted', () => {
  async function remove(person: Account & { token: string }, keys = person.keys): Promise<void> {
    const challenge = await service.challengeFor(person, 'rekey')
    const input = { challenge_response: keys.respond(challenge) }
    await service.call(person.host, deleteOwnAccount, input, { token: person.token })
  }

  test('leaves no name, address, key or session, and its e-mail is free again', async () => {
    const person = await confirmed()
    await service.call('localhost', updateOwnAccount, { username: 'Zora Neale' }, person)
    await remove(person)
    await expect(whoIs(person.token)).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(service.signIn(person)).rejects.toEqual(errorWithCode('login_failed'))
    await service.allMailsSent()
    await service.mailTo(person.email, 'account_deleted')
    const tables = await service.owner.query(
      `select table_name as name from information_schema.columns
        where column_name = 'company_id' and table_schema = 'public'`
    )
    for (const { name } of tables.rows) {
      const { rows } = await service.owner.query(
        `select t::text as row from "${name}" t where t::text like $1 or t::text like $2`,
        [`%${person.email}%`, '%Zora%']
      )
      expect(rows, name).toEqual([])
    }
    const again = await service.signUp()
    expect(again.id).not.toBe(person.id)
  })

  test('needs the password, not only a session', async () => {
    const person = await confirmed()
    await expect(remove(person, makeKeys())).rejects.toEqual(errorWithCode('password_wrong'))
    await expect(whoIs(person.token)).resolves.toHaveProperty('id')
  })

  test('leaves its deposits on record for everybody to check', async () => {
    await using app = await makeApp()
    const person = await app.signUp()
    const bytes = randomBytes(500)
    await app.deposit(person, bytes)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const { host, email, keys } = person
    const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
    await person.call(deleteOwnAccount, { challenge_response: keys.respond(challenge) })
    const { items } = await app.call(host, verify, { items: [{ sha256 }] })
    expect(items[0]?.findings).toHaveLength(1)
  })

  test('is never that of the last operator, of two who leave at once either', async () => {
    const [one, two] = [await confirmed(), await confirmed()]
    await makeOperators(one, two)
    const results = await Promise.allSettled([remove(one), remove(two)])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const lost = results.find(result => result.status === 'rejected')
    expect(lost?.reason).toMatchObject({ code: 'last_operator' })
  })

  test('needs the company’s name from its only administrator who can sign in', async () => {
    await using app = await makeApp()
    const [ada, eve] = [await app.signUp(), await app.signUp()]
    await app.owner.query(`update "user" set permissions = '{admin}'`)
    const leave = async (company?: string) => {
      const { host, email, keys } = ada
      const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
      const challenge_response = keys.respond(challenge)
      return ada.call(deleteOwnAccount, { challenge_response, ...(company && { company }) })
    }
    await app.owner.query(`update "user" set disabled = '{"reason": "other"}' where id = $1`, [
      eve.id
    ])
    await expect(leave()).rejects.toEqual(errorWithCode('last_administrator'))
    await expect(leave('Beta')).rejects.toEqual(errorWithCode('last_administrator'))
    const { rows } = await app.owner.query('select name from company where id = $1', [ada.company])
    await leave(` ${rows[0].name.toUpperCase()} `)
  })
})

describe('a mailed link', () => {
  /**
   * For each kind of mailed link, a function that creates one. In the result, `use` makes the call
   * that the link leads to.
   */
  const flows = {
    verify: async () => {
      const account = await service.signUp()
      const token = await tokenOf(account.email, 'verify')
      return { account, token, use: (host = 'localhost') => byKey('verify', account, token, host) }
    },
    activate: async () => {
      const account = newAccount()
      await invite(await administrator(), account.email)
      const token = await tokenOf(account.email, 'activate')
      return {
        account,
        token,
        use: (host = 'localhost') => byKey('activate', account, token, host)
      }
    },
    reset: async () => {
      const account = await confirmed()
      await call(requestPasswordReset, { email: account.email })
      const token = await tokenOf(account.email, 'reset')
      return { account, token, use: (host = 'localhost') => byKey('reset', account, token, host) }
    }
  }
  type Flow = keyof typeof flows
  const kinds = Object.keys(flows) as Flow[] // as: the keys of a constant

  async function byKey(purpose: Flow, account: Account, token: string, host: string) {
    const public_key_jwt = await proof(purpose, { ...account, host, keys: makeKeys() }, token)
    if (purpose === 'verify') {
      return service.call(host, verifyEmail, { token, public_key_jwt, username: 'Ada' })
    }
    if (purpose === 'reset') return service.call(host, resetPassword, { token, public_key_jwt })
    return service.call(host, activateUser, { token, username: 'Ada', public_key_jwt })
  }

  test.each(kinds)('to %s works once, of ten in parallel', async kind => {
    for (let round = 0; round < runCount(1, 4); round++) {
      const { use } = await flows[kind]()
      const results = await Promise.allSettled(Array.from({ length: 10 }, () => use()))
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject(used)
      }
    }
  })

  test.each(kinds)('to %s opens nothing else', async kind => {
    const { account, token, use } = await flows[kind]()
    for (const other of kinds.filter(each => each !== kind)) {
      await expect(byKey(other, account, token, 'localhost')).rejects.toMatchObject(invalid)
    }
    await use()
  })

  test.each(kinds)('to %s opens nothing at another company', async kind => {
    const { use } = await flows[kind]()
    await expect(use('demo.localhost')).rejects.toMatchObject(invalid)
    await use()
  })

  test('to reset is void once the password has changed', async () => {
    const { account, use } = await flows.reset()
    const challenge = await service.challengeFor(account, 'rekey')
    const { email, keys } = account
    const token = (await service.signIn(account)).access_token
    const public_key_jwt = keys.publicKeyJwt({
      aud: 'localhost',
      email,
      purpose: 'rekey',
      nonce: challenge
    })
    const input = { challenge_response: keys.respond(challenge), public_key_jwt }
    await call(changePassword, input, token)
    await expect(use()).rejects.toMatchObject(invalid)
  })

  test('to reset is bound to the key of its day, even where its row was put back', async () => {
    const { account, use } = await flows.reset()
    await service.owner.query(
      'update user_key set key_id = gen_random_uuid() where user_id = any (select id from "user" where email = $1)',
      [account.email]
    )
    await expect(use()).rejects.toMatchObject(invalid)
  })

  test('is kept as a hash, and carries its secret in the fragment', async () => {
    const { account, token } = await flows.reset()
    const { rows } = await service.owner.query('select t::text as row from mail_token t')
    const dump = rows.map(({ row }) => row).join('\n')
    expect(dump).toContain(createHash('sha256').update(token).digest('hex'))
    const secret = [Buffer.from(token, 'base64url'), Buffer.from(token)]
    for (const plain of [token, ...secret.map(bytes => bytes.toString('hex'))]) {
      expect(dump).not.toContain(plain)
    }
    const { link } = await service.mailTo(account.email, 'reset')
    const url = new URL(link)
    expect(url.origin + url.pathname + url.search).toBe('http://localhost/reset-password')
    expect(JSON.stringify(service.logged)).not.toContain(token)
  })

  test('is tried thirty times by one address in a quarter of an hour, right ones not counted', async () => {
    await using strict = await makeMultiHostApp({
      mailServer: true,
      limits: { ...service.deps.settings.limits, mailTokensPerAddress: 30 }
    })
    const guess = () => {
      const token = randomBytes(32).toString('base64url')
      return strict.call('localhost', verifyEmail, { token })
    }
    for (let tries = 0; tries < 29; tries++) {
      await expect(guess()).rejects.toEqual(errorWithCode('mail_token_invalid'))
    }
    for (let right = 0; right < 3; right++) {
      const account = await strict.signUp()
      const session = (await strict.signIn(account)).access_token
      const { token } = await strict.mailTo(account.email, 'verify')
      await strict.call('localhost', verifyEmail, { token }, { token: session })
    }
    await expect(guess()).rejects.toEqual(errorWithCode('mail_token_invalid'))
    await expect(guess()).rejects.toEqual(errorWithCode('rate_limited'))
  })
})

async function administrator(): Promise<Account & { id: string; token: string }> {
  const person = await confirmed()
  await service.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  return person
}

async function invite(admin: { token: string }, email: string) {
  return call(createUser, { email }, admin.token)
}

async function withoutMailServer<T>(run: () => Promise<T>): Promise<T> {
  const { settings } = service.deps
  settings.mailServer = false
  try {
    return await run()
  } finally {
    settings.mailServer = true
  }
}

async function activate(account: Account, token: string): Promise<void> {
  const public_key_jwt = await proof('activate', account, token)
  const input = { token, username: 'Grace Hopper', locale: 'fr', public_key_jwt } as const
  await service.call(account.host, activateUser, input)
}

async function disable(id: string): Promise<void> {
  const { token } = await administrator()
  await call(disableUser, { id, reason: 'abuse' }, token)
}

function post(host: string, path: string, input: object): Request {
  return new Request(`http://api.${host}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': randomBytes(8).toString('hex')
    },
    body: JSON.stringify(input)
  })
}
