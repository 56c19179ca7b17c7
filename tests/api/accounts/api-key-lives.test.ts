import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  deleteOwnAccount,
  requestPasswordReset,
  resetPassword
} from '../../../src/contract/accounts.ts'
import {
  createApiKey,
  createCompanyApiKey,
  deleteUserApiKey,
  listApiKeys,
  listUserApiKeys,
  renewApiKey,
  renewCompanyApiKey
} from '../../../src/contract/api-keys.ts'
import { listAuditEntries } from '../../../src/contract/audit.ts'
import { signOutUser } from '../../../src/contract/members.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import { changePassword } from '../../../src/contract/users.ts'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import { announceEndingKeys } from '../../../src/server/domain/accounts/api-keys.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, makeApiKey, makeGroup, makeInvitedPerson } from '../../helpers/cases.ts'
import { makeKeys } from '../../helpers/keys.ts'
import { publicKeyJwtFor } from '../../helpers/mailed.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

let app: TestApp
let admin: TestPerson
let person: TestPerson
let company: string
beforeAll(async () => {
  app = await makeApp()
  admin = await app.signUp()
  company = app.companies[admin.host] ?? ''
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [admin.id])
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  person = await app.signUp()
  await confirmSessions(app)
})

const keysOf = async ({ id }: TestPerson) => {
  const { rows } = await app.owner.query('select id from api_key where user_id = $1', [id])
  return rows.map(row => row.id)
}

async function choosePassword(keep_api_keys?: boolean): Promise<void> {
  const { host: aud, email, keys, call } = person
  const { challenge: nonce } = await call(getChallenge, { email, purpose: 'rekey' })
  const public_key_jwt = makeKeys().publicKeyJwt({ aud, email, purpose: 'rekey', nonce })
  await call(changePassword, {
    challenge_response: keys.respond(nonce),
    public_key_jwt,
    ...(keep_api_keys !== undefined && { keep_api_keys })
  })
}

async function reset(keep_api_keys?: boolean): Promise<void> {
  const { email, call } = person
  await call(requestPasswordReset, { email })
  const { token } = await app.mailTo(email, 'reset')
  const public_key_jwt = await publicKeyJwtFor(app, 'reset', { email, token })
  await call(resetPassword, {
    token,
    public_key_jwt,
    ...(keep_api_keys !== undefined && { keep_api_keys })
  })
}

describe.each([
  ['a new password', choosePassword],
  ['a reset of the password', reset]
])('%s', (_what, choose) => {
  test('ends the API keys of the person, and no others', async () => {
    await makeApiKey(app, person)
    const companys = await makeApiKey(app, person, { isCompanys: true })
    const other = await makeApiKey(app, admin)
    await choose()
    expect(await keysOf(person)).toEqual([])
    const { rows } = await app.owner.query('select id from api_key where id = any ($1)', [
      [companys.id, other.id]
    ])
    expect(rows).toHaveLength(2)
    const audited = await admin.call(listAuditEntries, { id: company, action: 'api_key.revoke' })
    expect(audited[0]?.actor?.id).toBe(person.id)
  })

  test('keeps them where the person chose that', async () => {
    const { id } = await makeApiKey(app, person)
    await choose(true)
    expect(await keysOf(person)).toEqual([id])
  })
})

test('a new and a renewed key are mailed to their owner, and to administrators for a company', async () => {
  const made = await person.call(createApiKey, { name: 'Scanner', scopes: ['deposit'] })
  expect((await app.mailTo(person.email, 'key_created')).key).toMatchObject({ name: 'Scanner' })
  app.wait(40 * 86_400)
  await signInAgain()
  const renewed = await person.call(renewApiKey, { id: made.id })
  expect(Date.parse(renewed.expires)).toBeGreaterThan(Date.parse(made.expires))
  const mail = await app.mailTo(person.email, 'key_renewed')
  expect(mail.link).toContain('/me#keys')
  const group_id = await makeGroup(app, admin.host)
  await app.owner.query(
    `insert into "user" (company_id, id, email, username, permissions, tokens_valid_after, created_at)
     values ($1, gen_random_uuid(), 'invited@acme.fr', 'Invited', '{admin}', now(), now())`,
    [company]
  )
  const input = { id: company, name: 'Archive', scopes: ['deposit' as const], group_id }
  const companys = await admin.call(createCompanyApiKey, input)
  expect((await app.mailTo(admin.email, 'key_created')).key?.name).toBe('Archive')
  await admin.call(renewCompanyApiKey, { id: company, keyId: companys.id })
  expect((await app.mailTo(admin.email, 'key_renewed')).link).toContain(`/admin/${company}`)
  const { rows } = await app.owner.query(`select from mail where email = 'invited@acme.fr'`)
  expect(rows).toEqual([])
  expect(app.sentMails.map(({ to }) => to)).not.toContain('invited@acme.fr')
})

