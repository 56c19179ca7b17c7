import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { activateUser, deleteOwnAccount } from '../../../src/contract/accounts.ts'
import { listAuditEntries } from '../../../src/contract/audit.ts'
import {
  addGroupUser,
  createGroup,
  deleteGroup,
  removeGroupUser
} from '../../../src/contract/groups.ts'
import {
  checkImport,
  createImport,
  deleteImport,
  getImport,
  type Import,
  importLimits,
  listImportRows,
  listImports,
  runImport,
  skipImportRows,
  storeImportRows,
  type UserImportRow,
  undoImport
} from '../../../src/contract/imports.ts'
import { disableUser, updateMember } from '../../../src/contract/members.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import { updateOwnAccount } from '../../../src/contract/users.ts'
import { checkAuditLog } from '../../../src/server/domain/audit/audit-check.ts'
import type { CompanyId } from '../../../src/server/domain/deps.ts'
import { deleteExpiredRowsJob, runImportsJob } from '../../../src/server/jobs/jobs.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { newEmail } from '../../helpers/client.ts'
import { makeKeys } from '../../helpers/keys.ts'
import { makeMailToken, makePerson, publicKeyJwtFor } from '../../helpers/mailed.ts'
import { makeAdmins } from '../../helpers/matrix.ts'
import { runCount } from '../../helpers/soak.ts'

interface Row {
  email: string
  username?: string
  groups?: string[]
  locale?: string
}

let app: TestApp
let ada: TestPerson
let company: CompanyId
let everybody: string
beforeAll(async () => {
  app = await makeApp({ runsImports: true, sendsMails: false })
  ada = await app.signUp()
  company = ada.company
  await makeAdmins(app.owner)
  everybody = (await ada.call(createGroup, { name: 'Lecteurs Été' })).id
})
afterAll(() => app[Symbol.asyncDispose]())

interface Options {
  groups?: string[]
  send_invitations?: boolean
  locale?: 'en' | 'fr'
}

async function store(rows: Row[], options: Options = {}): Promise<string> {
  const input = { file_name: 'people.csv', rows: rows.length, bytes: 1000, send_invitations: false }
  const { id } = await ada.call(createImport, { ...input, ...options })
  for (let at = 0; at < rows.length; at += importLimits.rowsPerCall) {
    const some = rows.slice(at, at + importLimits.rowsPerCall)
    await ada.call(storeImportRows, { id, from: at + 1, rows: some })
  }
  return id
}

/** Waits until no job works on an import. */
async function settled(id: string): Promise<Import> {
  for (let tries = 0; tries < 3000; tries++) {
    const found = await ada.call(getImport, { id })
    if (!['checking', 'running', 'undoing'].includes(found.state)) return found
    await sleep(20)
  }
  throw new Error(`import ${id} is still worked on`)
}

async function check(rows: Row[], options?: Options): Promise<Import> {
  const id = await store(rows, options)
  await ada.call(checkImport, { id })
  return settled(id)
}

async function run(id: string, skip_refused = false): Promise<Import> {
  await ada.call(runImport, { id, skip_refused })
  return settled(id)
}

async function undo(id: string): Promise<Import> {
  await ada.call(undoImport, { id })
  return settled(id)
}

async function peopleOf(emails: string[]) {
  const { rows } = await app.owner.query(
    `select id, email, username, locale, permissions,
            array(select g.name from group_user m join "group" g on g.company_id = m.company_id
                   and g.id = m.group_id where m.user_id = u.id order by 1) as groups
       from "user" u where company_id = $1 and email = any ($2) order by email`,
    [company, emails]
  )
  return rows
}

async function verdictsOf(id: string) {
  const { rows } = await ada.call(listImportRows, { id, limit: 1000 })
  return rows.map(({ verdict, reasons }) => [verdict, ...reasons.map(reasonText)])
}

const reasonText = (reason: UserImportRow['reasons'][number]) =>
  [`${reason.column} ${reason.code}`, reason.value, reason.row].filter(Boolean).join(' ')

async function countPeople(): Promise<number> {
  const { rows } = await app.owner.query('select count(*)::int from "user" where company_id = $1', [
    company
  ])
  return rows[0].count
}

async function activate(person: { id: string; email: string }): Promise<void> {
  const token = await makeMailToken(app, 'activate', person)
  const public_key_jwt = await publicKeyJwtFor(app, 'activate', {
    ...person,
    keys: makeKeys(),
    token
  })
  await app.call(ada.host, activateUser, { token, username: 'Chosen', public_key_jwt })
}

