import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { activateUser, resetPassword, verifyEmail } from '../../../src/contract/accounts.ts'
import { addGroupUser, createGroup, getGroup } from '../../../src/contract/groups.ts'
import {
  type BulkResult,
  changeUsers,
  createInvitationLinks,
  deleteMember,
  disableUser,
  enableUser,
  exportUsers,
  getMember,
  getUserUsage,
  listUserSessions,
  listUsers,
  resendInvitation,
  resendVerifyLink,
  setPermissions,
  signOutUser,
  updateMember
} from '../../../src/contract/members.ts'
import { createUser, getOwnAccount, updateOwnAccount } from '../../../src/contract/users.ts'
import { checkAuditLog } from '../../../src/server/domain/audit/audit-check.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, makeImport, requestOf } from '../../helpers/cases.ts'
import { newEmail } from '../../helpers/client.ts'
import { makeMailToken, makePerson, makeSignUp, publicKeyJwtFor } from '../../helpers/mailed.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

let app: TestApp
let ada: TestPerson
let company: string
beforeAll(async () => {
  app = await makeApp()
  ada = await newAdmin()
  company = app.companies[ada.host] ?? ''
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => confirmSessions(app))

async function newAdmin(permission = 'admin', host?: string): Promise<TestPerson> {
  const person = await app.signUp(host)
  await allow(person.id, permission)
  return person
}

const allow = (id: string, permission: string) =>
  app.owner.query('update "user" set permissions = $2 where id = $1', [id, [permission]])

const newGroup = async () => (await ada.call(createGroup, { name: `Group ${randomUUID()}` })).id
const invited = async () => (await makePerson(app, true)).id
const stateOf = async (id: string) => (await ada.call(getMember, { id })).state

/** Returns the entries of the audit log about a person, oldest first. */
async function auditOf(id: string): Promise<{ action: string; changes: unknown }[]> {
  const { rows } = await app.owner.query<{ action: string; changes: string | null }>(
    `select e.action, v.changes from audit_entry e
       left join audit_value v on v.company_id = e.company_id and v.seq = e.seq
      where e.target_id = $1 order by e.seq`,
    [id]
  )
  return rows.map(row => ({ ...row, changes: row.changes && JSON.parse(row.changes) }))
}

const actionsOf = async (id: string) => (await auditOf(id)).map(({ action }) => action)

describe('a person', () => {
  test('is shown with state, groups and when they were last seen', async () => {
    const person = await app.signUp()
    expect(await ada.call(getMember, { id: person.id })).toEqual({
      id: person.id,
      version: 1,
      username: expect.any(String),
      email: person.email,
      locale: 'und',
      state: 'active',
      disabled: null,
      permissions: [],
      groups: [{ id: expect.any(String), name: 'Everyone' }],
      created: expect.any(String),
      last_seen: expect.any(String)
    })
    expect(await ada.call(getMember, { id: await invited() })).toMatchObject({
      state: 'invited',
      last_seen: null
    })
  })

  test('is last seen at each minute in which the person calls', async () => {
    const person = await app.signUp()
    const seen = async () =>
      Date.parse((await ada.call(getMember, { id: person.id })).last_seen ?? '')
    const first = await seen()
    await app.signIn(person)
    await person.call(getOwnAccount, {})
    expect(await seen()).toBe(first)
    app.wait(60)
    await person.call(getOwnAccount, {})
    const second = await seen()
    expect(second - first).toBeGreaterThanOrEqual(60_000)
    app.wait(50)
    await person.call(getOwnAccount, {})
    expect(await seen()).toBe(second)
  })

  test('gets another name, language and whole set of groups', async () => {
    const [one, two, id] = [await newGroup(), await newGroup(), await invited()]
    await ada.call(addGroupUser, { groupId: one, user_id: id })
    const { version } = await ada.call(getMember, { id })
    const changes = { username: 'Zoë', locale: 'fr' as const, group_ids: [two] }
    const changed = await ada.call(updateMember, { id, ...changes }, { version })
    expect(changed).toMatchObject({ username: 'Zoë', locale: 'fr', version: version + 1 })
    expect(changed.groups.map(group => group.id)).toEqual([two])
    expect(await ada.call(getMember, { id })).toEqual(changed)
    expect(await ada.call(getGroup, { id: one })).toMatchObject({ user_count: 0 })
    expect((await auditOf(id)).at(-1)).toEqual({
      action: 'user.update',
      changes: {
        before: { username: 'Ada', locale: 'und' },
        after: { username: 'Zoë', locale: 'fr' }
      }
    })
    expect(await actionsOf(one)).toEqual(['group.create', 'group.add_user', 'group.remove_user'])
  })

  test('keeps everything if one of the groups is missing or another company’s', async () => {
    const foreigner = await newAdmin('admin', 'beta.localhost')
    const theirs = await foreigner.call(createGroup, { name: `Beta ${randomUUID()}` })
    const id = await invited()
    const before = await ada.call(getMember, { id })
    for (const group of [theirs.id, randomUUID()]) {
      const change = { id, username: 'Lost', group_ids: [await newGroup(), group] }
      await expect(ada.call(updateMember, change)).rejects.toEqual(errorWithCode('not_found'))
    }
    expect(await ada.call(getMember, { id })).toEqual(before)
  })

  test('has another version after every change that an administrator can see', async () => {
    const person = await app.signUp()
    const versions = [1]
    const note = async () => versions.push((await ada.call(getMember, { id: person.id })).version)
    await person.call(updateOwnAccount, { username: 'Myself' })
    await note()
    await ada.call(addGroupUser, { groupId: await newGroup(), user_id: person.id })
    await note()
    await ada.call(disableUser, { id: person.id, reason: 'left' })
    await note()
    await ada.call(enableUser, { id: person.id })
    await note()
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b))
    const late = ada.call(updateMember, { id: person.id, username: 'Late' }, { version: 1 })
    await expect(late).rejects.toEqual(errorWithCode('changed_meanwhile'))
  })

  test('is changed by one of several editors who have seen the same version', async () => {
    const id = await invited()
    const saves = ['A', 'B', 'C', 'D'].map(username =>
      ada.call(updateMember, { id, username }, { version: 1 })
    )
    const outcomes = await Promise.allSettled(saves)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await ada.call(getMember, { id })).toMatchObject({ version: 2 })
  })

  test('is signed out of all browsers, and can sign in again', async () => {
    const person = await app.signUp()
    const other = await app.signIn(person)
    expect(await ada.call(listUserSessions, { id: person.id })).toHaveLength(2)
    // a call that needs no body takes one that is missing
    const headers = { authorization: `Bearer ${ada.token}` }
    const path = `/user/${person.id}/sign_out`
    const out = await app.request(`api.${ada.host}`, { method: 'POST', path, headers })
    expect(out.status, out.body.toString()).toBe(204)
    for (const token of [person.token, other]) {
      await expect(person.call(getOwnAccount, {}, { token })).rejects.toEqual(
        errorWithCode('unauthenticated')
      )
    }
    expect(await ada.call(listUserSessions, { id: person.id })).toEqual([])
    await person.call(getOwnAccount, {}, { token: await app.signIn(person) })
    expect(await actionsOf(person.id)).toEqual(['user.sign_out'])
  })

  test('has used what the person sees, and the groups together that much', async () => {
    const person = await app.signUp()
    await ada.call(addGroupUser, { groupId: await newGroup(), user_id: person.id })
    await app.deposit(person, randomBytes(500))
    const mine = await person.call(getOwnAccount, {})
    const { total, groups } = await ada.call(getUserUsage, { id: person.id })
    expect(total).toEqual(mine.usage)
    expect(total.own).toEqual({ requests_used: 1, storage_used: 500 })
    expect(groups.map(group => group.own.storage_used).sort()).toEqual([0, 500])
    expect(groups.find(group => group.own.storage_used > 0)?.name).toBe('Everyone')
    for (const { id, usage } of groups) {
      expect((await ada.call(getGroup, { id })).usage).toEqual(usage)
    }
  })
})

