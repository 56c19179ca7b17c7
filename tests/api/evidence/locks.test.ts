import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDeposit, putDeposit } from '../../../src/contract/deposits.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { inCompany, type Tx, toCompanyId } from '../../../src/server/db/scope.ts'
import { addAuditEntry } from '../../../src/server/domain/audit/audit-entries.ts'
import { finishWithLogs, type NewLeaf } from '../../../src/server/domain/finish-with-logs.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { logHeadLockCounts } from '../../helpers/head-locks.ts'

// Every test of the API runs under guardLogHeadLocks(). This one shows that the guard sees the
// statements, and that whatever makes a leaf ends with it.

let app: TestApp
let origin: string
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  const { rows } = await app.owner.query('select origin from log_head where company_id = $1', [
    app.companies['acme.localhost']
  ])
  origin = rows[0].origin
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => {
  Object.assign(logHeadLockCounts, { audit: 0, log: 0 })
})

test('an upload ends with its leaf', async () => {
  const { deposit_id } = await app.deposit(ada, randomBytes(300))
  expect(await newestLeaf()).toMatchObject({ leaf_id: deposit_id })
  expect(logHeadLockCounts.log).toBeGreaterThan(1)
})

test('a file in one call ends with its leaf', async () => {
  const bytes = randomBytes(300)
  const query = new URLSearchParams({ name: 'put.pdf', media_type: 'application/pdf' })
  const answer = await app.request(`api.${ada.host}`, {
    method: 'PUT',
    path: `${putDeposit.path}?${query}`,
    headers: {
      authorization: `Bearer ${ada.token}`,
      'idempotency-key': randomUUID(),
      'content-length': String(bytes.length)
    },
    body: bytes
  })
  expect(answer.status).toBe(201)
  expect(logHeadLockCounts.log).toBeGreaterThan(0)
})

test('a fingerprint with an idempotency key ends with its leaf, and its answer is kept', async () => {
  await app.owner.query(`update category set store = 'fingerprint' where id = $1`, [ada.category])
  try {
    const sha256 = createHash('sha256').update(randomBytes(9)).digest('hex')
    const file = { name: 'a.pdf', size: 9, media_type: 'application/pdf', again: true }
    const input = { ...file, original: sha256, stored: sha256, category: ada.category }
    const key = { idempotencyKey: randomUUID() }
    const first = await ada.call(createDeposit, input, key)
    expect(await ada.call(createDeposit, input, key)).toEqual(first)
    expect(logHeadLockCounts).toMatchObject({ log: 1 })
  } finally {
    await app.owner.query(`update category set store = 'file' where id = $1`, [ada.category])
  }
})

test('a verification ends with its event', async () => {
  await ada.call(verify, { items: [{ sha256: 'ab'.repeat(32) }] })
  expect(logHeadLockCounts).toMatchObject({ log: 1 })
})

test('a leaf enters without a request, behind all that were committed before', async () => {
  await app.deposit(ada, randomBytes(300))
  const before = await newestLeaf()
  await Promise.all(Array.from({ length: 20 }, () => inAcme(tx => append(tx, newLeaf()))))
  const parallel = await newestLeaf()
  expect(parallel.idx).toBe(before.idx + 20)
  const { deposit_id } = await app.deposit(ada, randomBytes(300))
  const deposited = await newestLeaf()
  expect(deposited.leaf_id).toBe(deposit_id)
  const last = newLeaf()
  await inAcme(tx => append(tx, last))
  expect(await newestLeaf()).toEqual({ idx: deposited.idx + 1, leaf_id: last.leaf_id })
  // the events of the company still have no gap
  const { rows } = await app.owner.query(
    `select count(*)::int as events, max(seq)::int as newest from event where company_id = $1`,
    [app.companies['acme.localhost']]
  )
  expect(rows[0].events).toBe(rows[0].newest)
})

test('a revocation could write rows, tell the audit log and enter a leaf in one transaction', async () => {
  await inAcme(async tx => {
    const by = { id: ada.id, company_id: tx.companyId }
    addAuditEntry(tx, app.deps, { by, action: 'group.create', target: randomUUID() })
    await touchCategory(tx)
    await append(tx, newLeaf())
  })
  expect(logHeadLockCounts).toEqual({ audit: 1, log: 1 })
})

test('a leaf of a company without a log undoes its transaction', async () => {
  const company = toCompanyId(randomUUID())
  const entering = inCompany(app.deps.db, company, tx => append(tx, newLeaf()))
  await expect(entering).rejects.toMatchObject({ code: 'unavailable' })
})

test('the guard refuses a row behind an event', async () => {
  const draft = {
    id: randomUUID(),
    user_id: ada.id,
    kind: 'verify',
    state: 'done',
    created: new Date(),
    facts: {}
  } as const
  const acting = inAcme(async tx => {
    await finishWithLogs(tx, app.deps, { states: [draft] })
    await touchCategory(tx)
  })
  await expect(acting).rejects.toThrow('sent after the log: update "category"')
})

function inAcme(run: (tx: Tx) => Promise<unknown>): Promise<unknown> {
  return inCompany(app.deps.db, toCompanyId(app.companies['acme.localhost'] ?? ''), run)
}

function touchCategory(tx: Tx): Promise<unknown> {
  return tx
    .updateTable('category')
    .set({ visibility: 'public' })
    .where('company_id', '=', tx.companyId)
    .where('id', '=', ada.category)
    .execute()
}

function append(tx: Tx, leaf: NewLeaf): Promise<unknown> {
  return finishWithLogs(tx, app.deps, { states: [], leaves: [leaf] })
}

function newLeaf(): NewLeaf {
  return {
    origin,
    leaf_id: randomBytes(16).toString('base64url'),
    leaf: '{}',
    hash: randomBytes(32)
  }
}

async function newestLeaf(): Promise<{ idx: number; leaf_id: string }> {
  const { rows } = await app.owner.query(
    `select idx::int, leaf_id from log_leaf where company_id = $1 order by log_leaf.idx desc limit 1`,
    [app.companies['acme.localhost']]
  )
  return rows[0]
}
