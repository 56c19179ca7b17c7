import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inCompany, type Tx } from '../../../../../src/server/db/scope.ts'
import type { CompanyId } from '../../../../../src/server/domain/deps.ts'
import {
  type LeaseSettings,
  releaseLease,
  renewLease,
  takeLease,
  takeNextLease
} from '../../../../../src/server/domain/leases/leases.ts'
import { queueMail } from '../../../../../src/server/domain/mail/mail-queue.ts'
import { makeApp, type TestApp } from '../../../../helpers/app.ts'

const sending: LeaseSettings<'mail'> = { table: 'mail', until: 'next_at', ms: 1000 }
const orderBy = sql`next_at, id`

let app: TestApp
let company: CompanyId
beforeAll(async () => {
  app = await makeApp({ sendsMails: false })
  company = app.companies['acme.localhost']
  const tenant = { company_id: company, host: 'acme.localhost' }
  for (const email of ['a@example.com', 'b@example.com']) {
    await run(tx => queueMail(tx, app.deps, { tenant, kind: 'reset', email }))
  }
})
afterAll(() => app[Symbol.asyncDispose]())

test('gives each row to one of many claims, until its time is over', async () => {
  const now = new Date(Date.now() + 1000)
  const claimed = await Promise.all(Array.from({ length: 8 }, () => next(now)))
  const emails = claimed.flatMap(row => (row ? [row.email] : []))
  expect(emails.sort()).toEqual(['a@example.com', 'b@example.com'])
  expect(await next(new Date(now.getTime() + 999))).toBeUndefined()
  const later = await next(new Date(now.getTime() + 1000))
  expect(later).toMatchObject({ next_at: new Date(now.getTime() + 2000) })
})

test('holds a row that is renewed, and frees one that is given back', async () => {
  const now = new Date(Date.now() + 60_000)
  const row = await next(now)
  if (!row) throw new Error('nothing to claim')
  const { id } = row
  const after = (ms: number) => new Date(now.getTime() + ms)
  expect(await run(tx => renewLease(tx, sending, after(900), { id }))).toBe(true)
  expect(await run(tx => takeLease(tx, sending, after(1100), { id }))).toBeUndefined()
  expect(await run(tx => releaseLease(tx, sending, { id }, after(1200)))).toBe(true)
  expect(await run(tx => takeLease(tx, sending, after(1199), { id }))).toBeUndefined()
  expect(await run(tx => takeLease(tx, sending, after(1200), { id }))).toMatchObject({ id })
})

test('changes no row for which a condition does not hold, and none of another company', async () => {
  const now = new Date(Date.now() + 120_000)
  const row = await next(now)
  if (!row) throw new Error('nothing to claim')
  const { id } = row
  const where = sql<boolean>`kind = 'signup' or kind = 'activate'`
  expect(await run(tx => renewLease(tx, sending, now, { id, where }))).toBe(false)
  const other = app.companies['beta.localhost']
  expect(await inCompany(app.deps.db, other, tx => releaseLease(tx, sending, { id }, now))).toBe(
    false
  )
})

function next(now: Date) {
  return run(tx => takeNextLease(tx, sending, now, { orderBy }))
}

function run<T>(act: (tx: Tx) => Promise<T>): Promise<T> {
  return inCompany(app.deps.db, company, act)
}
