import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deleteOwnAccount } from '../../../src/contract/accounts.ts'
import { updateDomain } from '../../../src/contract/domains.ts'
import {
  deleteMember,
  disableUser,
  enableUser,
  resendInvitation,
  setPermissions
} from '../../../src/contract/members.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import { createUser } from '../../../src/contract/users.ts'
import { type CompanyId, inCompany, type Tx } from '../../../src/server/db/scope.ts'
import {
  checkAuditLog,
  findUnloggedPermissions
} from '../../../src/server/domain/audit/audit-check.ts'
import {
  addAuditEntry,
  eraseAuditValuesOfPeople
} from '../../../src/server/domain/audit/audit-entries.ts'
import { listAuditEntries } from '../../../src/server/domain/audit/audit-list.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { confirmSessions } from '../../helpers/cases.ts'

// G-05

let app: TestApp
let acme: CompanyId
let beta: CompanyId
beforeAll(async () => {
  app = await makeApp()
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  acme = await app.addCompany('Acme', `${randomUUID()}.localhost`)
  beta = await app.addCompany('Beta', `${randomUUID()}.localhost`)
})

test('enters an act with who, when, what, before and after, in the act’s transaction', async () => {
  const by = { id: randomUUID(), company_id: acme }
  const target = randomUUID()
  await inCompany(app.deps.db, acme, async tx => {
    addAuditEntry(tx, app.deps, {
      by,
      action: 'group.update',
      target,
      before: { name: 'Team', max_storage: null, max_requests: 5 },
      after: { name: 'Crew', max_storage: 7, max_requests: 5 }
    })
  })
  const { rows } = await app.owner.query(
    `select e.*, v.changes as value, v.person_id from audit_entry e
       join audit_value v using (company_id, seq) where company_id = $1`,
    [acme]
  )
  expect(rows).toHaveLength(1)
  expect(rows[0]).toMatchObject({
    seq: '1',
    actor_id: by.id,
    actor_company_id: acme,
    acted_in: acme,
    action: 'group.update',
    target_id: target,
    value: '{"after":{"max_storage":7,"name":"Crew"},"before":{"name":"Team"}}',
    person_id: null
  })
  expect(Math.abs(rows[0].created_at.getTime() - app.deps.clock().getTime())).toBeLessThan(60_000)
  expect(await checkAuditLog(app.deps, acme)).toMatchObject({ entries: 1, erased: 0 })
})

test('enters the id of a target as the database stores it', async () => {
  const target = randomUUID()
  await inCompany(app.deps.db, acme, async tx => {
    addAuditEntry(tx, app.deps, { ...act(), target: target.toUpperCase() })
  })
  expect(await checkAuditLog(app.deps, acme)).toMatchObject({ entries: 1, erased: 0 })
})

test('keeps no entry of what was undone, nor of what changed nothing', async () => {
  const undone = inCompany(app.deps.db, acme, async tx => {
    enter(tx)
    throw new Error('changed my mind')
  })
  await expect(undone).rejects.toThrow('changed my mind')
  await inCompany(app.deps.db, acme, async tx => {
    addAuditEntry(tx, app.deps, { ...act(), before: { name: 'Team' }, after: { name: 'Team' } })
  })
  expect(await checkAuditLog(app.deps, acme)).toMatchObject({ entries: 0, erased: 0 })
})

test('undoes an act that cannot be entered', async () => {
  await app.owner.query('alter table audit_entry add constraint broken check (seq < 1) not valid')
  try {
    const acting = inCompany(app.deps.db, acme, async tx => {
      await tx.updateTable('company').set({ name: 'Renamed' }).where('id', '=', acme).execute()
      enter(tx)
    })
    await expect(acting).rejects.toMatchObject({ constraint: 'broken' })
  } finally {
    await app.owner.query('alter table audit_entry drop constraint broken')
  }
  const { rows } = await app.owner.query('select name from company where id = $1', [acme])
  expect(rows).toEqual([{ name: 'Acme' }])
})

test('numbers the entries of parallel acts without a gap', async () => {
  await Promise.all(
    Array.from({ length: 40 }, () => inCompany(app.deps.db, acme, async tx => enter(tx)))
  )
  expect(await checkAuditLog(app.deps, acme)).toMatchObject({ entries: 40, erased: 0 })
})