test('creates, changes and leaves people as the check has said, and counts them', async () => {
  const [created, changed, same] = [newEmail(), newEmail(), newEmail()]
  await run((await check([{ email: changed, username: 'Old' }, { email: same }])).id)
  const before = await countPeople()
  const checked = await check([
    {
      email: ` ${created.toUpperCase()} `,
      username: 'Zoë',
      groups: ['lecteurs ete'],
      locale: 'FR'
    },
    { email: changed, username: 'New', groups: ['LECTEURS ÉTÉ'] },
    { email: same, username: '', groups: [], locale: '' }
  ])
  expect(checked).toMatchObject({
    state: 'checked',
    counts: { new: 1, changed: 1, unchanged: 1, refused: 0, skipped: 0 },
    result: null
  })
  expect(await countPeople()).toBe(before)
  const done = await run(checked.id)
  expect(done).toMatchObject({
    state: 'done',
    result: { created: 1, changed: 1, unchanged: 1, skipped: 0, differs: false }
  })
  expect(await countPeople()).toBe(before + 1)
  const people = await peopleOf([created, changed])
  expect(people.find(({ email }) => email === created)).toMatchObject({
    username: 'Zoë',
    locale: 'fr',
    permissions: [],
    groups: ['Lecteurs Été']
  })
  const [{ groups }] = await peopleOf([same])
  expect(groups).toHaveLength(1)
  expect(groups).not.toContain('Lecteurs Été')
  expect(people.find(({ email }) => email === changed)).toMatchObject({ username: 'New' })
  // the same file again changes nothing
  const again = await check([
    { email: created, username: 'Zoë', groups: ['lecteurs ete'], locale: 'fr' },
    { email: changed, username: 'New', groups: ['Lecteurs Été'] }
  ])
  expect(again.counts).toEqual({ new: 0, changed: 0, unchanged: 2, refused: 0, skipped: 0 })
})

test('judges messy cells, and none of them makes a call fail', async () => {
  const twice = newEmail()
  const big = 'x'.repeat(1_000_000)
  const rows: Row[] = [
    { email: twice, username: '=HYPERLINK("http://evil.test")' },
    { email: `\t${twice.toUpperCase()}  ` },
    { email: '' },
    { email: 'no address' },
    { email: `${'a'.repeat(300)}@example.com` },
    { email: newEmail(), username: 'a\u0007b' },
    { email: newEmail(), username: 'x'.repeat(81) },
    { email: newEmail(), groups: ['Nobody\u0000', 'Lecteurs Été'], locale: 'de' },
    { email: newEmail(), username: '\ud800', groups: ['\udfff'] },
    { email: '\u0000@example.com' },
    { email: ada.email, username: 'Owned' },
    { email: newEmail(), groups: Array.from({ length: 60 }, (_, n) => `Group ${n}`) },
    { email: newEmail(), username: 'exe.\u202etxt' }
  ]
  const { id, counts } = await check(rows)
  expect(counts).toEqual({ new: 1, changed: 0, unchanged: 0, refused: 12, skipped: 0 })
  expect(await verdictsOf(id)).toEqual([
    ['new'],
    ['refused', 'email duplicate 1'],
    ['refused', 'email required'],
    ['refused', 'email format'],
    ['refused', 'email too_long'],
    ['refused', 'username format'],
    ['refused', 'username too_long'],
    ['refused', 'locale unknown de', 'groups unknown Nobody\ufffd'],
    ['refused', 'username format', 'groups unknown \ufffd'],
    ['refused', 'email format'],
    ['refused', 'email administrator'],
    ['refused', 'groups too_many'],
    ['refused', 'username format']
  ])
  const huge = await check([{ email: newEmail(), username: big }, { email: big }])
  expect(await verdictsOf(huge.id)).toEqual([
    ['refused', 'username too_long'],
    ['refused', 'email too_long']
  ])
  await expect(ada.call(runImport, { id, skip_refused: false })).rejects.toMatchObject({
    code: 'import_refused_rows'
  })
  const done = await run(id, true)
  expect(done.result).toEqual({ created: 1, changed: 0, unchanged: 0, skipped: 12, differs: false })
  // a formula is a name like any other
  expect(await peopleOf([twice])).toMatchObject([{ username: '=HYPERLINK("http://evil.test")' }])
  expect(await peopleOf([ada.email])).toMatchObject([
    { username: 'Ada Lovelace', permissions: ['admin'] }
  ])
})

test('reads links and mailboxes, and drops invisible marks around all cells', async () => {
  const emails = Array.from({ length: 5 }, newEmail)
  const [a, b, c, d, e] = emails
  const done = await run(
    (
      await check([
        { email: `\u200b${a}`, username: '\u200bZero Width\u200e' },
        { email: `${b}\u200e`, groups: ['\u2060Lecteurs Été\u200b'] },
        { email: `\u202a${c}\u202c`, locale: '\ufefffr\u00a0' },
        { email: `mailto:${d}` },
        { email: `"Mai, Lbox" <${e}>` }
      ])
    ).id
  )
  expect(done.result).toMatchObject({ created: 5, skipped: 0 })
  const found = new Map((await peopleOf(emails)).map(person => [person.email, person]))
  expect(found.size).toBe(5)
  expect(found.get(a)).toMatchObject({ username: 'Zero Width' })
  expect(found.get(b)).toMatchObject({ groups: ['Lecteurs Été'] })
  expect(found.get(c)).toMatchObject({ locale: 'fr' })
})

