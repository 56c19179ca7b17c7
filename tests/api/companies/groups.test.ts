import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listAllowedCategories } from '../../../src/contract/categories.ts'
import { getCompany } from '../../../src/contract/companies.ts'
import { listCompanyCategories } from '../../../src/contract/company-categories.ts'
import {
  addGroupCategory,
  addGroupUser,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  removeGroupCategory,
  removeGroupUser,
  updateGroup
} from '../../../src/contract/groups.ts'
import { disableUser, listUsers } from '../../../src/contract/members.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { checkAuditLog } from '../../../src/server/domain/audit/audit-check.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { requestOf } from '../../helpers/cases.ts'
import { makePerson } from '../../helpers/mailed.ts'
import { makeAdmins } from '../../helpers/matrix.ts'

let app: TestApp
let ada: TestPerson
let company: string
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  company = ada.company
  await makeAdmins(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

const newGroup = (more: object = {}) =>
  ada.call(createGroup, { name: `Group ${randomUUID()}`, ...more })

/** Signs up a person whose only group is this one. */
async function memberOf(groupId: string): Promise<TestPerson> {
  const person = await app.signUp()
  await app.owner.query('delete from group_user where user_id = $1', [person.id])
  await ada.call(addGroupUser, { groupId, user_id: person.id })
  return person
}

test('take ids in upper case as the same ids', async () => {
  const { id } = await newGroup()
  const person = await app.signUp()
  const upper = { groupId: id.toUpperCase(), userId: person.id.toUpperCase() }
  expect(await ada.call(updateGroup, { id: upper.groupId, max_storage: 7 })).toMatchObject({
    id,
    max_storage: 7
  })
  await ada.call(addGroupUser, { groupId: upper.groupId, user_id: upper.userId })
  await ada.call(removeGroupUser, upper)
  await ada.call(disableUser, { id: upper.userId, reason: 'left' })
  await expect(person.call(getOwnAccount, {})).rejects.toMatchObject({ code: 'account_disabled' })
  await ada.call(deleteGroup, { id: upper.groupId })
  await expect(
    ada.call(disableUser, { id: ada.id.toUpperCase(), reason: 'left' })
  ).rejects.toMatchObject({ code: 'not_oneself' })
  const groups = requestOf(
    listGroups,
    { id: company.toUpperCase() },
    {
      authorization: `Bearer ${ada.token}`,
      company: company.toUpperCase()
    }
  )
  expect((await app.request(`api.${ada.host}`, groups)).status).toBe(200)
  const { broken, entries } = await checkAuditLog(app.deps, ada.company)
  expect(broken).toBeUndefined()
  expect(entries).toBeGreaterThanOrEqual(6)
})

test('shows the company and its default group', async () => {
  expect(await ada.call(getCompany, { id: company })).toMatchObject({
    id: company,
    name: 'Acme',
    domains: [{ id: expect.any(String), host: 'acme.localhost', verified: true }],
    people: { active: expect.any(Number), waiting: 0 }
  })
  const [group] = await ada.call(listGroups, { id: company, q: 'everyone' })
  expect(group).toMatchObject({
    name: 'Everyone',
    version: 1,
    features: ['deposit'],
    max_requests: null,
    max_requests_interval: null,
    max_storage: null,
    is_default: true,
    category_count: 1
  })
  expect(await ada.call(getGroup, { id: group?.id ?? '' })).toEqual(group)
})

describe('creating', () => {
  test('makes a group without limits, members and categories', async () => {
    const group = await ada.call(createGroup, { name: '  Clerks\u0301 ' })
    expect(group).toMatchObject({ name: 'Clerkś', version: 1, features: [], max_requests: null })
    expect(group).toMatchObject({ is_default: false, user_count: 0, category_count: 0 })
    expect(await ada.call(getGroup, { id: group.id })).toEqual(group)
  })

  test('makes one group for one idempotency key', async () => {
    const options = { idempotencyKey: randomUUID() }
    const input = { name: `Once ${randomUUID()}` }
    const first = await ada.call(createGroup, input, options)
    expect(await ada.call(createGroup, input, options)).toEqual(first)
  })

  test('refuses a name that another group has, but not one of another company', async () => {
    const name = `Équipe ${randomUUID()}`
    await newGroup({ name })
    await expect(newGroup({ name: name.toUpperCase() })).rejects.toMatchObject({
      code: 'name_taken'
    })
    const foreigner = await app.signUp('beta.localhost')
    await makeAdmins(app.owner)
    await foreigner.call(createGroup, { name })
  })
})

describe('changing', () => {
  test('replaces the named fields only and counts the version', async () => {
    const limits = { max_requests: 5, max_requests_interval: 'P1D', max_storage: 1000 } as const
    const { id, version, created } = await newGroup({ features: ['deposit'], ...limits })
    const changed = await ada.call(updateGroup, { id, max_requests: null })
    expect(changed).toMatchObject({ ...limits, max_requests: null, features: ['deposit'], created })
    expect(changed.version).toBe(version + 1)
    const { features, ...rest } = await ada.call(updateGroup, { id, features: [] })
    expect([features, rest.version, rest.max_storage]).toEqual([[], version + 2, 1000])
  })

  test('changes nothing that the caller has not seen', async () => {
    const { id, version } = await newGroup()
    await ada.call(updateGroup, { id, max_requests: 7 }, { version })
    const late = ada.call(updateGroup, { id, max_requests: 9 }, { version })
    await expect(late).rejects.toMatchObject({ code: 'changed_meanwhile', status: 412 })
    expect(await ada.call(getGroup, { id })).toMatchObject({ max_requests: 7 })
    await ada.call(updateGroup, { id, max_requests: 9 })
  })

  test('lets one of two editors through who save the same version at once', async () => {
    const { id, version } = await newGroup()
    const saves = [1, 2, 3, 4].map(max_requests =>
      ada.call(updateGroup, { id, max_requests }, { version })
    )
    const outcomes = await Promise.allSettled(saves)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await ada.call(getGroup, { id })).toMatchObject({ version: version + 1 })
  })

  test('names the version in ETag and refuses a malformed If-Match', async () => {
    const { id } = await newGroup()
    const authorization = `Bearer ${ada.token}`
    const shown = await app.request(
      'api.acme.localhost',
      requestOf(getGroup, { id }, { authorization })
    )
    expect(shown.headers['etag']).toBe('"1"')
    const put = (ifMatch: string) => {
      const headers = { authorization, 'if-match': ifMatch }
      return app.request(
        'api.acme.localhost',
        requestOf(updateGroup, { id, features: [] }, headers)
      )
    }
    expect((await put('*')).headers['etag']).toBe('"2"')
    for (const malformed of ['2', 'W/2', '"2" "3"', '"2', '"2",3', ',', '', '"2"x', '*, "2"']) {
      expect((await put(malformed)).status, malformed).toBe(400)
    }
    for (const other of ['"1"', 'W/"1"', '"1", "99"', '"a"', '"1-gzip"', '"2-x"', '""']) {
      expect((await put(other)).status, other).toBe(412)
    }
    expect((await put('"2"')).headers['etag']).toBe('"3"')
    // as a proxy that compresses changes it, and as a list
    const same = ['W/"3"', '"4-gzip"', 'W/"5-br"', '"6", "99"', '"1",W/"7"', '"é,", "8"', ', "9" ,']
    for (const [index, header] of same.entries()) {
      expect((await put(header)).headers['etag'], header).toBe(`"${index + 4}"`)
    }
  })

  test('moves the default, of which there is always one', async () => {
    const { id } = await newGroup()
    const before = (await ada.call(listGroups, { id: company })).find(group => group.is_default)
    expect(await ada.call(updateGroup, { id, is_default: true })).toMatchObject({
      is_default: true
    })
    const joined = await makePerson(app)
    expect(await ada.call(listUsers, { id: company, group: id })).toMatchObject([{ id: joined.id }])
    await expect(ada.call(deleteGroup, { id })).rejects.toMatchObject({
      code: 'default_group_needed'
    })
    const old = await ada.call(updateGroup, { id: before?.id ?? '', is_default: true })
    expect(old.version).toBe((before?.version ?? 0) + 2)
    const groups = await ada.call(listGroups, { id: company, limit: 200 })
    expect(groups.filter(group => group.is_default)).toMatchObject([{ id: old.id }])
  })
})

