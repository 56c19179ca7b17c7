import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type * as z from 'zod/mini'
import { deleteOwnAccount } from '../../../src/contract/accounts.ts'
import { type AuditLogEntry, listAuditEntries } from '../../../src/contract/audit.ts'
import { listDeposits } from '../../../src/contract/company-deposits.ts'
import {
  addGroupCategory,
  addGroupUser,
  createGroup,
  deleteGroup,
  updateGroup
} from '../../../src/contract/groups.ts'
import { disableUser, enableUser } from '../../../src/contract/members.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import {
  auditHash,
  createChangesCommitment,
  initialPreviousHash
} from '../../../src/core/evidence/audit-entry.ts'
import { type CompanyId, inCompany, toCompanyId } from '../../../src/server/db/scope.ts'
import { addAuditEntry } from '../../../src/server/domain/audit/audit-entries.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { requestOf } from '../../helpers/cases.ts'
import { statementsOf } from '../../helpers/database.ts'
import { routeOf } from '../../helpers/matrix.ts'
import { countRowsRead } from '../../helpers/plans.ts'

// G-05

let app: TestApp
let ada: TestPerson
let acme: CompanyId
/** An operator, who may also read the audit log of the company `bigLog`. */
let grace: TestPerson
let bigLog: CompanyId
beforeAll(async () => {
  app = await makeApp()
  ada = await newAdmin()
  acme = toCompanyId(app.companies[ada.host] ?? '')
  grace = await operator()
  bigLog = await makeBigLog()
})
afterAll(() => app[Symbol.asyncDispose]())

/** Returns the id of the person or item `number` in the audit log of `bigLog`. */
function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

type Filter = Omit<z.input<typeof listAuditEntries.input>, 'id'>

const entries = (filter: Filter): Promise<AuditLogEntry[]> =>
  ada.call(listAuditEntries, { id: acme, ...filter })

test('notes a reading of everybody’s history once in ten minutes for each person', async () => {
  const action = 'company.read_history'
  const [reader, other] = [await newAdmin(), await newAdmin()]
  const read = (by: TestPerson) => [
    by.call(listRequests, { scope: 'company' }),
    by.call(listDeposits, { id: acme })
  ]
  await Promise.all([...read(reader), ...read(reader), ...read(other)])
  const notes = async (actor: string) => (await entries({ actor, action })).length
  expect([await notes(reader.id), await notes(other.id)]).toEqual([1, 1])
  await reader.call(listRequests, {})
  app.wait(9 * 60)
  await reader.call(listRequests, { scope: 'company' })
  expect(await notes(reader.id)).toBe(1)
  app.wait(61)
  await reader.call(listDeposits, { id: acme })
  expect(await notes(reader.id)).toBe(2)
  const [note] = await entries({ actor: reader.id, action })
  expect(note).toMatchObject({ target: { id: acme, kind: 'company', name: 'Acme' }, changes: null })
})

test('notes a reading of the history also while the company’s row is locked', async () => {
  const reader = await newAdmin()
  const holder = await app.owner.connect()
  try {
    await holder.query('begin')
    await holder.query('select from company where id = $1 for no key update', [acme])
    await reader.call(listRequests, { scope: 'company' })
  } finally {
    await holder.query('rollback')
    holder.release()
  }
  const action = 'company.read_history'
  expect(await entries({ actor: reader.id, action })).toHaveLength(1)
})

test('shows who changed what, newest first, with names and the fields before and after', async () => {
  const { id, name } = await ada.call(createGroup, { name: 'Readers', max_requests: 5 })
  await ada.call(updateGroup, { id, max_requests: 9, name: 'Writers' })
  const person = await app.signUp()
  await ada.call(addGroupUser, { groupId: id, user_id: person.id })
  const [added, changed, created] = await entries({ target: id })
  expect(created).toEqual({
    id: expect.any(String),
    seq: expect.any(Number),
    at: expect.any(String),
    actor: { id: ada.id, name: 'Ada Lovelace' },
    action: 'group.create',
    target: { id, kind: 'group', name: 'Writers' },
    changes: [
      { field: 'max_requests', before: null, after: 5 },
      { field: 'name', before: null, after: name }
    ],
    names: [],
    erased: false
  })
  expect(changed?.changes).toEqual([
    { field: 'max_requests', before: 5, after: 9 },
    { field: 'name', before: 'Readers', after: 'Writers' },
    { field: 'if_match', before: null, after: 'none' }
  ])
  expect(added).toMatchObject({
    changes: [{ field: 'user_id', before: null, after: person.id }],
    names: [{ id: person.id, name: 'Ada Lovelace' }]
  })
})