test('understands a language by its name in either language, and by a longer tag', async () => {
  const cells = ['fr-FR', 'en_us', 'Français', 'FRENCH', 'anglais', 'English', 'deutsch', 'fr fr']
  const { id } = await check(cells.map(locale => ({ email: newEmail(), locale })))
  const { rows } = await ada.call(listImportRows, { id })
  expect(rows.map(({ verdict }) => verdict)).toEqual([
    ...Array.from({ length: 6 }, () => 'new'),
    'refused',
    'refused'
  ])
  await run(id, true)
  const { rows: people } = await app.owner.query(
    `select "user".locale from "user" join import_row on user_id = "user".id
      where import_id = $1 order by number`,
    [id]
  )
  expect(people.map(({ locale }) => locale)).toEqual(['fr', 'en', 'fr', 'fr', 'en', 'en'])
})

test('is among the changes of each person whom it has created or changed', async () => {
  const [known, email] = [await makePerson(app), newEmail()]
  const { id } = await check([{ email }, { email: known.email, username: 'Other' }])
  await run(id)
  const { rows } = await app.owner.query('select id from "user" where email = $1', [email])
  const actionsOf = async (target: string) => {
    const entries = await ada.call(listAuditEntries, { id: company, target })
    return entries.map(({ action, target: { id: about } }) => [action, about])
  }
  expect(await actionsOf(rows[0].id)).toEqual([['import.run', id]])
  expect(await actionsOf(known.id)).toEqual([['import.run', id]])
  // of a person whom it has created also when its rows are erased
  await ada.call(updateMember, { id: rows[0].id, username: 'Later' })
  await ada.call(deleteImport, { id })
  expect(await actionsOf(rows[0].id)).toEqual([
    ['user.update', rows[0].id],
    ['import.run', id]
  ])
})

test('refuses people who are disabled or deleted', async () => {
  const invited = await makePerson(app, true)
  await ada.call(disableUser, { id: invited.id, reason: 'left' })
  const deleted = `${randomUUID()}@deleted.invalid`
  await app.owner.query(
    `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at, deleted_at)
     values ($1, gen_random_uuid(), $2, '–', now(), now(), now())`,
    [company, deleted]
  )
  const { id } = await check([{ email: invited.email }, { email: deleted }])
  expect(await verdictsOf(id)).toEqual([
    ['refused', 'email disabled'],
    ['refused', 'email deleted']
  ])
})

test('mends rows after the check, and judges their twins again', async () => {
  const email = newEmail()
  const { id } = await check([{ email }, { email, groups: ['Nobody'] }, { email: 'wrong' }])
  const mended = await ada.call(storeImportRows, { id, from: 2, rows: [{ email: newEmail() }] })
  expect(mended).toMatchObject({ state: 'checked', stored: 3, counts: { new: 2, refused: 1 } })
  await ada.call(storeImportRows, { id, from: 1, rows: [{ email: newEmail() }] })
  const last = await ada.call(storeImportRows, { id, from: 3, rows: [{ email }] })
  expect(last.counts).toEqual({ new: 3, changed: 0, unchanged: 0, refused: 0, skipped: 0 })
  // the first of a pair takes the address, the second loses it again
  const pair = await ada.call(storeImportRows, { id, from: 1, rows: [{ email }] })
  expect(pair.counts).toMatchObject({ new: 2, refused: 1 })
  expect(await verdictsOf(id)).toEqual([['new'], ['new'], ['refused', 'email duplicate 1']])
})

test('checks and skips rows of a file that has one e-mail in each row', async () => {
  const email = newEmail()
  const count = 20_000
  const { id, state, counts } = await check(Array.from({ length: count }, () => ({ email })))
  expect({ state, counts }).toMatchObject({
    state: 'checked',
    counts: { new: 1, refused: count - 1 }
  })
  const skip = (rows: number[], isSkipped = true) =>
    ada.call(skipImportRows, { id, rows, skip: isSkipped })
  const last = async () =>
    (await ada.call(listImportRows, { id, after: count - 1 })).rows.flatMap(row => row.reasons)
  expect((await skip([1])).counts).toMatchObject({ new: 1, refused: count - 2, skipped: 1 })
  expect(await last()).toMatchObject([{ code: 'duplicate', row: 2 }])
  expect((await skip([3])).counts).toMatchObject({ new: 1, refused: count - 3, skipped: 2 })
  expect((await skip([1], false)).counts).toMatchObject({ new: 1, refused: count - 2, skipped: 1 })
  expect(await last()).toMatchObject([{ code: 'duplicate', row: 1 }])
}, 60_000)