describe('an invitation', () => {
  test('goes into the named groups, else into the default group', async () => {
    const [one, two] = [await newGroup(), await newGroup()]
    const invite = async (more: object) => {
      const { id } = await ada.call(createUser, { email: newEmail(), ...more })
      return (await ada.call(getMember, { id })).groups
    }
    const both = await invite({ group_ids: [one, two, two] })
    expect(both.map(({ id }) => id).sort()).toEqual([one, two].sort())
    expect(await invite({ group_ids: [] })).toEqual([])
    expect(await invite({})).toEqual([expect.objectContaining({ name: 'Everyone' })])
  })

  test('makes nobody if one of the groups is missing', async () => {
    const email = newEmail()
    const input = { email, group_ids: [await newGroup(), randomUUID()] }
    await expect(ada.call(createUser, input)).rejects.toEqual(errorWithCode('not_found'))
    expect(await ada.call(listUsers, { id: company, email })).toEqual([])
  })
})

describe('links to pass on', () => {
  const linksOf = async (input: object, by = ada) => {
    await confirmSessions(app)
    return by.call(createInvitationLinks, input)
  }
  const tokenIn = (link?: { link: string }) =>
    new URLSearchParams(new URL(link?.link ?? '').hash.slice(1)).get('t') ?? ''
  const tokenFor = async (id: string) => tokenIn((await linksOf({ ids: [id] })).links[0])
  const activate = async ({ email }: { email: string }, token: string) => {
    const public_key_jwt = await publicKeyJwtFor(app, 'activate', { email, token })
    await app.call(ada.host, activateUser, { token, username: 'One', public_key_jwt })
  }

  test('let invited people in, are audited, and leave all others out', async () => {
    const [one, two, disabled] = [await makePerson(app, true), await invited(), await invited()]
    await ada.call(disableUser, { id: disabled, reason: 'left' })
    const others = [disabled, ada.id, (await makeSignUp(app)).id, randomUUID()]
    const { links, until, next } = await linksOf({ ids: [...others, one.id, two] })
    expect(next).toBeNull()
    expect(links.map(({ id }) => id)).toEqual([one.id, two].sort())
    const hours = (Date.parse(until) - app.deps.clock().getTime()) / 3_600_000
    expect(Math.round(hours)).toBe(72)
    const link = links.find(({ id }) => id === one.id)
    expect(link).toMatchObject({ email: one.email, username: 'Ada' })
    expect(new URL(link?.link ?? '').pathname).toBe('/activate-account')
    await activate(one, tokenIn(link))
    expect(await stateOf(one.id)).toBe('active')
    expect(await actionsOf(one.id)).toEqual(['user.invitation_link', 'user.activate'])
    expect(await actionsOf(disabled)).toEqual(['user.disable'])
    expect((await linksOf({ ids: [one.id] })).links).toEqual([])
  })

  test('of one person are kept up to twenty, the newest', async () => {
    const [busy, other] = [await makePerson(app, true), await makePerson(app, true)]
    const ofOther = await tokenFor(other.id)
    const first = await tokenFor(busy.id)
    for (let made = 0; made < 20; made++) await tokenFor(busy.id)
    await expect(activate(busy, first)).rejects.toEqual(errorWithCode('mail_token_invalid'))
    // also those of the same instant
    const clock = vi.spyOn(app.deps, 'clock').mockReturnValue(app.deps.clock())
    onTestFinished(() => clock.mockRestore())
    for (let made = 0; made < 25; made++) await tokenFor(busy.id)
    const last = await tokenFor(busy.id)
    const { rows } = await app.owner.query(
      'select subject, count(*)::int as kept from mail_token where subject = any($1) group by subject',
      [[busy.id, other.id]]
    )
    const keptOf = (id: string) => rows.find(row => row.subject === id)?.kept
    expect([keptOf(busy.id), keptOf(other.id)]).toEqual([20, 1])
    for (const [person, token] of [[busy, last] as const, [other, ofOther] as const]) {
      await activate(person, token)
      expect(await stateOf(person.id)).toBe('active')
    }
  })

  test.each(['used_at', 'expires_at'])('of one person do not count any more by %s', async field => {
    const person = await makePerson(app, true)
    const good = await tokenFor(person.id)
    for (let made = 0; made < 25; made++) {
      await tokenFor(person.id)
      await app.owner.query(
        `update mail_token set ${field} = created_at
          where subject = $1 and hash <> sha256(convert_to($2, 'UTF8'))`,
        [person.id, good]
      )
    }
    await activate(person, good)
    expect(await stateOf(person.id)).toBe('active')
  })

  test('are not given to anybody where they are mailed', async () => {
    app.deps.settings.mailServer = true
    const refused = linksOf({ ids: [await invited()] })
    await expect(
      refused.finally(() => {
        app.deps.settings.mailServer = false
      })
    ).rejects.toEqual(errorWithCode('forbidden'))
  })

  test('are renewed once they have expired', async () => {
    const id = await invited()
    const before = await linksOf({ ids: [id] })
    await app.owner.query('update mail_token set expires_at = created_at where subject = $1', [id])
    const after = await linksOf({ ids: [id] })
    expect(after.links[0]?.link).not.toBe(before.links[0]?.link)
    expect(Date.parse(after.until)).toBeGreaterThan(app.deps.clock().getTime())
  })

  test('are made for all who match, 200 a call, each once', async () => {
    const tag = `links-${randomUUID()}`
    await app.owner.query(
      `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at, invited_at)
       select $1, gen_random_uuid(), n || $2, 'Many', now(), now(), now()
         from generate_series(1, 203) n`,
      [company, `@${tag}.example.com`]
    )
    const filter = { q: tag }
    const first = await linksOf({ filter })
    const { next, links } = await linksOf({ filter, cursor: first.next })
    expect([first.links.length, links.length, next]).toEqual([200, 3, null])
    const all = [...first.links, ...links]
    expect(new Set(all.map(({ link }) => link)).size).toBe(203)
    expect((await linksOf({ filter: { q: tag, state: 'active' } })).links).toEqual([])
    await app.owner.query('delete from mail_token where email like $1', [`%${tag}%`])
    await app.owner.query('delete from "user" where email like $1', [`%${tag}%`])
  })

  test('are not found for another company’s import, person or group', async () => {
    const foreigner = await newAdmin('admin', 'beta.localhost')
    const theirs = await makeImport(app, foreigner.host, 'done import')
    for (const filter of [{ import: theirs }, { import: randomUUID() }, { group: randomUUID() }]) {
      await expect(linksOf({ filter })).rejects.toEqual(errorWithCode('not_found'))
    }
    const [mine, imported] = [await makeImport(app, ada.host, 'done import'), await invited()]
    await app.owner.query('update import_row set user_id = $2 where import_id = $1', [
      mine,
      imported
    ])
    const { links } = await linksOf({ filter: { import: mine } })
    expect(links.map(({ id }) => id)).toEqual([imported])
    expect((await linksOf({ ids: [await invited()] }, foreigner)).links).toEqual([])
  })

  test('of an operator are an operator’s to make', async () => {
    const id = await invited()
    await allow(id, 'operator')
    expect((await linksOf({ ids: [id] })).links).toEqual([])
    const operator = await newAdmin('operator')
    expect((await linksOf({ ids: [id] }, operator)).links).toHaveLength(1)
    await allow(operator.id, 'none')
    await allow(id, 'none')
  })
})