test('has one default group, however many moves of it race', async () => {
  const groups = await Promise.all(Array.from({ length: 6 }, () => newGroup()))
  await Promise.all(groups.map(({ id }) => ada.call(updateGroup, { id, is_default: true })))
  const { rows } = await app.owner.query(
    'select id from "group" where company_id = $1 and is_default',
    [company]
  )
  expect(rows).toHaveLength(1)
  const [everyone] = await ada.call(listGroups, { id: company, q: 'everyone' })
  await ada.call(updateGroup, { id: everyone?.id ?? '', is_default: true })
})

describe('limits', () => {
  test('take effect at once, up and down, and never overshoot', async () => {
    const limits = { max_requests: 2, max_storage: 1_000_000 }
    const { id } = await newGroup({ features: ['deposit'], ...limits })
    await ada.call(addGroupCategory, { groupId: id, category_id: ada.category })
    const member = await memberOf(id)
    await app.deposit(member, randomBytes(100))
    await app.deposit(member, randomBytes(100))
    await expect(app.reserve(member, randomBytes(100))).rejects.toMatchObject({
      code: 'request_limit_reached'
    })
    await ada.call(updateGroup, { id, max_requests: 3 })
    await app.deposit(member, randomBytes(100))
    const lowered = await ada.call(updateGroup, { id, max_requests: 1, max_storage: 50 })
    expect(lowered.usage).toEqual({
      requests_used: 3,
      requests_remaining: 0,
      storage_used: 300,
      storage_remaining: 0,
      resets_at: null
    })
    const { usage } = await member.call(getOwnAccount, {})
    expect(usage).toMatchObject({ requests_used: 3, requests_remaining: 0, storage_used: 300 })
    await expect(app.reserve(member, randomBytes(100))).rejects.toMatchObject({
      figures: { used: 3, limit: 1 }
    })
    await ada.call(updateGroup, { id, max_requests: null, max_storage: null })
    await app.deposit(member, randomBytes(100))
  })

  test('say when the period ends', async () => {
    const { usage } = await newGroup({ max_requests: 5, max_requests_interval: 'P1D' })
    expect(Date.parse(usage.resets_at ?? '')).toBeGreaterThan(app.deps.clock().getTime())
    expect(usage).toMatchObject({ requests_used: 0, requests_remaining: 5 })
  })
})