test('skips single rows and takes them back, and a twin takes the place of a skipped row', async () => {
  const [email, group] = [newEmail(), `Later ${randomUUID()}`]
  const { id } = await check([{ email, groups: [group] }, { email }, { email: 'wrong' }])
  const skip = (rows: number[], isSkipped = true) =>
    ada.call(skipImportRows, { id, rows, skip: isSkipped })
  expect(await verdictsOf(id)).toEqual([
    ['refused', `groups unknown ${group}`],
    ['refused', 'email duplicate 1'],
    ['refused', 'email format']
  ])
  expect(await skip([1, 3])).toMatchObject({
    state: 'checked',
    counts: { new: 1, refused: 0, skipped: 2 }
  })
  expect((await skip([1], false)).counts).toMatchObject({ new: 0, refused: 2, skipped: 1 })
  await expect(skip([2, 4])).rejects.toMatchObject({ code: 'not_found' })
  await skip([1])
  // a skipped row stays skipped when the groups exist by now, and is taken back by mending it
  await ada.call(createGroup, { name: group })
  await ada.call(checkImport, { id })
  expect((await settled(id)).counts).toMatchObject({ new: 1, refused: 0, skipped: 2 })
  const mended = await ada.call(storeImportRows, { id, from: 3, rows: [{ email: 'bad' }] })
  expect(mended.counts).toMatchObject({ new: 1, refused: 1, skipped: 1 })
  await skip([3])
  expect(await run(id)).toMatchObject({
    state: 'done',
    result: { created: 1, skipped: 2, differs: false }
  })
  const { rows } = await ada.call(listImportRows, { id, verdict: 'skipped' })
  expect(rows.map(({ row }) => row)).toEqual([1, 3])
  expect((await peopleOf([email])).map(({ groups }) => groups)).toEqual([['Everyone']])
})

test('takes chunks in any order and twice, and asks for those that are missing', async () => {
  const emails = [newEmail(), newEmail(), newEmail()]
  const input = { file_name: 'a.csv', rows: 3, bytes: 1, send_invitations: false }
  const { id } = await ada.call(createImport, input)
  const put = (from: number, ...rows: Row[]) => ada.call(storeImportRows, { id, from, rows })
  await put(3, { email: emails[2] ?? '' })
  await put(1, { email: 'first' })
  await expect(ada.call(checkImport, { id })).rejects.toMatchObject({ code: 'import_incomplete' })
  await put(1, { email: emails[0] ?? '' }, { email: emails[1] ?? '' })
  expect(await put(3, { email: emails[2] ?? '' })).toMatchObject({ stored: 3, state: 'open' })
  await expect(put(3, { email: 'a' }, { email: 'b' })).rejects.toMatchObject({
    code: 'invalid_input'
  })
  await ada.call(checkImport, { id })
  expect((await settled(id)).counts).toMatchObject({ new: 3 })
  const { rows: some, next } = await ada.call(listImportRows, { id, limit: 2 })
  expect([some.map(({ row }) => row), next]).toEqual([[1, 2], 2])
  const rest = await ada.call(listImportRows, { id, after: 2, limit: 2, verdict: 'new' })
  expect([rest.rows.map(({ row }) => row), rest.next]).toEqual([[3], null])
})

test('runs once although it is asked twice, and two imports of the same people one by one', async () => {
  const emails = Array.from({ length: 50 }, newEmail)
  const rows = emails.map(email => ({ email }))
  const [first, second] = [await check(rows), await check([...rows].reverse())]
  const asked = await Promise.allSettled(
    [first, first, second].map(({ id }) => ada.call(runImport, { id, skip_refused: false }))
  )
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  const ends = [await settled(first.id), await settled(second.id)]
  expect(ends.map(({ state }) => state).sort()).toEqual(['done', 'failed'])
  expect(ends.find(({ state }) => state === 'failed')).toMatchObject({
    failure: 'changed_meanwhile',
    result: null
  })
  expect(await peopleOf(emails)).toHaveLength(50)
})

test('changes nothing when somebody of the file was added after the check', async () => {
  const [taken, free] = [await makePersonLater(), newEmail()]
  const checked = await check([{ email: free }, { email: taken.email }])
  await taken.make()
  expect(await run(checked.id)).toMatchObject({ state: 'failed', failure: 'changed_meanwhile' })
  expect(await peopleOf([free])).toEqual([])
  await ada.call(checkImport, { id: checked.id })
  expect((await settled(checked.id)).counts).toMatchObject({ new: 1, unchanged: 1 })
  expect(await run(checked.id)).toMatchObject({ state: 'done', result: { created: 1 } })
})

test('changes nothing when the company has reached its number of people after the check', async () => {
  const before = app.deps.settings.bounds
  const email = newEmail()
  const { id } = await check([{ email }])
  const { rows } = await app.owner.query(
    'select count(*)::int from "user" where company_id = $1 and deleted_at is null',
    [company]
  )
  app.deps.settings.bounds = { ...before, people: rows[0].count + 1 }
  const late = await makePersonLater()
  // the run has been requested, but has not ended
  await app.owner.query(
    `create function take_place() returns trigger language plpgsql as $$ begin
       insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
       values (new.company_id, gen_random_uuid(), '${late.email}', 'Late', now(), now());
       return new; end $$;
     create trigger take_place after update of state on import for each row
       when (new.state = 'running' and old.state <> 'running') execute function take_place()`
  )
  const failed = await run(id)
  await app.owner.query('drop function take_place cascade')
  expect(failed).toMatchObject({ state: 'failed', failure: 'too_many_people' })
  expect(await peopleOf([email])).toEqual([])
  await ada.call(checkImport, { id })
  await settled(id)
  await expect(ada.call(runImport, { id, skip_refused: false })).rejects.toMatchObject({
    code: 'too_many_people'
  })
  app.deps.settings.bounds = before
})