test('enters the act of an operator in both companies, its fields in that of the act alone', async () => {
  const by = { id: randomUUID(), company_id: beta }
  const target = randomUUID()
  await inCompany(app.deps.db, acme, async tx => {
    addAuditEntry(tx, app.deps, { by, action: 'group.create', target, after: { name: 'Team' } })
    // the transaction still acts in its own company
    expect(await tx.selectFrom('company').select('id').execute()).toEqual([{ id: acme }])
  })
  const { rows } = await app.owner.query(
    `select company_id, actor_id, actor_company_id, acted_in, action, target_id, changes is null as bare
       from audit_entry where target_id = $1 order by changes is null`,
    [target]
  )
  const entered = {
    actor_id: by.id,
    actor_company_id: beta,
    acted_in: acme,
    action: 'group.create',
    target_id: target
  }
  expect(rows).toEqual([
    { ...entered, company_id: acme, bare: false },
    { ...entered, company_id: beta, bare: true }
  ])
  for (const company of [acme, beta]) {
    expect(await checkAuditLog(app.deps, company)).toMatchObject({ entries: 1, erased: 0 })
  }
})

test('lets operators of two companies act in each other’s at once', async () => {
  let runs = 0
  const acting = (company: CompanyId, own: CompanyId) =>
    inCompany(app.deps.db, company, async tx => {
      runs++
      addAuditEntry(tx, app.deps, { ...act(own), after: { name: 'Team' } })
    })
  await Promise.all(
    Array.from({ length: 30 }, (_, at) => (at % 2 === 0 ? acting(acme, beta) : acting(beta, acme)))
  )
  // a deadlock would have started one of them again
  expect(runs).toBe(30)
  for (const company of [acme, beta]) {
    expect(await checkAuditLog(app.deps, company)).toMatchObject({ entries: 30, erased: 0 })
  }
})

test('locks the head behind the rows, wherever in its transaction an act is entered', async () => {
  const category = await categoryOf(acme)
  const change = (tx: Tx) =>
    tx
      .updateTable('category')
      .set({ visibility: 'public' })
      .where('company_id', '=', acme)
      .where('id', '=', category)
      .execute()
  let runs = 0
  const acting = (isFirst: boolean) =>
    inCompany(app.deps.db, acme, async tx => {
      runs++
      if (isFirst) enter(tx)
      await change(tx)
      if (!isFirst) enter(tx)
    })
  await Promise.all(Array.from({ length: 30 }, (_, at) => acting(at % 2 === 0)))
  expect(runs).toBe(30)
  expect(await checkAuditLog(app.deps, acme)).toMatchObject({ entries: 30, erased: 0 })
})

test('refuses an act that is entered behind the head of the log', async () => {
  const acting = inCompany(app.deps.db, acme, async tx => {
    await tx.writeAuditEntries()
    enter(tx)
  })
  await expect(acting).rejects.toThrow('the audit head is locked before the log head')
})

test('erases what it tells of a person, and the chain still holds', async () => {
  const { id } = await app.signUp()
  const company = app.companies['acme.localhost'] ?? acme
  const person = { by: { id, company_id: company }, action: 'user.invite', target: id } as const
  await inCompany(app.deps.db, company, async tx => {
    addAuditEntry(tx, app.deps, { ...person, after: { email: 'ada@example.com' } })
    enter(tx)
  })
  const before = await checkAuditLog(app.deps, company)
  await inCompany(app.deps.db, company, tx => eraseAuditValuesOfPeople(tx, [id]))
  // what somebody deleted who still exists was not erased with them
  expect(await checkAuditLog(app.deps, company)).toMatchObject({
    broken: { reason: 'its changed fields are missing' }
  })
  await app.owner.query('update "user" set deleted_at = now() where id = $1', [id])
  const after = await checkAuditLog(app.deps, company)
  expect(after).toEqual({ ...before, erased: before.erased + 1 })
  const { rows } = await app.owner.query('select 1 from audit_value where changes like $1', [
    '%ada@%'
  ])
  expect(rows).toEqual([])
})