describe('members and categories', () => {
  test('come and go, any number of times', async () => {
    const { id: groupId } = await newGroup({ features: ['deposit'] })
    const member = await memberOf(groupId)
    await ada.call(addGroupUser, { groupId, user_id: member.id })
    await ada.call(addGroupCategory, { groupId, category_id: ada.category })
    await ada.call(addGroupCategory, { groupId, category_id: ada.category })
    expect(await ada.call(getGroup, { id: groupId })).toMatchObject({
      user_count: 1,
      category_count: 1
    })
    expect(await ada.call(listUsers, { id: company, group: groupId })).toMatchObject([
      { id: member.id, username: 'Ada Lovelace', email: member.email, state: 'active' }
    ])
    expect(await ada.call(listCompanyCategories, { id: company, group: groupId })).toHaveLength(1)
    expect(await member.call(listAllowedCategories, {})).toMatchObject([{ id: ada.category }])
    expect((await member.call(getOwnAccount, {})).features).toEqual(['deposit'])

    for (let time = 0; time < 2; time++) {
      await ada.call(removeGroupCategory, { groupId, categoryId: ada.category })
      await ada.call(removeGroupUser, { groupId, userId: member.id })
    }
    expect(await member.call(listAllowedCategories, {})).toEqual([])
    expect((await member.call(getOwnAccount, {})).features).toEqual([])
    expect(await ada.call(getGroup, { id: groupId })).toMatchObject({
      user_count: 0,
      category_count: 0
    })
  })

  test('show whether a person is invited, active or disabled', async () => {
    const { id: groupId } = await newGroup()
    const people = [await makePerson(app, true), await makePerson(app), await makePerson(app)]
    for (const { id } of people) await ada.call(addGroupUser, { groupId, user_id: id })
    await ada.call(disableUser, { id: people[2]?.id ?? '', reason: 'left' })
    const members = await ada.call(listUsers, { id: company, group: groupId, sort: 'created' })
    expect(members.map(({ state }) => state)).toEqual(['invited', 'active', 'disabled'])
  })
})