test('changes people of a company that has more of them than a lowered setting allows', async () => {
  const before = app.deps.settings.bounds
  const person = await makePersonLater()
  await person.make()
  const { id } = await check([{ email: person.email, username: 'Renamed' }])
  app.deps.settings.bounds = { ...before, people: 1 }
  const { state, result } = await run(id)
  app.deps.settings.bounds = before
  expect({ state, result }).toMatchObject({ state: 'done', result: { created: 0, changed: 1 } })
})

test('skips who was added after the check where refused rows are skipped, and says so', async () => {
  const [taken, free] = [await makePersonLater(), newEmail()]
  const checked = await check([{ email: free }, { email: taken.email }])
  await taken.make()
  expect((await run(checked.id, true)).result).toEqual({
    created: 1,
    changed: 0,
    unchanged: 0,
    skipped: 1,
    differs: true
  })
  expect(await verdictsOf(checked.id)).toEqual([['new'], ['refused', 'email changed_meanwhile']])
})

/**
 * Returns an e-mail without an account, and a function `make` that adds the account to the
 * database.
 */
async function makePersonLater() {
  const email = newEmail()
  const make = () =>
    app.owner.query(
      `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
       values ($1, gen_random_uuid(), $2, 'Late', now(), now())`,
      [company, email]
    )
  return { email, make }
}

test('changes nothing when a group was deleted after the check', async () => {
  const group = await ada.call(createGroup, { name: `Short-lived ${randomUUID()}` })
  const email = newEmail()
  const checked = await check([{ email, groups: [group.name] }])
  await ada.call(deleteGroup, { id: group.id })
  expect(await run(checked.id)).toMatchObject({ state: 'failed', failure: 'changed_meanwhile' })
  expect(await peopleOf([email])).toEqual([])
})

test('never makes an administrator of a person and changes none', async () => {
  const promoted = await makePerson(app, true)
  const checked = await check([{ email: promoted.email, username: 'Renamed' }])
  expect(checked.counts).toMatchObject({ changed: 1 })
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [promoted.id])
  expect(await run(checked.id)).toMatchObject({ state: 'failed' })
  expect(await peopleOf([promoted.email])).toMatchObject([{ username: 'Ada' }])
})

test('undoes as one what nobody has touched, and says why it keeps the rest', async () => {
  const emails = Array.from({ length: 4 }, newEmail).sort()
  const [gone = '', active = '', admin = '', deleted = ''] = emails
  const [restored, touched] = [await makePerson(app, true), await makePerson(app, true)]
  const checked = await check(
    [
      ...emails.map(email => ({ email })),
      { email: restored.email, username: 'Imported', locale: 'fr' },
      { email: touched.email, username: 'Imported', locale: 'fr' }
    ],
    { groups: [everybody], send_invitations: true }
  )
  await run(checked.id)
  const people = await peopleOf(emails)
  const idOf = (email: string) => people.find(person => person.email === email).id
  await activate({ id: idOf(active), email: active })
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [idOf(admin)])
  await app.owner.query(`update "user" set deleted_at = now() where id = $1`, [idOf(deleted)])
  await app.owner.query(`update "user" set username = 'Later' where id = $1`, [touched.id])
  expect(await undo(checked.id)).toMatchObject({
    state: 'undone',
    undone: { removed: 1, restored: 1, kept: 4 }
  })
  expect(await peopleOf([gone])).toEqual([])
  expect(await peopleOf([restored.email])).toMatchObject([{ username: 'Ada', locale: 'und' }])
  expect((await peopleOf([restored.email]))[0].groups).not.toContain('Lecteurs Été')
  expect(await peopleOf([touched.email])).toMatchObject([{ username: 'Later', locale: 'und' }])
  const { rows } = await ada.call(listImportRows, { id: checked.id, kept: 'true' })
  expect(rows.map(({ cells, kept }) => [cells.email, kept])).toEqual([
    [active, 'activated'],
    [admin, 'administrator'],
    [deleted, 'deleted'],
    [touched.email, 'changed']
  ])
  const { rows: mails } = await app.owner.query('select email from mail where email = any ($1)', [
    emails
  ])
  expect(mails.map(({ email }) => email)).not.toContain(gone)
  await expect(ada.call(undoImport, { id: checked.id })).rejects.toMatchObject({
    code: 'import_state'
  })
})