const follows = 'it does not follow from the entries before it'
const differs = 'its changed fields are not those that were written'
const tampering: [string, string, { seq: number; reason: string }][] = [
  [
    'a value',
    `update audit_value set changes = replace(changes, 'Team', 'Crew') where company_id = $1 and seq = 4`,
    { seq: 4, reason: differs }
  ],
  [
    'a salt',
    'update audit_value set salt = sha256(salt) where company_id = $1 and seq = 4',
    { seq: 4, reason: differs }
  ],
  [
    'a hash',
    'update audit_entry set hash = sha256(hash) where company_id = $1 and seq = 4',
    { seq: 4, reason: follows }
  ],
  [
    'who it was',
    'update audit_entry set actor_id = gen_random_uuid() where company_id = $1 and seq = 4',
    { seq: 4, reason: follows }
  ],
  [
    'the time',
    `update audit_entry set created_at = created_at + interval '1 ms' where company_id = $1 and seq = 1`,
    { seq: 1, reason: follows }
  ],
  [
    'a dropped value',
    'delete from audit_value where company_id = $1 and seq = 3',
    { seq: 3, reason: 'its changed fields are missing' }
  ],
  [
    'a dropped entry',
    'delete from audit_entry where company_id = $1 and seq = 3',
    { seq: 3, reason: 'it is missing' }
  ],
  [
    'the first entry dropped',
    'delete from audit_entry where company_id = $1 and seq = 1',
    { seq: 1, reason: 'it is missing' }
  ],
  [
    'a swap of two',
    `update audit_entry a
        set id = b.id, created_at = b.created_at, actor_id = b.actor_id, target_id = b.target_id,
            changes = b.changes, hash = b.hash
       from audit_entry b
      where a.company_id = $1 and b.company_id = $1 and a.seq in (2, 5) and b.seq = 7 - a.seq`,
    { seq: 2, reason: follows }
  ],
  [
    'a cut tail',
    'delete from audit_entry where company_id = $1 and seq >= 5',
    { seq: 5, reason: 'it is missing' }
  ],
  [
    'a head without entries',
    'delete from audit_entry where company_id = $1',
    { seq: 1, reason: 'it is missing' }
  ],
  [
    'an older head',
    `update audit_head h set seq = e.seq, hash = e.hash from audit_entry e
      where h.company_id = $1 and e.company_id = $1 and e.seq = 4`,
    { seq: 5, reason: 'it is newer than the recorded end of the log' }
  ],
  [
    'entries without a head',
    'delete from audit_head where company_id = $1',
    { seq: 1, reason: 'it is newer than the recorded end of the log' }
  ],
  [
    'another hash in the head',
    'update audit_head set hash = sha256(hash) where company_id = $1',
    { seq: 6, reason: 'its hash differs from the recorded hash of the whole log' }
  ]
]

test.each(tampering)('notices %s and names the first broken entry', async (_what, text, broken) => {
  for (let entry = 0; entry < 6; entry++) await inCompany(app.deps.db, acme, async tx => enter(tx))
  expect(await checkAuditLog(app.deps, acme)).toMatchObject({
    entries: 6,
    erased: 0,
    head: { seq: 6 }
  })
  const client = await app.owner.connect()
  try {
    // without foreign keys and in one statement, as whoever owns the database could
    await client.query(`begin; set local session_replication_role = 'replica'`)
    await client.query(text, [acme])
    await client.query('commit')
  } finally {
    client.release(true)
  }
  expect((await checkAuditLog(app.deps, acme)).broken).toEqual(broken)
  expect(await checkAuditLog(app.deps, beta)).toMatchObject({ entries: 0, erased: 0 })
})

test('knows an end of the log that was written down, even after all hashes were computed again', async () => {
  for (let entry = 0; entry < 3; entry++) await inCompany(app.deps.db, acme, async tx => enter(tx))
  const { head } = await checkAuditLog(app.deps, acme)
  if (!head) throw new Error('no entries')
  await inCompany(app.deps.db, acme, async tx => enter(tx))
  expect((await checkAuditLog(app.deps, acme, head)).broken).toBeUndefined()
  const other = { seq: head.seq, hash: '0'.repeat(64) }
  const reason = 'its hash is not the expected one'
  expect((await checkAuditLog(app.deps, acme, other)).broken).toEqual({ seq: head.seq, reason })
  // cut, with the head set back
  const later = { ...head, seq: head.seq + 2 }
  expect((await checkAuditLog(app.deps, acme, later)).broken).toEqual({
    seq: head.seq + 2,
    reason: 'it is missing'
  })
})

test('finds people whose permissions the log has not given', async () => {
  const [ada, mona] = [await app.signUp(), await app.signUp()]
  const company = app.companies[ada.host] ?? acme
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  const unlogged = () => findUnloggedPermissions(app.deps, company)
  expect(await unlogged()).toContainEqual({ person: ada.id, logged: [], now: ['admin'] })
  await confirmSessions(app)
  await ada.call(setPermissions, { id: mona.id, permissions: ['admin'] })
  expect(await unlogged()).not.toContainEqual(expect.objectContaining({ person: mona.id }))
  await app.owner.query(`update "user" set permissions = '{}' where id = $1`, [mona.id])
  expect(await unlogged()).toContainEqual({ person: mona.id, logged: ['admin'], now: [] })
})

test('keeps who got which permission when the person is erased', async () => {
  const [ada, mona] = [await app.signUp(), await app.signUp()]
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  await confirmSessions(app)
  await ada.call(setPermissions, { id: mona.id, permissions: ['admin'] })
  await confirmSessions(app)
  await ada.call(deleteMember, { id: mona.id })
  const company_id = app.companies[ada.host] ?? acme
  const action = 'user.permissions'
  const { items } = await listAuditEntries(app.deps, { company_id, target: mona.id, action })
  expect(items[0]).toMatchObject({
    erased: false,
    changes: expect.arrayContaining([{ field: 'permissions', before: [], after: ['admin'] }])
  })
})