describe('permissions', () => {
  const set = async (by: TestPerson, id: string, permissions: ('admin' | 'operator')[]) => {
    await confirmSessions(app)
    return by.call(setPermissions, { id, permissions })
  }

  test('are granted and taken by an administrator, and hold at once', async () => {
    const person = await app.signUp()
    expect(await set(ada, person.id, ['admin'])).toMatchObject({ permissions: ['admin'] })
    await person.call(listUsers, { id: company })
    await set(ada, person.id, [])
    await expect(person.call(listUsers, { id: company })).rejects.toEqual(
      errorWithCode('forbidden')
    )
    const [granted] = await auditOf(person.id)
    expect(granted?.action).toBe('user.permissions')
    expect(granted?.changes).toEqual({
      before: { permissions: [] },
      after: { permissions: ['admin'], if_match: 'none' }
    })
  })

  test('need the password again', async () => {
    await app.owner.query('update session set confirmed_until = null')
    const call = ada.call(setPermissions, { id: await invited(), permissions: ['admin'] })
    await expect(call).rejects.toEqual(errorWithCode('confirmation_required'))
  })

  test('of an operator are an operator’s to change', async () => {
    const [operator, other, person] = [
      await newAdmin('operator'),
      await newAdmin('operator'),
      await app.signUp()
    ]
    await expect(set(ada, person.id, ['operator'])).rejects.toEqual(errorWithCode('forbidden'))
    await expect(set(ada, ada.id, ['admin', 'operator'])).rejects.toEqual(
      errorWithCode('forbidden')
    )
    await expect(set(ada, operator.id, [])).rejects.toEqual(errorWithCode('forbidden'))
    const calls = [deleteMember, signOutUser, enableUser] as const
    for (const each of calls) {
      await expect(ada.call(each, { id: operator.id })).rejects.toEqual(errorWithCode('forbidden'))
    }
    const rename = ada.call(updateMember, { id: operator.id, username: 'Mallory' })
    await expect(rename).rejects.toEqual(errorWithCode('forbidden'))
    await set(operator, person.id, ['operator'])
    await set(operator, other.id, [])
    await set(person, operator.id, [])
    await expect(set(operator, person.id, [])).rejects.toEqual(errorWithCode('forbidden'))
    await set(person, person.id, ['admin', 'operator'])
    await expect(set(person, person.id, ['admin'])).rejects.toEqual(errorWithCode('not_oneself'))
    await allow(person.id, 'none')
  })

  test('of an operator are not granted in another company', async () => {
    const operator = await newAdmin('operator')
    const foreigner = await app.signUp('beta.localhost')
    await confirmSessions(app)
    const ask = async (permissions: string[]) => {
      const headers = {
        authorization: `Bearer ${operator.token}`,
        company: app.companies['beta.localhost'] ?? ''
      }
      const input = { id: foreigner.id, permissions }
      const answer = await app.request(
        `api.${operator.host}`,
        requestOf(setPermissions, input, headers)
      )
      return answer.status
    }
    expect(await ask(['operator'])).toBe(403)
    expect(await ask(['admin'])).toBe(200)
    await allow(operator.id, 'none')
  })

  test('leave one of two administrators who take them from each other at once', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = [await newAdmin(), await newAdmin()]
      await confirmSessions(app)
      const outcomes = await Promise.allSettled([
        one.call(setPermissions, { id: two.id, permissions: [] }),
        two.call(setPermissions, { id: one.id, permissions: [] })
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const reason = outcomes.flatMap(each => (each.status === 'rejected' ? each.reason : []))
      expect(reason).toEqual([errorWithCode('forbidden')])
    }
  })

  test('leave one of two operators, whatever they do to each other at once', async () => {
    const acts = [
      (by: TestPerson, id: string) => by.call(setPermissions, { id, permissions: [] }),
      (by: TestPerson, id: string) => by.call(deleteMember, { id }),
      (by: TestPerson, id: string) => by.call(disableUser, { id, reason: 'left' as const })
    ]
    for (const first of acts) {
      for (const second of acts) {
        await app.owner.query(
          `update "user" set permissions = '{}' where 'operator' = any (permissions)`
        )
        const [one, two] = [await newAdmin('operator'), await newAdmin('operator')]
        await confirmSessions(app)
        await Promise.allSettled([first(one, two.id), second(two, one.id)])
        const { rows } = await app.owner.query(
          `select from "user" where 'operator' = any (permissions) and disabled is null`
        )
        expect(rows).toHaveLength(1)
      }
    }
    await app.owner.query(
      `update "user" set permissions = '{}' where 'operator' = any (permissions)`
    )
  })
})