test('keeps a membership that somebody has given again, and says so', async () => {
  const [again, stressed, plain] = [
    await makePerson(app, true),
    await makePerson(app, true),
    await makePerson(app, true)
  ]
  const rows = [again, stressed, plain].map(({ email }) => ({ email }))
  const { id } = await check(rows, { groups: [everybody] })
  await run(id)
  await ada.call(removeGroupUser, { groupId: everybody, userId: again.id })
  await ada.call(addGroupUser, { groupId: everybody, user_id: again.id })
  await ada.call(addGroupUser, { groupId: everybody, user_id: stressed.id })
  expect(await undo(id)).toMatchObject({ undone: { removed: 0, restored: 1, kept: 2 } })
  const groupsOf = async (email: string) => (await peopleOf([email]))[0].groups
  expect(await groupsOf(again.email)).toContain('Lecteurs Été')
  expect(await groupsOf(stressed.email)).toContain('Lecteurs Été')
  expect(await groupsOf(plain.email)).not.toContain('Lecteurs Été')
  const kept = (await ada.call(listImportRows, { id, kept: 'true' })).rows
  expect(kept.map(row => row.kept)).toEqual(['changed', 'changed'])
})

test('keeps little of rows that are checked again and again', async () => {
  const groups = Array.from({ length: 50 }, (_, at) => `é${at}`)
  const names = groups.map(name => name.padEnd(30, 'x'))
  const rows = Array.from({ length: 100 }, () => ({ email: newEmail(), groups: names }))
  const sent = Buffer.byteLength(JSON.stringify(rows))
  const { id, counts } = await check([...rows, { email: newEmail() }])
  expect(counts).toMatchObject({ refused: 100, new: 1 })
  const versions = async () => {
    const { rows } = await app.owner.query(
      `select count(distinct xmin::text)::int as writers, max(xmin::text) as last,
              sum(pg_column_size(reasons))::int as reasons, sum(pg_column_size(import_row))::int as bytes
         from import_row where import_id = $1`,
      [id]
    )
    return rows[0]
  }
  const first = await versions()
  expect(first.reasons).toBeLessThan(100 * 1_000)
  expect(first.bytes).toBeLessThan(sent)
  const { rows: size } = await app.owner.query('select kept_bytes::int from import where id = $1', [
    id
  ])
  expect(size[0].kept_bytes).toBeGreaterThan(first.bytes)
  for (let times = 0; times < 3; times++) {
    await ada.call(checkImport, { id })
    expect((await settled(id)).counts).toEqual(counts)
  }
  expect(await versions()).toEqual(first)
})

test('keeps no more bytes of all imports than a company may have, however many calls race', async () => {
  const { settings } = app.deps
  const usual = settings.bounds
  const keptBytes = async () => {
    const { rows } = await app.owner.query(
      'select coalesce(sum(kept_bytes), 0)::int as bytes from import where company_id = $1',
      [company]
    )
    return rows[0].bytes
  }
  const rows = (name: string) => [{ email: newEmail(), username: name }]
  const input = { file_name: 'people.csv', rows: 8, bytes: 1000, send_invitations: false }
  const { id } = await ada.call(createImport, input)
  const before = await keptBytes()
  await ada.call(storeImportRows, { id, from: 1, rows: rows('Iris') })
  const one = (await keptBytes()) - before
  const limit = before + 3 * one + one / 2
  settings.bounds = { ...usual, importBytes: limit }
  try {
    const racing = Array.from({ length: 6 }, (_, at) =>
      ada.call(storeImportRows, { id, from: at + 2, rows: rows('Iris') })
    )
    const refused = (await Promise.allSettled(racing)).flatMap(answer =>
      answer.status === 'rejected' ? answer.reason : []
    )
    expect(refused).toHaveLength(4)
    for (const error of refused) {
      expect(error).toMatchObject({
        status: 409,
        code: 'too_many_import_bytes',
        figures: { used: before + 3 * one, limit }
      })
    }
    // the same rows again, and shorter ones, take up no more
    await ada.call(storeImportRows, { id, from: 1, rows: rows('I') })
    await ada.call(deleteImport, { id })
    expect(await keptBytes()).toBe(before)
  } finally {
    settings.bounds = usual
  }
})

test('refuses a row by which a person would be in too many groups', async () => {
  const person = await makePerson(app, true)
  const { rows: groups } = await app.owner.query(
    `insert into "group" (company_id, id, name, is_default, features, created_at)
     select $1, gen_random_uuid(), 'Choir ' || n, false, '{}', now() from generate_series(1, 100) n
     returning id`,
    [company]
  )
  await app.owner.query(
    `insert into group_user (company_id, group_id, user_id)
     select $1, unnest($2::uuid[]), $3`,
    [company, groups.slice(0, 99).map(({ id }) => id), person.id]
  )
  const row = { email: person.email, groups: ['Choir 100', 'Lecteurs Été'] }
  expect(await verdictsOf((await check([row])).id)).toEqual([['refused', 'groups too_many']])
  await app.owner.query('delete from group_user where user_id = $1', [person.id])
})