test('has every act of an administrator, with the fields that it changed, and no line of the log', async () => {
  const ada = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  const email = `person-${randomUUID()}@example.com`
  const { id } = await ada.call(createUser, { email, locale: 'fr' }, { idempotencyKey: 'once' })
  await ada.call(createUser, { email, locale: 'fr' }, { idempotencyKey: 'once' })
  await ada.call(resendInvitation, { id })
  await ada.call(disableUser, { id, reason: 'left' })
  await ada.call(enableUser, { id })
  await ada.call(enableUser, { id })
  const { rows: domains } = await app.owner.query(`select id from domain where host = $1`, [
    ada.host
  ])
  const domain = domains[0].id
  await ada.call(updateDomain, { id: domain, title: 'Registre', contact: 'help@acme.example' })
  await ada.call(updateDomain, { id: domain, title: 'Registre' })
  const { rows } = await app.owner.query(
    `select action, target_id, v.changes::jsonb as fields from audit_entry
       left join audit_value v using (company_id, seq)
      where actor_id = $1 order by seq`,
    [ada.id]
  )
  const disabled = { reason: 'left', since: expect.any(String) }
  const username = email.slice(0, email.indexOf('@'))
  expect(rows).toEqual([
    {
      action: 'user.invite',
      target_id: id,
      fields: { before: {}, after: { email, username, locale: 'fr' } }
    },
    // the link of the answer, because there is no mail server
    { action: 'user.invitation_link', target_id: id, fields: null },
    { action: 'user.disable', target_id: id, fields: { before: {}, after: { disabled } } },
    { action: 'user.enable', target_id: id, fields: { before: { disabled }, after: {} } },
    {
      action: 'domain.update',
      target_id: domain,
      fields: {
        before: { title: 'Acme' },
        after: { title: 'Registre', contact: 'help@acme.example', if_match: 'none' }
      }
    },
    // a caller who names no version is noted, even if nothing else changed
    {
      action: 'domain.update',
      target_id: domain,
      fields: { before: {}, after: { if_match: 'none' } }
    }
  ])
  expect(app.logged.filter(({ facts }) => JSON.stringify(facts).includes(id))).toEqual([])
})

test('forgets what it says of a person whose account is deleted, and keeps that it was', async () => {
  const [ada, admin] = [await app.signUp(), await app.signUp()]
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [admin.id])
  await admin.call(disableUser, { id: ada.id, reason: 'security' })
  await admin.call(enableUser, { id: ada.id })
  const token = await app.signIn(ada)
  const { email, host } = ada
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  await app.call(
    host,
    deleteOwnAccount,
    { challenge_response: ada.keys.respond(challenge) },
    { token }
  )
  const { rows } = await app.owner.query(
    `select action, actor_id, v.seq as value from audit_entry e
       left join audit_value v using (company_id, seq) where target_id = $1 order by e.seq`,
    [ada.id]
  )
  expect(rows).toEqual([
    { action: 'user.disable', actor_id: admin.id, value: null },
    { action: 'user.enable', actor_id: admin.id, value: null },
    { action: 'user.delete', actor_id: ada.id, value: null }
  ])
  const company = app.companies[ada.host] ?? acme
  expect(await checkAuditLog(app.deps, company)).toMatchObject({ erased: expect.any(Number) })
  expect((await checkAuditLog(app.deps, company)).broken).toBeUndefined()
})

test.each([
  ['changes', `update audit_entry set action = 'group.delete'`],
  ['deletes', 'delete from audit_entry'],
  ['changes the values of', `update audit_value set changes = '{}'`],
  ['deletes the values of', 'delete from audit_value'],
  ['deletes the heads of', 'delete from audit_head'],
  ['leaves the heads of', 'update audit_head set hash = sha256(hash)'],
  ['counts back over', 'update audit_head set seq = seq - 1'],
  ['counts on without', 'update audit_head set seq = seq + 2'],
  [
    'begins in the middle of',
    `insert into audit_head (company_id, seq, hash)
     values (current_setting('app.company_id')::uuid, 2, sha256('x'))
     on conflict (company_id) do update set seq = excluded.seq`
  ]
])('never %s entries in the role of requests', async (_what, text) => {
  await inCompany(app.deps.db, acme, async tx => enter(tx))
  const acting = inCompany(app.deps.db, acme, tx => tx.raw({ text, values: [] }))
  await expect(acting).rejects.toMatchObject({ code: '42501' })
})

function act(own: CompanyId = acme) {
  const by = { id: randomUUID(), company_id: own }
  return { by, action: 'group.create', target: randomUUID() } as const
}

function enter(tx: Tx): void {
  addAuditEntry(tx, app.deps, { ...act(tx.companyId), after: { name: 'Team' } })
}

async function categoryOf(company: CompanyId): Promise<string> {
  const { rows } = await app.owner.query('select id from category where company_id = $1', [company])
  return rows[0].id
}