test('names categories in the language that the caller reads, and deleted items as they were', async () => {
  const { id } = await ada.call(createGroup, { name: 'Short' })
  const category = randomUUID()
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     values ($1, $2, '{"en": "Payslips", "fr": "Fiches de paie"}', 'public', now())`,
    [acme, category]
  )
  await ada.call(addGroupCategory, { groupId: id, category_id: category })
  await app.owner.query('delete from group_category where group_id = $1', [id])
  await ada.call(deleteGroup, { id })
  const [deleted, added] = await entries({ target: id, locale: 'fr' })
  expect(added?.names).toEqual([{ id: category, name: 'Fiches de paie' }])
  expect(deleted?.target.name).toBe('Short')
  const [, english] = await entries({ target: id })
  expect(english?.names).toEqual([{ id: category, name: 'Payslips' }])
})

test('filters by person: what they did, and what was done to them', async () => {
  const admin = await newAdmin()
  const mona = await app.signUp()
  const { id } = await admin.call(createGroup, { name: `Group ${randomUUID()}` })
  await admin.call(addGroupUser, { groupId: id, user_id: mona.id })
  await admin.call(disableUser, { id: mona.id, reason: 'left' })
  const actionsOf = async (person: string) =>
    (await entries({ person })).map(({ action }) => action)
  expect((await actionsOf(mona.id)).slice(0, 2)).toEqual(['user.disable', 'group.add_user'])
  expect((await actionsOf(admin.id)).slice(0, 3)).toEqual([
    'user.disable',
    'group.add_user',
    'group.create'
  ])
  expect(await actionsOf(randomUUID())).toEqual([])
})

test('filters by actor, target, action and time', async () => {
  const admin = await newAdmin()
  const { id } = await admin.call(createGroup, { name: `Group ${randomUUID()}` })
  const before = app.deps.clock().toISOString()
  app.wait(60)
  await admin.call(updateGroup, { id, max_storage: 7 })
  await ada.call(updateGroup, { id, max_storage: 8 })
  const actionsOf = async (filter: Filter) =>
    (await entries({ target: id, ...filter })).map(({ action, actor }) => [action, actor.id])
  const [created, changed, last] = [
    ['group.create', admin.id],
    ['group.update', admin.id],
    ['group.update', ada.id]
  ]
  expect(await actionsOf({})).toEqual([last, changed, created])
  expect(await actionsOf({ actor: admin.id })).toEqual([changed, created])
  expect(await actionsOf({ action: 'group.update' })).toEqual([last, changed])
  expect(await actionsOf({ action: 'group.update', actor: ada.id })).toEqual([last])
  const instant = new Date(Date.parse(before) + 1000).toISOString()
  expect(await actionsOf({ from: instant })).toEqual([last, changed])
  expect(await actionsOf({ to: instant })).toEqual([created])
  expect(await actionsOf({ actor: randomUUID() })).toEqual([])
})

test('keeps entries of the same time in order across pages, while entries are added', async () => {
  const target = randomUUID()
  for (let number = 1; number <= 7; number++) await enter({ target, number, at: app.deps.clock() })
  const first = await entries({ target, limit: 3 })
  await enter({ target, number: 8, at: app.deps.clock() })
  const second = await entries({ target, limit: 3, cursor: first[2]?.id })
  const third = await entries({ target, limit: 3, cursor: second[2]?.id })
  const numbers = [...first, ...second, ...third].map(({ changes }) => changes?.[0]?.after)
  expect(numbers).toEqual([7, 6, 5, 4, 3, 2, 1])
})

test('names the operator and their company, and tells that company where they acted', async () => {
  const beta = toCompanyId(app.companies['beta.localhost'] ?? '')
  const grace = await operator('beta.localhost')
  const headers = { authorization: `Bearer ${grace.token}`, company: acme }
  const answer = await app.request(
    `api.${grace.host}`,
    requestOf(routeOf('createGroup'), { name: `Group ${randomUUID()}` }, headers)
  )
  const { id } = JSON.parse(answer.body.toString())
  expect(await entries({ target: id })).toMatchObject([
    { actor: { id: grace.id, name: 'Ada Lovelace', company: 'Beta' }, target: { kind: 'group' } }
  ])
  const [own] = await grace.call(listAuditEntries, { id: beta, target: id })
  expect(own).toMatchObject({
    actor: { id: grace.id, name: 'Ada Lovelace' },
    acted_in: 'Acme',
    target: { id, name: null },
    changes: null,
    erased: false
  })
  expect(own?.actor).not.toHaveProperty('company')
})

test('says that the fields about a deleted person were erased, and names the person no more', async () => {
  const person = await app.signUp()
  await ada.call(disableUser, { id: person.id, reason: 'security' })
  await ada.call(enableUser, { id: person.id })
  await deleteAccount(person)
  const found = await entries({ target: person.id })
  expect(found.map(({ action, erased }) => [action, erased])).toEqual([
    ['user.delete', false],
    ['user.enable', true],
    ['user.disable', true]
  ])
  expect(found.every(({ target, changes }) => target.name === null && changes === null)).toBe(true)
  expect(found[0]?.actor.name).toBeNull()
})

test('exports what is filtered, with what an auditor needs to compute each hash', async () => {
  await enter({ target: randomUUID(), number: 1, name: '=1+1' })
  const csv = await exported({})
  const lines = parse(csv)
  const sorted = lines.toSorted((a, b) => Number(a['seq']) - Number(b['seq']))
  let hash: Uint8Array = initialPreviousHash
  for (const [at, { seq, entry, hash: written, changes, salt }] of sorted.entries()) {
    expect(Number(seq)).toBe(at + 1)
    hash = auditHash(hash, at + 1, entry ?? '')
    expect(Buffer.from(hash).toString('hex')).toBe(written)
    const { company, id, changes: commitment } = JSON.parse(entry ?? '')
    if (!changes) continue
    const of = createChangesCommitment({ company, id }, Buffer.from(salt ?? '', 'hex'), changes)
    expect(of).toBe(commitment)
  }
  const { rows } = await app.owner.query(
    'select count(*)::int as count from audit_entry where company_id = $1',
    [acme]
  )
  expect(lines).toHaveLength(rows[0].count)
  // a name that a spreadsheet would compute
  const { id, name } = await ada.call(createGroup, { name: `=1+${randomUUID()}` })
  const [line] = parse(await exported({ target: id }))
  expect(line).toMatchObject({ target: `'${name}`, actor: 'Ada Lovelace', action: 'group.create' })
})