describe('deleting', () => {
  test('erases the account, frees the e-mail and keeps the deposits', async () => {
    const person = await app.signUp()
    const done = await app.deposit(person, randomBytes(400))
    await ada.call(updateMember, { id: person.id, username: 'Secret name' })
    await ada.call(deleteMember, { id: person.id })
    await expect(person.call(getOwnAccount, {})).rejects.toEqual(errorWithCode('unauthenticated'))
    await expect(ada.call(getMember, { id: person.id })).rejects.toEqual(errorWithCode('not_found'))
    await expect(ada.call(deleteMember, { id: person.id })).rejects.toEqual(
      errorWithCode('not_found')
    )
    const { rows } = await app.owner.query('select from deposit where id = $1', [done.deposit_id])
    expect(rows).toHaveLength(1)
    expect((await auditOf(person.id)).map(({ changes }) => changes)).toEqual([null, null])
    await ada.call(createUser, { email: person.email })
  })

  test('while the person deposits leaves each deposit whole or none', async () => {
    for (let round = 0; round < 4; round++) {
      const person = await app.signUp()
      await app.deposit(person, randomBytes(100))
      const deposits = [1, 2, 3, 4].map(() => app.reserve(person, randomBytes(64)))
      const outcomes = await Promise.allSettled([
        ...deposits,
        ada.call(deleteMember, { id: person.id })
      ])
      expect(outcomes.at(-1)).toMatchObject({ status: 'fulfilled' })
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') continue
        const { code } = Object(outcome.reason)
        expect(['unauthenticated', 'category_unknown', 'forbidden']).toContain(code)
      }
      const { rows } = await app.owner.query(
        'select from group_user where user_id = $1 union all select from user_key where user_id = $1',
        [person.id]
      )
      expect(rows).toEqual([])
    }
  })
})