test('invites within the limits of a day, or nobody', async () => {
  const [quiet, loud] = [newEmail(), newEmail()]
  await run((await check([{ email: quiet }])).id)
  await app.owner.query('delete from invitation')
  await app.owner.query(
    `insert into invitation (company_id, id, recipient, due_at)
     select $1, gen_random_uuid(), '\\x00', now() - interval '1 hour' from generate_series(1, 4999)`,
    [company]
  )
  const late = newEmail()
  await run((await check([{ email: loud }, { email: late }], { send_invitations: true })).id)
  const { rows } = await app.owner.query(
    `select email, kind, next_at > now() + interval '22 hours' as later from mail
      where email = any ($1)`,
    [[quiet, loud, late]]
  )
  expect(rows).toEqual([
    { email: loud, kind: 'activate', later: false },
    { email: late, kind: 'activate', later: true }
  ])
})

test('writes one entry for a run and one for its undo to the audit log', async () => {
  const { id } = await check([{ email: newEmail() }, { email: newEmail() }])
  await run(id)
  await undo(id)
  const { rows } = await app.owner.query(
    `select action, actor_id, value.changes::jsonb->'after' as after from audit_entry
       left join audit_value value using (company_id, seq)
      where target_id = $1 order by seq`,
    [id]
  )
  expect(rows).toMatchObject([
    { action: 'import.run', actor_id: ada.id, after: { new: 2, name: 'people.csv' } },
    { action: 'import.undo', actor_id: ada.id, after: { removed: 2 } }
  ])
  expect(rows[0].after.digest).toMatch(/^[0-9a-f]{64}$/)
  expect(await checkAuditLog(app.deps, company)).not.toHaveProperty('broken')
})

test('an undo leaves no name of the people whom it removes in the audit log', async () => {
  const email = newEmail()
  const { id } = await check([{ email }])
  await run(id)
  const [person] = await peopleOf([email])
  await ada.call(updateMember, { id: person.id, username: 'Soon Gone' })
  const named = async () => {
    const told = `select from audit_value where changes like '%Soon Gone%'`
    return (await app.owner.query(told)).rows.length
  }
  expect(await named()).toBe(1)
  await undo(id)
  expect(await named()).toBe(0)
  expect(await checkAuditLog(app.deps, company)).not.toHaveProperty('broken')
})

test('begins again after a crash in the middle, and does nothing twice', async () => {
  const emails = Array.from({ length: 20 }, newEmail)
  const { id } = await check(emails.map(email => ({ email })))
  const broken = await breakWrites('insert on group_user', '57P03')
  await ada.call(runImport, { id, skip_refused: false })
  for (let tries = 0; tries < 500 && (await attemptsOf(id)) === 0; tries++) await sleep(20)
  await sleep(200)
  expect(await ada.call(getImport, { id })).toMatchObject({ state: 'running', result: null })
  expect(await peopleOf(emails)).toEqual([])
  await expect.poll(() => logLevelsOf(id)).toEqual(new Set(['warn']))
  await broken.mend()
  // the lease that a dead process leaves ends by itself
  await app.owner.query('update import set leased_until = now() where id = $1', [id])
  await runImportsJob(app.deps).run(() => false, true)
  expect(await settled(id)).toMatchObject({
    state: 'done',
    result: { created: 20, differs: false }
  })
  // a process that dies between the commit and the count leaves it to the next
  await app.owner.query(`update import set state = 'running', result = null where id = $1`, [id])
  await runImportsJob(app.deps).run(() => false, true)
  expect(await settled(id)).toMatchObject({
    state: 'done',
    result: { created: 20, differs: false }
  })
  expect(await peopleOf(emails)).toHaveLength(20)
})

async function attemptsOf(id: string): Promise<number> {
  const { rows } = await app.owner.query('select attempts from import where id = $1', [id])
  return rows[0].attempts
}

test('gives up after five failures, with nothing changed', async () => {
  const email = newEmail()
  const { id } = await check([{ email }])
  const broken = await breakWrites('insert on group_user')
  await ada.call(runImport, { id, skip_refused: false })
  for (let tries = 0; tries < 100 && (await stateOf(id)) === 'running'; tries++) {
    // the pause after a failure; an attempt that runs keeps its import by its number
    await app.owner.query('update import set leased_until = null where id = $1', [id])
    await runImportsJob(app.deps).run(() => false, true)
    await sleep(50)
  }
  await broken.mend()
  expect(await settled(id)).toMatchObject({ state: 'failed', failure: 'interrupted' })
  expect(await peopleOf([email])).toEqual([])
  expect(logLevelsOf(id)).toEqual(new Set(['error']))
})