test('lives a year at most, also after it was renewed', async () => {
  const input = { name: 'Scanner', scopes: ['deposit' as const], expires_in_days: 366 }
  await expect(person.call(createApiKey, input)).rejects.toEqual(errorWithCode('invalid_input'))
  const { id } = await makeApiKey(app, person)
  const renewal = { id, expires_in_days: 366 }
  await expect(person.call(renewApiKey, renewal)).rejects.toEqual(errorWithCode('invalid_input'))
  await app.owner.query('update session set confirmed_until = null')
  await expect(person.call(renewApiKey, { id })).rejects.toEqual(
    errorWithCode('confirmation_required')
  )
})

test('is announced 30 and 7 days before it ends, each once', async () => {
  await person.call(createApiKey, { name: 'Scanner', scopes: ['deposit'] })
  const announced = async (days: number) => {
    app.wait(days * 86_400)
    await announceEndingKeys(app.deps, toCompanyId(company))
    await app.allMailsSent()
    return app.sentMails.filter(({ to, kind }) => to === person.email && kind === 'key_ending')
      .length
  }
  expect(await announced(334)).toBe(0)
  expect(await announced(2)).toBe(1)
  expect(await announced(1)).toBe(1)
  expect(await announced(22)).toBe(2)
  expect(await announced(1)).toBe(2)
})

test('administrators see, revoke and sign out with the keys of a person', async () => {
  await signInAgain()
  const one = await makeApiKey(app, person)
  const two = await makeApiKey(app, person)
  const listed = await admin.call(listUserApiKeys, { id: person.id })
  expect(listed.map(({ id }) => id).sort()).toEqual([one.id, two.id].sort())
  await admin.call(deleteUserApiKey, { id: person.id, keyId: one.id })
  expect(await keysOf(person)).toEqual([two.id])
  const foreign = admin.call(deleteUserApiKey, { id: admin.id, keyId: two.id })
  await expect(foreign).rejects.toEqual(errorWithCode('not_found'))
  const [entry] = await admin.call(listAuditEntries, { id: company, action: 'api_key.revoke' })
  expect(entry?.actor?.id).toBe(admin.id)
  await admin.call(signOutUser, { id: person.id })
  expect(await keysOf(person)).toEqual([two.id])
  await admin.call(signOutUser, { id: person.id, revoke_api_keys: true })
  expect(await keysOf(person)).toEqual([])
})

test('an invited operator is no other operator', async () => {
  await signInAgain()
  const invited = await makeInvitedPerson(app.owner, company)
  await app.owner.query(`update "user" set permissions = '{operator}' where id = any ($1)`, [
    [person.id, invited]
  ])
  const { challenge } = await person.call(getChallenge, { email: person.email, purpose: 'rekey' })
  const challenge_response = person.keys.respond(challenge)
  await expect(person.call(deleteOwnAccount, { challenge_response })).rejects.toEqual(
    errorWithCode('last_operator')
  )
  expect(await person.call(listApiKeys, {})).toEqual([])
})

/** The clock has moved on, so earlier sessions have ended. */
async function signInAgain(): Promise<void> {
  for (const each of [admin, person]) {
    const token = await app.signIn(each)
    const { host } = each
    Object.assign(each, {
      token,
      call: (...[endpoint, input, options]: Parameters<TestPerson['call']>) =>
        app.call(host, endpoint, input, { token, ...options })
    })
  }
  await confirmSessions(app)
}