describe('a person who waits', () => {
  test('is listed and shown, has no groups, and lets only the link and the deletion happen', async () => {
    const { id, email } = await makeSignUp(app)
    const member = await ada.call(getMember, { id })
    expect(member).toMatchObject({
      email,
      state: 'waiting',
      groups: [],
      permissions: [],
      version: 1
    })
    expect(await ada.call(listUsers, { id: company, state: 'waiting', q: email })).toEqual([member])
    expect(await ada.call(listUsers, { id: company, q: id })).toEqual([member])
    const groupId = await newGroup()
    const refused = [
      () => ada.call(updateMember, { id, username: 'Early' }),
      () => ada.call(disableUser, { id, reason: 'left' }),
      () => ada.call(enableUser, { id }),
      () => ada.call(signOutUser, { id }),
      () => ada.call(resendInvitation, { id }),
      () => ada.call(addGroupUser, { groupId, user_id: id })
    ]
    for (const call of refused)
      await expect(call()).rejects.toEqual(errorWithCode('email_unconfirmed'))
    expect(await ada.call(listUserSessions, { id })).toEqual([])
  })

  test('gets in by the link that the administrator copies, and keeps the id', async () => {
    const { id, email } = await makeSignUp(app)
    const { link } = await ada.call(resendVerifyLink, { id })
    const url = new URL(link ?? '')
    // the person has told no language
    expect(url.pathname).toBe('/verify-account')
    const token = new URLSearchParams(url.hash.slice(1)).get('t') ?? ''
    // the link alone confirms nobody
    const alone = app.call(ada.host, verifyEmail, { token })
    await expect(alone).rejects.toEqual(errorWithCode('proof_required'))
    const public_key_jwt = await publicKeyJwtFor(app, 'verify', { email, token })
    await app.call(ada.host, verifyEmail, { token, public_key_jwt, username: 'Walt' })
    expect(await ada.call(getMember, { id })).toMatchObject({ state: 'active', username: 'Walt' })
    await expect(ada.call(resendVerifyLink, { id })).rejects.toEqual(errorWithCode('not_waiting'))
    expect(await actionsOf(id)).toEqual(['user.verify_link', 'user.sign_up'])
  })

  test('is deleted with the pending session', async () => {
    const { id, email, keys } = await makeSignUp(app)
    const token = await app.signIn({ host: ada.host, email, keys })
    await ada.call(deleteMember, { id })
    await expect(app.call(ada.host, getOwnAccount, {}, { token })).rejects.toEqual(
      errorWithCode('unauthenticated')
    )
    await expect(ada.call(getMember, { id })).rejects.toEqual(errorWithCode('not_found'))
  })

  test('is no longer listed once the e-mail has an account or the time is over', async () => {
    const [known, late] = [await makeSignUp(app), await makeSignUp(app)]
    await ada.call(createUser, { email: known.email })
    await app.owner.query(`update signup set expires_at = created_at where id = $1`, [late.id])
    const states = async (email: string) =>
      (await ada.call(listUsers, { id: company, email })).map(({ state }) => state)
    expect(await states(known.email)).toEqual(['invited'])
    expect(await states(late.email)).toEqual([])
    await expect(ada.call(getMember, { id: late.id })).rejects.toEqual(errorWithCode('not_found'))
  })
})