describe('deleting', () => {
  test('takes a group that nobody has used', async () => {
    const { id } = await newGroup()
    await ada.call(addGroupCategory, { groupId: id, category_id: ada.category })
    await ada.call(deleteGroup, { id })
    await expect(ada.call(getGroup, { id })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('is refused with what uses the group', async () => {
    const { id } = await newGroup({ features: ['deposit'] })
    await ada.call(addGroupCategory, { groupId: id, category_id: ada.category })
    const member = await memberOf(id)
    const refusedWith = async (uses: object) =>
      expect(ada.call(deleteGroup, { id })).rejects.toMatchObject({ code: 'in_use', uses })
    await refusedWith({ users: 1, deposits: 0, requests: 0 })
    await app.deposit(member, randomBytes(100))
    await refusedWith({ users: 1, deposits: 1, requests: 1 })
    await ada.call(removeGroupUser, { groupId: id, userId: member.id })
    await refusedWith({ users: 0, deposits: 1, requests: 1 })
  })

  test('is refused for another version than the caller’s', async () => {
    const { id, version } = await newGroup()
    await ada.call(updateGroup, { id, features: ['deposit'] })
    await expect(ada.call(deleteGroup, { id }, { version })).rejects.toMatchObject({
      code: 'changed_meanwhile'
    })
    await ada.call(deleteGroup, { id }, { version: version + 1 })
  })

  test('leaves no member behind, however both race', async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await newGroup()
      const [added, deleted] = await Promise.allSettled([
        ada.call(addGroupUser, { groupId: id, user_id: ada.id }),
        ada.call(deleteGroup, { id })
      ])
      expect([added.status, deleted.status].sort()).toEqual(['fulfilled', 'rejected'])
    }
  })
})

test('enters every change into the audit log of the company', async () => {
  const { id, version } = await newGroup({ max_requests: 5 })
  await ada.call(updateGroup, { id, max_requests: 7 }, { version })
  await ada.call(updateGroup, { id, max_requests: 9 })
  await ada.call(addGroupUser, { groupId: id, user_id: ada.id })
  await ada.call(addGroupUser, { groupId: id, user_id: ada.id })
  await ada.call(removeGroupUser, { groupId: id, userId: ada.id })
  await ada.call(addGroupCategory, { groupId: id, category_id: ada.category })
  await ada.call(removeGroupCategory, { groupId: id, categoryId: ada.category })
  await ada.call(deleteGroup, { id })
  const { rows } = await app.owner.query(
    `select action, actor_id, v.changes::jsonb as changes from audit_entry
       join audit_value v using (company_id, seq) where target_id = $1 order by seq`,
    [id]
  )
  expect(new Set(rows.map(row => row.actor_id))).toEqual(new Set([ada.id]))
  expect(rows.map(({ action, changes }) => [action, changes])).toMatchObject([
    ['group.create', { after: { max_requests: 5 } }],
    ['group.update', { before: { max_requests: 5 }, after: { max_requests: 7 } }],
    ['group.update', { before: { max_requests: 7 }, after: { max_requests: 9, if_match: 'none' } }],
    ['group.add_user', { after: { user_id: ada.id } }],
    ['group.remove_user', { before: { user_id: ada.id } }],
    ['group.add_category', { after: { category_id: ada.category } }],
    ['group.remove_category', { before: { category_id: ada.category } }],
    ['group.delete', { before: { max_requests: 9 }, after: { if_match: 'none' } }]
  ])
  expect(rows[1].changes.after).not.toHaveProperty('if_match')
})

test('is for administrators', async () => {
  const person = await app.signUp()
  const refused = { code: 'forbidden' }
  await expect(person.call(listGroups, { id: company })).rejects.toMatchObject(refused)
  await expect(person.call(createGroup, { name: 'Mine' })).rejects.toMatchObject(refused)
  await expect(person.call(listUsers, { id: company })).rejects.toMatchObject(refused)
})

const sorted = [
  'Ægir',
  'Anna',
  'Dang',
  'Đặng Văn',
  'Lucie',
  'Łukasz',
  'Nora',
  'Œuvre',
  'Olive',
  'Øystein',
  'Zoé'
]
const searched = [
  ['Carte de vœux.pdf', 'voeux'],
  ['Main d’œuvre.pdf', 'oeuvre'],
  ['Main d’œuvre, devis', "d'oeuvre"],
  ['Bail Hauptstraße 5.pdf', 'hauptstrasse'],
  ['Bail Hauptstrasse 6.pdf', 'HAUPTSTRAẞE'],
  ['Łódź', 'lodz'],
  ['Øystein Ødegård', 'odegard'],
  ['Ægir Þórsson', 'aegir thorsson'],
  ['ΟΔΟΣ', 'οδός']
] as const

describe('names', () => {
  test('are listed as a reader of the Latin script looks for them', async () => {
    const id = await app.addCompany('Names', 'names.localhost')
    const olga = await app.signUp('names.localhost')
    await makeAdmins(app.owner)
    for (const name of sorted.toReversed()) await olga.call(createGroup, { name })
    const groups = await olga.call(listGroups, { id, sort: 'name' })
    expect(groups.map(({ name }) => name).filter(name => sorted.includes(name))).toEqual(sorted)
    for (const name of sorted.toReversed()) {
      const person = await app.signUp('names.localhost')
      await app.owner.query('update "user" set username = $2 where id = $1', [person.id, name])
    }
    const people = await olga.call(listUsers, { id, sort: 'name' })
    expect(
      people.map(({ username }) => username).filter(name => sorted.includes(name ?? ''))
    ).toEqual(sorted)
  })

  test.each(searched)('%s is found by %s', async (name, q) => {
    const { id } = await ada.call(createGroup, { name })
    const found = await ada.call(listGroups, { id: company, q })
    expect(found.map(group => group.id)).toContain(id)
    await ada.call(deleteGroup, { id })
  })

  test('differ in more than what a search does not see', async () => {
    const { id } = await ada.call(createGroup, { name: 'Straßenbau' })
    await expect(ada.call(createGroup, { name: 'STRASSENBAU' })).rejects.toMatchObject({
      code: 'name_taken'
    })
    await ada.call(deleteGroup, { id })
  })
})

test.each([[1.5], [0.1]])('a limit of %s requests is no whole number', async max_requests => {
  for (const make of [
    () => newGroup({ max_requests }),
    async () => ada.call(updateGroup, { id: (await newGroup()).id, max_requests })
  ]) {
    await expect(make()).rejects.toMatchObject({
      code: 'invalid_input',
      fields: { max_requests: { rule: 'integer' } }
    })
  }
})