test('says what it imported, and can undo it, although counting failed', async () => {
  const email = newEmail()
  const { id } = await check([{ email }])
  const broken = await breakWrites('update of result on import')
  await ada.call(runImport, { id, skip_refused: false })
  for (let tries = 0; tries < 100 && (await stateOf(id)) === 'running'; tries++) {
    await app.owner.query('update import set leased_until = null where id = $1', [id])
    await runImportsJob(app.deps).run(() => false, true)
    await sleep(50)
  }
  await broken.mend()
  expect(await settled(id)).toMatchObject({ state: 'done', failure: null, result: null })
  expect(await peopleOf([email])).toHaveLength(1)
  expect(await undo(id)).toMatchObject({ undone: { removed: 1 } })
})

/** Returns the log levels with which the service has logged errors of the import `id`. */
function logLevelsOf(id: string): Set<string> {
  const about = app.logged.filter(({ facts }) => Object(facts).import === id && 'err' in facts)
  return new Set(about.map(({ level }) => level))
}

async function stateOf(id: string): Promise<string> {
  return (await ada.call(getImport, { id })).state
}

/** Makes a kind of write, such as `insert on group_user`, fail until `mend` is called. */
async function breakWrites(write: string, code = '58000') {
  await app.owner.query(
    `create function crash() returns trigger language plpgsql as
       $$ begin raise exception 'crash' using errcode = '${code}'; end $$;
     create trigger crash after ${write} for each row execute function crash()`
  )
  const mend = () => app.owner.query('drop function crash cascade')
  return { mend }
}

test('erases the rows of a person with their account, and all rows after 30 days', async () => {
  const person = await app.signUp()
  const { id } = await check([{ email: person.email, username: 'Grace' }, { email: newEmail() }])
  const { challenge } = await app.call(ada.host, getChallenge, {
    email: person.email,
    purpose: 'rekey'
  })
  await person.call(deleteOwnAccount, { challenge_response: person.keys.respond(challenge) })
  const { rows } = await ada.call(listImportRows, { id })
  expect(rows.map(({ row }) => row)).toEqual([2])
  await app.owner.query('update import set expires_at = now() where id = $1', [id])
  await deleteExpiredRowsJob(app.deps).run(() => false, true)
  await expect(ada.call(getImport, { id })).rejects.toMatchObject({ code: 'not_found' })
  const { rows: left } = await app.owner.query('select from import_row where import_id = $1', [id])
  expect(left).toEqual([])
})

test('lists imports, newest first, and erases one', async () => {
  const [older, newer] = [await store([{ email: 'a' }]), await store([{ email: 'b' }])]
  const listed = await ada.call(listImports, { id: company, limit: 2 })
  expect(listed.map(({ id }) => id)).toEqual([newer, older])
  expect(listed[0]).toMatchObject({ created_by: 'Ada Lovelace', rows: 1, stored: 1 })
  await ada.call(deleteImport, { id: newer })
  await expect(ada.call(getImport, { id: newer })).rejects.toMatchObject({ code: 'not_found' })
})

test('keeps changes that a person has made to themselves', async () => {
  const person = await app.signUp()
  const checked = await check([{ email: person.email, username: 'Imported' }])
  await run(checked.id)
  await person.call(updateOwnAccount, { username: 'Myself' })
  expect((await undo(checked.id)).undone).toEqual({ removed: 0, restored: 0, kept: 1 })
  expect(await peopleOf([person.email])).toMatchObject([{ username: 'Myself' }])
})

test('counts what the database has, whatever the rows, and an undo leaves it as it was', async () => {
  const known = Array.from({ length: 4 }, newEmail)
  await run((await check(known.map(email => ({ email, username: 'Known' })))).id)
  const email = fc.oneof(
    fc.constantFrom(...known),
    fc.constantFrom(...known.map(each => ` ${each.toUpperCase()}`)),
    fc.nat(8).map(n => `fresh-${n}@example.com`),
    fc.string()
  )
  const row = fc.record(
    {
      email,
      username: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('Known', 'Other')),
      groups: fc.array(fc.constantFrom('Lecteurs Été', 'Nobody', '')),
      locale: fc.constantFrom('en', 'fr', 'FR ', 'de', '')
    },
    { requiredKeys: ['email'] }
  )
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 12 }), async rows => {
      const before = await stateOfPeople()
      const checked = await check(rows)
      const counts = checked.counts
      if (!counts) throw new Error('no counts')
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(rows.length)
      const done = await run(checked.id, true)
      expect(done.result).toEqual({
        created: counts.new,
        changed: counts.changed,
        unchanged: counts.unchanged,
        skipped: counts.refused,
        differs: false
      })
      expect((await stateOfPeople()).length).toBe(before.length + counts.new)
      const undone = await undo(checked.id)
      expect(undone.undone).toEqual({ removed: counts.new, restored: counts.changed, kept: 0 })
      expect(await stateOfPeople()).toEqual(before)
    }),
    { numRuns: runCount(3, 12) }
  )
})

async function stateOfPeople(): Promise<object[]> {
  const { rows } = await app.owner.query(
    `select id, email, username, locale, permissions,
            array(select group_id from group_user m where m.user_id = u.id order by 1) as groups
       from "user" u where company_id = $1 order by id`,
    [company]
  )
  return rows
}