describe('a disabled person', () => {
  test('stays disabled whatever mailed links the person follows', async () => {
    const person = await makePerson(app, true)
    const activate = await makeMailToken(app, 'activate', person)
    await ada.call(disableUser, { id: person.id, reason: 'security' })
    await expect(ada.call(resendInvitation, { id: person.id })).rejects.toEqual(
      errorWithCode('person_disabled')
    )
    const public_key_jwt = await publicKeyJwtFor(app, 'activate', { ...person, token: activate })
    const input = { token: activate, username: 'Back', public_key_jwt }
    await app.call(ada.host, activateUser, input)
    expect(await stateOf(person.id)).toBe('disabled')
    const reset = await makeMailToken(app, 'reset', person)
    const proof = await publicKeyJwtFor(app, 'reset', {
      ...person,
      token: reset,
      keys: person.keys
    })
    await app.call(ada.host, resetPassword, { token: reset, public_key_jwt: proof })
    expect(await stateOf(person.id)).toBe('disabled')
    const login = app.signIn({ ...person, host: ada.host })
    await expect(login).rejects.toEqual(errorWithCode('account_disabled'))
    await ada.call(enableUser, { id: person.id })
    expect(await stateOf(person.id)).toBe('active')
  })
})

describe('the list', () => {
  test('holds people of every state once, in every order, page by page', async () => {
    await makeSignUp(app)
    await ada.call(disableUser, { id: await invited(), reason: 'left' })
    const { rows } = await app.owner.query<{ id: string }>(
      `select id from "user" where company_id = $1 and deleted_at is null
       union all
       select id from signup s where company_id = $1 and expires_at > $2
         and not exists (select from "user" u where u.company_id = $1 and u.email = s.email)`,
      [company, app.deps.clock()]
    )
    const everybody = rows.map(({ id }) => id).sort()
    const sorts = ['name', 'email', 'created', 'last_seen'] as const
    for (const sort of sorts.flatMap(key => [key, `-${key}`] as const)) {
      const read: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await ada.call(listUsers, {
          id: company,
          sort,
          limit: 7,
          ...(cursor && { cursor })
        })
        read.push(...page.map(({ id }) => id))
        cursor = page.at(-1)?.id
        if (page.length < 7) break
      }
      expect(read.toSorted(), sort).toEqual(everybody)
      if (!sort.startsWith('-')) continue
      const first = await ada.call(listUsers, {
        id: company,
        sort: sort.slice(1) as 'name',
        limit: 200
      })
      expect(first.map(({ id }) => id).reverse(), sort).toEqual(read)
    }
  })

  test('has only those who match every filter', async () => {
    const groupId = await newGroup()
    const [person, other] = [await app.signUp(), await invited()]
    for (const user_id of [person.id, other]) await ada.call(addGroupUser, { groupId, user_id })
    const list = async (filter: object) =>
      (await ada.call(listUsers, { id: company, ...filter })).map(({ id }) => id)
    expect((await list({ group: groupId })).sort()).toEqual([person.id, other].sort())
    expect(await list({ group: groupId, state: 'active' })).toEqual([person.id])
    expect(await list({ group: groupId, state: 'waiting' })).toEqual([])
    expect(await list({ group: groupId, permission: 'admin' })).toEqual([])
    expect(await list({ permission: 'admin' })).toContain(ada.id)
    expect(await list({ permission: 'admin', state: 'waiting' })).toEqual([])
    expect(await list({ permission: 'admin' })).not.toContain(person.id)
    expect(await list({ q: ` ${person.id.toUpperCase()} ` })).toEqual([person.id])
    expect(await list({ q: randomUUID() })).toEqual([])
    const foreigner = await app.signUp('beta.localhost')
    expect(await list({ q: foreigner.id })).toEqual([])
  })
})

