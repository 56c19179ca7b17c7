import { cp, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { parseLogPolicy } from '../../../src/core/evidence/log-policy.ts'
import { verify } from '../../../src/core/evidence/verification.ts'
import { openLogFiles } from '../../../src/server/adapters/log-files.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import type { CompanyId, Deps } from '../../../src/server/domain/deps.ts'
import { moveLogs } from '../../../src/server/domain/evidence/log-folder.ts'
import { resyncLog } from '../../../src/server/domain/evidence/log-resync.ts'
import { retireLog } from '../../../src/server/domain/evidence/log-retirement.ts'
import { listLogsOf } from '../../../src/server/domain/evidence/logs.ts'
import { createReceipt } from '../../../src/server/domain/evidence/receipts.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeDb } from '../../helpers/database.ts'
import { copyRows } from '../../helpers/evidence/copied-rows.ts'
import { type MadeDeposit, makeDeposits } from '../../helpers/evidence/many-deposits.ts'
import { publishAll, readPublished, rootOfLeaves } from '../../helpers/evidence/published-log.ts'

// security.md C-11

let app: TestApp
let ada: TestPerson
beforeEach(async () => {
  app = await makeApp()
  ada = await app.signUp()
})
afterEach(() => app[Symbol.asyncDispose]())

test('a copy of the database that shares the published files signs nothing beside the original', async () => {
  await makeDeposits(app.deps, ada, 3)
  await publishAll(app.deps, ada.company)
  await using copied = await makeDb()
  await copyRows(app.owner, copied.owner)
  const copy = { ...app.deps, db: copied.db }

  await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  const { note } = await publishedOf(app.deps, ada.company)
  for (const length of [0, 1, 5]) {
    await makeDeposits(copy, ada, length)
    await publishAll(copy, ada.company)
    expect((await publishedOf(copy, ada.company)).note).toBe(note)
    expect(await listLogsOf(copy, ada.company)).toMatchObject([{ state: 'behind', published: 4 }])
  }
  const [last] = await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  const { leaves, checkpoint } = await publishedOf(app.deps, ada.company)
  expect(checkpoint.size).toBe(6n)
  expect(JSON.parse(leaves[5] ?? '').id).toBe(last?.record_id)
  expect(Buffer.from(checkpoint.root)).toEqual(rootOfLeaves(leaves))
  expect(await listLogsOf(app.deps, ada.company)).toMatchObject([{ state: 'running' }])
})

test('of an original and its copy, the one that signs second signs nothing', async () => {
  await makeDeposits(app.deps, ada, 3)
  await publishAll(app.deps, ada.company)
  await using copied = await makeDb()
  await copyRows(app.owner, copied.owner)
  const copy = { ...app.deps, db: copied.db }
  await makeDeposits(app.deps, ada, 1)
  const [ofCopy] = await makeDeposits(copy, ada, 1)
  await publishAll(copy, ada.company)
  await publishAll(app.deps, ada.company)
  expect(await listLogsOf(app.deps, ada.company)).toMatchObject([{ state: 'behind' }])
  const { leaves, checkpoint } = await publishedOf(app.deps, ada.company)
  expect(checkpoint.size).toBe(5n)
  expect(JSON.parse(leaves[4] ?? '').id).toBe(ofCopy?.record_id)
})

test('a copy of database and published files signs nothing, until it is said to be the newest', async () => {
  await makeDeposits(app.deps, ada, 3)
  await publishAll(app.deps, ada.company)
  await waitUntilItTells(join(app.folder, 'log'))
  await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  await using copied = await makeDb()
  await copyRows(app.owner, copied.owner)
  const folder = join(app.folder, 'log')
  await copyLogs(`${folder}-copy`)
  const copy = { ...app.deps, db: copied.db, logFiles: openLogFiles(`${folder}-copy`) }
  const { note } = await publishedOf(app.deps, ada.company)

  await makeDeposits(copy, ada, 1)
  for (let time = 0; time < 2; time++) await publishAll(copy, ada.company)
  expect((await publishedOf(copy, ada.company)).note).toBe(note)
  expect(await listLogsOf(copy, ada.company)).toMatchObject([{ state: 'copied' }])
  // the original goes on, also in another process
  await makeDeposits(app.deps, ada, 1)
  await publishAll({ ...app.deps, logFiles: openLogFiles(folder) }, ada.company)
  expect((await publishedOf(app.deps, ada.company)).checkpoint.size).toBe(6n)
  expect(await moveLogs(app.deps)).toBe(false)

  expect(await moveLogs(copy)).toBe(true)
  await publishAll(copy, ada.company)
  expect((await publishedOf(copy, ada.company)).checkpoint.size).toBe(6n)
  expect(await listLogsOf(copy, ada.company)).toMatchObject([{ state: 'running' }])
  // the first folder is now the copy
  await publishAll({ ...copy, logFiles: app.deps.logFiles }, ada.company)
  expect(await listLogsOf(copy, ada.company)).toMatchObject([{ state: 'forked' }])
})

test('a folder that lost its files and got them back from a copy is a copy', async () => {
  await makeDeposits(app.deps, ada, 3)
  await publishAll(app.deps, ada.company)
  await waitUntilItTells(join(app.folder, 'log'))
  await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  const folder = join(app.folder, 'log')
  await copyLogs(`${folder}-backup`)
  await rm(folder, { recursive: true })
  await copyLogs(folder, `${folder}-backup`)
  await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  expect(await listLogsOf(app.deps, ada.company)).toMatchObject([{ state: 'copied', published: 5 }])
  expect(await moveLogs(app.deps)).toBe(true)
  await publishAll(app.deps, ada.company)
  expect(await listLogsOf(app.deps, ada.company)).toMatchObject([
    { state: 'running', published: 6 }
  ])
})

test('a copy where nobody can tell when it was made is a copy, too', async () => {
  await makeDeposits(app.deps, ada, 1)
  for (let time = 0; time < 2; time++) await publishAll(app.deps, ada.company)
  const untold = { ...app.deps.logFiles, readFolderTime: async () => undefined }
  const copy = { ...app.deps, logFiles: untold }
  await makeDeposits(copy, ada, 1)
  await publishAll(copy, ada.company)
  expect(await listLogsOf(copy, ada.company)).toMatchObject([{ state: 'copied', published: 2 }])
  expect(await moveLogs(copy)).toBe(true)
  expect(await moveLogs(copy)).toBe(false)
  await publishAll(copy, ada.company)
  expect(await listLogsOf(copy, ada.company)).toMatchObject([{ state: 'running', published: 3 }])
})

test('a folder that was never changed tells when it was made', async () => {
  // such as a small copy that was made within one tick of the clock
  const folder = join(app.folder, 'log-small')
  await mkdir(folder)
  const { birthtime } = await stat(folder)
  await expect.poll(() => openLogFiles(folder).readFolderTime()).toEqual(birthtime)
})

test('logs are not moved to an empty folder', async () => {
  await makeDeposits(app.deps, ada, 1)
  for (let time = 0; time < 2; time++) await publishAll(app.deps, ada.company)
  const folder = join(app.folder, 'log-unmounted')
  await mkdir(folder)
  const deps = { ...app.deps, logFiles: openLogFiles(folder) }
  await expect(moveLogs(deps)).rejects.toThrow('is empty')
  await publishAll(app.deps, ada.company)
  expect(await listLogsOf(app.deps, ada.company)).toMatchObject([{ state: 'running' }])
})

test('an older state of everything, whose logs are retired before they are moved, has no second history', async () => {
  await makeDeposits(app.deps, ada, 3)
  await publishAll(app.deps, ada.company)
  await waitUntilItTells(join(app.folder, 'log'))
  await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  const before = await publishedOf(app.deps, ada.company)
  await using restored = await makeDb()
  await copyRows(app.owner, restored.owner)
  const folder = join(app.folder, 'log-restored')
  await copyLogs(folder)
  const { socketDir, name: database } = restored
  await using asOwner = await openDatabase({ socketDir, database, asOwner: true })
  const logFiles = openLogFiles(folder)
  const deps = { ...app.deps, db: restored.db, logFiles }
  await makeDeposits(deps, ada, 2)
  await publishAll(deps, ada.company)
  const { successor, is_copied } = await retireLog({ ...deps, db: asOwner }, ada.company)
  expect(is_copied).toBe(true)
  await publishAll(deps, ada.company)
  expect(await listLogsOf(deps, ada.company)).toMatchObject([
    { state: 'retired', published: 5 },
    { state: 'copied', published: 0 }
  ])
  expect(await moveLogs(deps)).toBe(true)
  await publishAll(deps, ada.company)
  expect((await publishedOf(deps, ada.company)).leaves).toHaveLength(3)
  expect((await publishedOf(deps, ada.company)).checkpoint.origin).toBe(successor)
  expect((await readPublished(logFiles, before.checkpoint.origin)).note).toBe(before.note)
})

test('a host that moved leaves receipts that verify, and no name of a log is used twice', async () => {
  const ofAda = await makeDeposits(app.deps, ada, 2)
  await publishAll(app.deps, ada.company)
  const before = await receiptsOf(ada, ofAda)
  await app.owner.query(`delete from domain where host = 'acme.localhost'`)
  const next = await app.addCompany('Next', 'acme.localhost')
  await publishAll(app.deps, next)
  const [log] = await listLogsOf(app.deps, next)
  expect(log?.origin).toBe(`acme.localhost/log/${next}`)
  expect((await publishedOf(app.deps, next)).leaves).toHaveLength(1)

  // the log of the company that left goes on under its name, and its receipts are those of before
  await makeDeposits(app.deps, ada, 1)
  await publishAll(app.deps, ada.company)
  for (const text of [...before, ...(await receiptsOf(ada, ofAda))])
    expect(await verdictOf(ada.company, text)).toBe('authentic')

  const origins = [...(await originsOf(ada.company)), ...(await originsOf(next))]
  const asOwner = { ...app.deps, db: await openOwner() }
  for (const company of [next, ada.company, next, ada.company]) {
    const { successor } = await retireLog(asOwner, company)
    expect(origins).not.toContain(successor)
    origins.push(successor)
    await publishAll(app.deps, company)
    expect((await publishedOf(app.deps, company)).checkpoint.origin).toBe(successor)
  }
  await asOwner.db.close()
  expect(new Set(origins).size).toBe(6)
  for (const text of [...before, ...(await receiptsOf(ada, ofAda))])
    expect(await verdictOf(ada.company, text)).toBe('authentic')
})

test('the job signs the log of a suspended company', async () => {
  await using running = await makeApp({ publishesLogs: true })
  const person = await running.signUp()
  const suspended = { reason: 'payment', since: new Date().toISOString() }
  await running.owner.query('update company set disabled = $2 where id = $1', [
    person.company,
    JSON.stringify(suspended)
  ])
  running.deps.signals.companies.send(person.company)
  await makeDeposits(running.deps, person, 2)
  await expect
    .poll(() => listLogsOf(running.deps, person.company), { timeout: 10_000 })
    .toMatchObject([{ state: 'running', published: 3 }])
})

test('a resync beside deposits leaves one history', async () => {
  await makeDeposits(app.deps, ada, 300)
  await publishAll(app.deps, ada.company)
  await using restored = await makeDb()
  await copyRows(app.owner, restored.owner)
  const lost = await makeDeposits(app.deps, ada, 300)
  await publishAll(app.deps, ada.company)
  const before = await publishedOf(app.deps, ada.company)

  const deps = { ...app.deps, db: restored.db }
  const { socketDir, name: database } = restored
  const asOwner = { ...deps, db: await openDatabase({ socketDir, database, asOwner: true }) }
  const made = [...(await makeDeposits(deps, ada, 20))]
  await publishAll(deps, ada.company)
  const [, ...more] = await Promise.all([
    resyncLog(asOwner, ada.company),
    ...[1, 2, 3, 4].map(() => makeDeposits(deps, ada, 3, 1))
  ])
  await asOwner.db.close()
  made.push(...more.flat())
  await publishAll(deps, ada.company)
  const { leaves, checkpoint } = await publishedOf(deps, ada.company)
  expect(leaves.slice(0, 601)).toEqual(before.leaves)
  const ids = leaves.slice(301).map(leaf => JSON.parse(leaf).id)
  expect(ids.slice(0, 300)).toEqual(lost.map(({ record_id }) => record_id))
  expect(ids.slice(300).sort()).toEqual(made.map(({ record_id }) => record_id).sort())
  expect(Buffer.from(checkpoint.root)).toEqual(rootOfLeaves(leaves))
})

async function receiptsOf(
  { id: user_id, company: company_id }: TestPerson,
  deposits: readonly MadeDeposit[]
): Promise<string[]> {
  const inputs = deposits.map(({ record_id: id }) => ({ company_id, user_id, id }))
  const made = inputs.map(input =>
    createReceipt(app.deps, { ...input, format: 'json' }, run => run())
  )
  return (await Promise.all(made)).map(({ text }) => text)
}

/** With the key of the log's first policy pinned. */
async function verdictOf(company: CompanyId, text: string): Promise<string> {
  const [log] = await listLogsOf(app.deps, company)
  const { leaves } = await readPublished(app.deps.logFiles, log?.origin ?? '')
  const policies = [parseLogPolicy(`log ${JSON.parse(leaves[0] ?? '').log}\nquorum none\n`)]
  const digest = JSON.parse(text).open.orig.value
  return verify({ receipt: Buffer.from(text), digest }, { policies }, new Date()).outcome.verdict
}

/** Copies the folder of the published logs, also over one that is there. Each then tells when it was made. */
async function copyLogs(to: string, from = join(app.folder, 'log')): Promise<void> {
  await cp(from, to, { recursive: true, preserveTimestamps: true })
  for (const folder of [from, to]) await waitUntilItTells(folder)
}

// while its last change may still be its first
async function waitUntilItTells(folder: string): Promise<void> {
  await expect.poll(() => openLogFiles(folder).readFolderTime()).toBeDefined()
}

async function originsOf(company: CompanyId): Promise<string[]> {
  return (await listLogsOf(app.deps, company)).map(({ origin }) => origin)
}

async function publishedOf(deps: Deps, company: CompanyId) {
  return readPublished(deps.logFiles, (await listLogsOf(deps, company)).at(-1)?.origin ?? '')
}

function openOwner() {
  const { socketDir, name: database } = app.database
  return openDatabase({ socketDir, database, asOwner: true })
}
