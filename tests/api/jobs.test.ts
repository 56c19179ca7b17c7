import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RawBuilder } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { inCompany } from '../../src/server/db/scope.ts'
import type { CompanyId, Deps } from '../../src/server/domain/deps.ts'
import {
  deleteExpiredEvents,
  deleteExpiredEventsStatement,
  readEventSequenceBounds
} from '../../src/server/domain/events/events.ts'
import { deleteExpiredResponsesStatement } from '../../src/server/domain/idempotency/idempotency.ts'
import type { Job } from '../../src/server/jobs/job-runner.ts'
import {
  checkFilesJob,
  createDepositsFromUploadsJob,
  deleteExpiredRowsJob,
  endIdleUploadsJob,
  sendMailsJob
} from '../../src/server/jobs/jobs.ts'
import { makeApp, type TestApp } from '../helpers/app.ts'
import { countRowsRead } from '../helpers/plans.ts'

const day = 86_400

let app: TestApp
let acme: CompanyId
let beta: CompanyId

beforeEach(async () => {
  app = await makeApp()
  const [first, second] = Object.values(app.companies)
  if (!first || !second) throw new Error('the companies were not made')
  acme = first
  beta = second
  return () => app[Symbol.asyncDispose]()
})

test.each<[string, string, (deps: Deps) => Job]>([
  ['forget', 'idempotency', deleteExpiredRowsJob],
  ['settle-uploads', 'upload', createDepositsFromUploadsJob],
  ['lapse-uploads', 'upload', endIdleUploadsJob],
  ['send-mails', 'mail', sendMailsJob]
])('does the work of %s for a company although that of another fails', async (job, table, make) => {
  await breakTable(table)
  const failed: object[] = []
  const log = { ...app.deps.log, error: (facts: object) => failed.push(facts) }
  await make({ ...app.deps, log }).run(() => false, true)
  expect(failed).toEqual([
    expect.objectContaining({ job, company: acme }),
    expect.objectContaining({ job, company: beta })
  ])
})

test('goes on with what else a company forgets when one deletion fails', async () => {
  await breakTable('idempotency')
  await insertEvents(acme, 3, 100)
  await insertEvents(beta, 3, 100)
  await deleteExpiredRowsJob(app.deps).run(() => false, true)
  expect(await count('event', acme)).toBe(0)
  expect(await count('event', beta)).toBe(0)
})

test('checks the files of the company behind one whose folder cannot be read', async () => {
  const folder = join(app.folder, 'documents', 'blobs', acme)
  await mkdir(join(folder, '..'), { recursive: true })
  await writeFile(folder, 'no folder')
  const ada = await app.signUp('beta.localhost')
  await app.deposit(ada, randomBytes(100))
  await checkFilesJob(app.deps).run(() => false, true)
  expect(app.logged).toContainEqual(
    expect.objectContaining({
      text: 'files checked',
      facts: expect.objectContaining({ company: beta, checked: 1 })
    })
  )
  await rm(folder)
})

test('forgets events of three months in batches, and leaves no gap', async () => {
  await insertEvents(acme, 2500, 100)
  await insertEvents(acme, 1, 1)
  // an event dated back behind one that is still kept
  await insertEvents(acme, 1, 100)
  const before = await readEventSequenceBounds(app.deps, acme)
  expect([
    await deleteExpiredEvents(app.deps, acme),
    await deleteExpiredEvents(app.deps, acme)
  ]).toEqual([true, true])
  expect(await deleteExpiredEvents(app.deps, acme)).toBe(false)
  expect(await count('event', acme)).toBe(2)
  expect(await readEventSequenceBounds(app.deps, acme)).toEqual({
    ...before,
    oldest: before.newest - 1
  })
  app.wait(100 * day)
  await deleteExpiredEvents(app.deps, acme)
  expect(await count('event', acme)).toBe(0)
})

test('finds what is to be forgotten without reading what stays', async () => {
  await insertEvents(acme, 5000, 1)
  await insertAnswers(acme, 5000)
  await app.owner.query('analyze event, idempotency')
  const before = new Date(Date.now() - 90 * day * 1000)
  expect(
    await countRowsRead(
      app.deps.db,
      acme,
      await compile(deleteExpiredEventsStatement(acme, before, 10))
    )
  ).toBeLessThan(50)
  expect(
    await countRowsRead(
      app.deps.db,
      acme,
      await compile(deleteExpiredResponsesStatement(acme, before, 10))
    )
  ).toBeLessThan(50)
})

function compile(statement: RawBuilder<unknown>) {
  return inCompany(app.deps.db, acme, async tx => {
    const { sql, parameters } = statement.compile(tx)
    return { text: sql, values: [...parameters] }
  })
}

/** Makes every statement of the service on this table fail. */
async function breakTable(table: string): Promise<void> {
  await app.owner.query(`revoke all on ${table} from vidimus_app`)
}

async function insertEvents(company: CompanyId, rows: number, daysAgo: number): Promise<void> {
  await app.owner.query(
    `with head as (
       update log_head set event_seq = event_seq + $2 where company_id = $1 returning event_seq
     )
     insert into event (company_id, seq, user_id, request_id, payload, created_at)
     select $1, event_seq - $2 + n, gen_random_uuid(), gen_random_uuid(), '{}', now() - make_interval(days => $3)
     from head, generate_series(1, $2::int) as n`,
    [company, rows, daysAgo]
  )
}

async function insertAnswers(company: CompanyId, rows: number): Promise<void> {
  await app.owner.query(
    `insert into idempotency (company_id, actor, route, key, fingerprint, created_at)
     select $1, $3, 'POST /deposit', n::text, '', now() from generate_series(1, $2::int) as n`,
    [company, rows, randomUUID()]
  )
}

async function count(table: string, company: CompanyId): Promise<number> {
  const { rows } = await app.owner.query(
    `select count(*)::int as rows from ${table} where company_id = $1`,
    [company]
  )
  return rows[0].rows
}