describe('a bulk change', () => {
  const bulk = (input: object, options = {}): Promise<BulkResult> =>
    ada.call(changeUsers, { action: 'enable', ...input }, options)

  /**
   * Creates `count` invited people whose names contain the same new word. Returns the word as `q`,
   * and the ids of the people.
   */
  async function crowd(count: number): Promise<{ q: string; ids: string[] }> {
    const q = `crowd${randomUUID().slice(0, 8)}`
    const { rows } = await app.owner.query<{ id: string }>(
      `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at, invited_at)
       select $1, gen_random_uuid(), $2 || n || '@example.com', $2, now(), now(), now()
         from generate_series(1, $3::int) n returning id`,
      [company, q, count]
    )
    return { q, ids: rows.map(({ id }) => id).sort() }
  }

  test('says how many match before anything happens', async () => {
    const { q, ids } = await crowd(5)
    const asked = { action: 'delete', dry_run: true }
    expect(await bulk({ ...asked, filter: { q } })).toMatchObject({
      matching: 5,
      done: [],
      next: null
    })
    expect(await bulk({ ...asked, ids: [...ids.slice(2), randomUUID()] })).toMatchObject({
      matching: 3
    })
    expect(await bulk({ ...asked, filter: { q, state: 'active' } })).toMatchObject({ matching: 0 })
    expect(await ada.call(listUsers, { id: company, q })).toHaveLength(5)
  })

  test('treats 200 people a call in the order of ids, and is undone by what was done', async () => {
    const { q, ids } = await crowd(450)
    const groupId = await newGroup()
    await ada.call(addGroupUser, { groupId, user_id: ids[0] ?? '' })
    const input = { action: 'add_to_group', group_id: groupId, filter: { q } }
    const results: BulkResult[] = []
    for (let cursor: string | null | undefined; cursor !== null; cursor = results.at(-1)?.next) {
      results.push(await bulk({ ...input, ...(cursor && { cursor }) }))
    }
    expect(results).toHaveLength(3)
    expect(results.flatMap(({ unchanged }) => unchanged)).toEqual([ids[0]])
    const done = results.flatMap(each => each.done)
    expect(done).toEqual(ids.slice(1))
    expect(await ada.call(getGroup, { id: groupId })).toMatchObject({ user_count: 450 })
    for (let at = 0; at < done.length; at += 200) {
      await bulk({ action: 'remove_from_group', group_id: groupId, ids: done.slice(at, at + 200) })
    }
    expect(await ada.call(getGroup, { id: groupId })).toMatchObject({ user_count: 1 })
    const log = await actionsOf(groupId)
    expect(log.filter(action => action === 'group.add_user')).toHaveLength(450)
    expect(log.filter(action => action === 'group.remove_user')).toHaveLength(449)
  })

  test('goes on after people whom it has deleted', async () => {
    const { q, ids } = await crowd(201)
    const first = await bulk({ action: 'delete', filter: { q } })
    expect([first.done.length, first.next]).toEqual([200, ids[199]])
    const rest = await bulk({ action: 'delete', filter: { q }, cursor: first.next })
    expect(rest).toMatchObject({ done: [ids[200]], next: null })
    expect(await ada.call(listUsers, { id: company, q })).toEqual([])
  })

  test('refuses single people with a code and changes the others', async () => {
    const operator = await newAdmin('operator')
    const [person, waiting, missing] = [await app.signUp(), await makeSignUp(app), randomUUID()]
    const foreigner = await app.signUp('beta.localhost')
    const ids = [ada.id, operator.id, person.id, waiting.id, missing, foreigner.id]
    const result = await bulk({ action: 'disable', reason: 'left', ids })
    expect(result.done).toEqual([person.id])
    expect(Object.fromEntries(result.refused.map(({ id, code }) => [id, code]))).toEqual({
      [ada.id]: 'not_oneself',
      [operator.id]: 'forbidden',
      [waiting.id]: 'email_unconfirmed',
      [missing]: 'not_found',
      [foreigner.id]: 'not_found'
    })
    await expect(person.call(getOwnAccount, {})).rejects.toEqual(errorWithCode('account_disabled'))
    await foreigner.call(getOwnAccount, {})
    const again = await bulk({ action: 'disable', reason: 'abuse', ids: [person.id] })
    expect(again).toMatchObject({ done: [], unchanged: [person.id] })
    expect(await ada.call(getMember, { id: person.id })).toMatchObject({
      disabled: { reason: 'left' }
    })
    await allow(operator.id, 'none')
  })

  test('enables, signs out, invites and deletes', async () => {
    const [person, { id: waiting }, invitee] = [
      await app.signUp(),
      await makeSignUp(app),
      await invited()
    ]
    const ids = [person.id, waiting, invitee]
    expect(await bulk({ action: 'invite', ids })).toMatchObject({
      done: [invitee],
      refused: expect.arrayContaining([
        { id: person.id, code: 'already_active' },
        { id: waiting, code: 'email_unconfirmed' }
      ])
    })
    expect((await bulk({ action: 'sign_out', ids })).done.sort()).toEqual(
      [person.id, invitee].sort()
    )
    await expect(person.call(getOwnAccount, {})).rejects.toEqual(errorWithCode('unauthenticated'))
    await ada.call(disableUser, { id: invitee, reason: 'left' })
    expect(await bulk({ action: 'enable', ids })).toMatchObject({
      done: [invitee],
      unchanged: [person.id],
      reasons: [{ id: invitee, reason: 'left' }]
    })
    expect((await bulk({ action: 'delete', ids })).done.sort()).toEqual(ids.sort())
    for (const id of ids) {
      await expect(ada.call(getMember, { id })).rejects.toEqual(errorWithCode('not_found'))
    }
  })

  test('happens once for one idempotency key', async () => {
    const { q, ids } = await crowd(3)
    const groupId = await newGroup()
    const input = { action: 'add_to_group', group_id: groupId, filter: { q } }
    const options = { idempotencyKey: randomUUID() }
    const answers = await Promise.all([1, 2, 3].map(() => bulk(input, options)))
    for (const answer of answers) expect(answer.done).toEqual(ids)
    expect(await actionsOf(groupId)).toHaveLength(1 + 3)
  })

  test('needs exactly what the action needs, and changes nothing otherwise', async () => {
    const { q, ids } = await crowd(1)
    const wrong = [
      { action: 'add_to_group', filter: { q } },
      { action: 'disable', filter: { q } },
      { action: 'enable', group_id: await newGroup(), filter: { q } },
      { action: 'enable', reason: 'left', filter: { q } },
      { action: 'enable' },
      { action: 'enable', ids: [] },
      { action: 'enable', ids, filter: { q } },
      { action: 'enable', ids, cursor: ids[0] },
      { action: 'enable', filter: { q, nonsense: true } },
      { action: 'enable', ids: Array.from({ length: 201 }, () => randomUUID()) }
    ]
    for (const input of wrong) {
      await expect(bulk(input), JSON.stringify(input)).rejects.toEqual(
        errorWithCode('invalid_input')
      )
    }
    const foreign = await newAdmin('admin', 'beta.localhost')
    const { id: group } = await foreign.call(createGroup, { name: `Beta ${randomUUID()}` })
    for (const input of [
      { action: 'add_to_group', group_id: group, filter: { q } },
      { action: 'delete', filter: { q, group } },
      { action: 'delete', filter: { q, group }, dry_run: true }
    ]) {
      await expect(bulk(input)).rejects.toEqual(errorWithCode('not_found'))
    }
    expect(await ada.call(getMember, { id: ids[0] ?? '' })).toMatchObject({ version: 1 })
  })

  test('of fifty calls at once changes everybody once', async () => {
    const { q, ids } = await crowd(60)
    const groupId = await newGroup()
    const input = { action: 'add_to_group', group_id: groupId, filter: { q } }
    const results = await Promise.all(
      Array.from({ length: 50 }, async () => {
        for (;;) {
          try {
            return await bulk(input)
          } catch (error) {
            // a lock that was not free in time, which says so
            if (Object(error).code !== 'unavailable') throw error
          }
        }
      })
    )
    expect(results.flatMap(({ done }) => done).sort()).toEqual(ids)
    expect(results.flatMap(({ refused }) => refused)).toEqual([])
    expect(await actionsOf(groupId)).toHaveLength(1 + ids.length)
  }, 60_000)
})