test.each([
  ['all', {}],
  ['an actor', { actor: idOf(1) }],
  ['an item', { target: idOf(1) }],
  ['an action', { action: 'group.delete' }],
  ['days long ago', { from: '2026-01-02T00:00:00Z', to: '2026-01-04T00:00:00Z' }]
])('a page of %s reads no more of the log than it shows', async (_what, filter) => {
  const headers = { authorization: `Bearer ${grace.token}` }
  const ask = (more: object) => {
    const input = { id: bigLog, limit: 20, ...filter, ...more }
    return app.request(`api.${grace.host}`, requestOf(routeOf('listAuditEntries'), input, headers))
  }
  const first = JSON.parse((await ask({})).body.toString())
  expect(first).toHaveLength(20)
  const statements = await statementsOf(app.deps.db, /from "audit_entry"/, () =>
    ask({ cursor: first[19].id })
  )
  expect(statements.length).toBeGreaterThan(0)
  for (const statement of statements) {
    // the page and one row more; where an action is frequent, also the others between them
    expect(await countRowsRead(app.deps.db, bigLog, statement)).toBeLessThanOrEqual(110)
  }
})

/**
 * Creates a company whose audit log has 20,000 entries over eighteen months. They are changes of
 * 400 items by 20 people. Returns the company's id.
 */
async function makeBigLog(): Promise<CompanyId> {
  const id = await app.addCompany('Gamma', 'gamma.localhost')
  await app.owner.query(
    `insert into audit_entry (company_id, seq, id, created_at, actor_id, actor_company_id, acted_in,
                              action, target_id, hash)
     select $1, n, gen_random_uuid(), timestamptz '2026-01-01' + n * interval '40 minutes',
            ($2 || lpad((n % 20)::text, 12, '0'))::uuid, $1, $1,
            (array['group.update', 'group.delete', 'user.disable'])[1 + n % 3],
            ($2 || lpad((n % 400)::text, 12, '0'))::uuid, sha256(n::text::bytea)
       from generate_series(1, 20000) n`,
    [id, idOf(0).slice(0, 24)]
  )
  await app.owner.query('analyze audit_entry')
  return id
}

async function operator(host?: string): Promise<TestPerson> {
  const person = await app.signUp(host)
  await app.owner.query(`update "user" set permissions = '{admin,operator}' where id = $1`, [
    person.id
  ])
  return person
}

async function newAdmin(): Promise<TestPerson> {
  const person = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  return person
}

interface Entry {
  target: string
  number: number
  name?: string
  at?: Date
}

async function enter({ target, number, name, at }: Entry): Promise<void> {
  const deps = { ...app.deps, ...(at ? { clock: () => at } : {}) }
  await inCompany(app.deps.db, acme, async tx => {
    const by = { id: ada.id, company_id: acme }
    addAuditEntry(tx, deps, { by, action: 'group.create', target, after: { number, name } })
  })
}

async function deleteAccount(person: TestPerson): Promise<void> {
  const { email, host } = person
  const token = await app.signIn(person)
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  const input = { challenge_response: person.keys.respond(challenge) }
  await app.call(host, deleteOwnAccount, input, { token })
}

async function exported(filter: Filter): Promise<string> {
  const headers = { authorization: `Bearer ${ada.token}` }
  const request = requestOf(routeOf('exportAuditEntries'), { id: acme, ...filter }, headers)
  const { status, body } = await app.request(`api.${ada.host}`, request)
  expect(status).toBe(200)
  return body.toString()
}

/** Parses a CSV file whose cells contain no line breaks. */
function parse(csv: string): Record<string, string>[] {
  const [head = '', ...lines] = csv.slice(1).trimEnd().split('\r\n')
  const names = head.split(',')
  return lines.map(line => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)]
    const values = cells.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
    return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
  })
}