describe('the export', () => {
  test('has the people who match as lines of a CSV that no spreadsheet runs', async () => {
    const groupId = await newGroup()
    const id = await invited()
    await ada.call(updateMember, { id, username: '=1+1', group_ids: [groupId] })
    const headers = { authorization: `Bearer ${ada.token}` }
    const input = { id: company, group: groupId }
    const answer = await app.request(`api.${ada.host}`, requestOf(exportUsers, input, headers))
    expect(answer.status).toBe(200)
    expect(answer.headers['content-type']).toContain('text/csv')
    const [head, line, end] = answer.body.toString().split('\r\n')
    expect(head).toBe(
      '\uFEFFid,email,username,locale,groups,state,disabled_reason,disabled_since,permissions,created,last_seen'
    )
    expect(line?.split(',').slice(0, 3)).toEqual([id, expect.any(String), "'=1+1"])
    expect(line).toContain(',invited,')
    expect(end).toBe('')
  })

  test('goes on over pages, sign-ups included', async () => {
    const headers = { authorization: `Bearer ${ada.token}` }
    const input = { id: company }
    const answer = await app.request(`api.${ada.host}`, requestOf(exportUsers, input, headers))
    const lines = answer.body.toString().trim().split('\r\n').slice(1)
    const counted = await ada.call(changeUsers, { action: 'enable', filter: {}, dry_run: true })
    expect(lines).toHaveLength(counted.matching ?? 0)
    expect(lines.length).toBeGreaterThan(200)
    expect(lines.some(line => line.includes(',waiting,'))).toBe(true)
  })
})

test('people’s own changes are in the audit log', async () => {
  const person = await makePerson(app, true)
  const token = await makeMailToken(app, 'activate', person)
  const public_key_jwt = await publicKeyJwtFor(app, 'activate', { ...person, token })
  await app.call(ada.host, activateUser, { token, username: 'Ivy', public_key_jwt })
  const reset = await makeMailToken(app, 'reset', person)
  const proof = await publicKeyJwtFor(app, 'reset', { ...person, token: reset, keys: person.keys })
  await app.call(ada.host, resetPassword, { token: reset, public_key_jwt: proof })
  expect(await actionsOf(person.id)).toEqual(['user.activate', 'user.reset_password'])
  const { rows } = await app.owner.query('select actor_id from audit_entry where target_id = $1', [
    person.id
  ])
  expect(new Set(rows.map(row => row.actor_id))).toEqual(new Set([person.id]))
})

test('the audit log of all that holds', async () => {
  const { broken } = await checkAuditLog(app.deps, app.companies[ada.host] ?? fail())
  expect(broken).toBeUndefined()
})

function fail(): never {
  throw new Error('no company')
}
