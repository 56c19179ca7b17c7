import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { listDeposits } from '../../../src/contract/company-deposits.ts'
import { createDeposit, getDeposit } from '../../../src/contract/deposits.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { leafHash } from '../../../src/core/evidence/deposit-leaf.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { uploadOf } from '../../helpers/client.ts'
import { statementsOf } from '../../helpers/database.ts'
import { countRowsRead } from '../../helpers/plans.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test('records a document, gives its exact bytes back and finds it by its fingerprint', async () => {
  const bytes = randomBytes(100_000)
  const done = await app.deposit(ada, bytes, 'Bail été.pdf')
  expect(done).toMatchObject({ state: 'done', rung: 'recorded', name: 'Bail été.pdf' })

  const id = done.deposit_id ?? ''
  const deposit = await ada.call(getDeposit, { id })
  expect(deposit).toMatchObject({ original: sha256(bytes), stored: sha256(bytes), size: 100_000 })
  const { rows } = await app.owner.query('select leaf, hash from log_leaf where leaf_id = $1', [id])
  expect(Buffer.byteLength(rows[0].leaf)).toBe(718)
  expect(Buffer.from(leafHash(rows[0].leaf)).toString('hex')).toBe(deposit.leaf_hash)

  const content = await app.content(ada, id)
  expect(content.status).toBe(200)
  expect(content.body.equals(bytes)).toBe(true)
  expect(content.headers['content-disposition']).toBe(
    `attachment; filename="Bail _t_.pdf"; filename*=UTF-8''Bail%20%C3%A9t%C3%A9.pdf`
  )

  const found = await app.call('acme.localhost', verify, { items: [{ sha256: sha256(bytes) }] })
  expect(found.items[0]).toMatchObject({
    verdict: 'authentic',
    company: 'Acme',
    findings: [{ match: 'original', leaf_hash: deposit.leaf_hash }]
  })
  const elsewhere = await app.call('beta.localhost', verify, { items: [{ sha256: sha256(bytes) }] })
  expect(elsewhere.items[0]).toMatchObject({ verdict: 'not_found', findings: [] })
})

test('keeps both fingerprints of a reduced picture and tells which one was met', async () => {
  const stored = randomBytes(5000)
  const original = sha256(randomBytes(3_000_000))
  const answer = await ada.call(createDeposit, {
    name: 'photo.jpg',
    size: stored.length,
    media_type: 'image/jpeg',
    original,
    stored: sha256(stored),
    transform: {
      kind: 'image-recompress',
      quality: 70,
      tool: 'vidimus/1 canvas',
      from: { bytes: 3_000_000, w: 4000, h: 3000, type: 'image/jpeg' },
      to: { bytes: 5000, w: 600, h: 450, type: 'image/jpeg' }
    },
    category: ada.category
  })
  const { request, upload } = uploadOf(answer)
  expect((await app.patch(ada, upload, stored)).status).toBe(204)
  const { deposit_id = '' } = await app.until(ada, request.id, ['done'])
  const { headers } = await app.content(ada, deposit_id)
  expect(headers['content-disposition']).toMatch(/photo.*reduced.*\.jpg/)
  const { items } = await app.call('acme.localhost', verify, {
    items: [{ sha256: original }, { sha256: sha256(stored) }]
  })
  expect(items.map(item => item.findings[0]?.match)).toEqual(['original', 'stored_copy'])
})

test('fails a transfer whose bytes are not the declared ones, and charges nothing', async () => {
  const before = await ada.call(getOwnAccount, {})
  const { request, upload } = await app.reserve(ada, randomBytes(1000))
  expect((await app.patch(ada, upload, randomBytes(1000))).status).toBe(204)
  const failed = await app.until(ada, request.id, ['failed', 'done'])
  expect(failed).toMatchObject({ state: 'failed', code: 'transfer_corrupt' })
  expect((await ada.call(getOwnAccount, {})).usage_remaining).toEqual(before.usage_remaining)
  const { rows } = await app.owner.query('select sum(reserved)::int as reserved from usage')
  expect(rows[0].reserved).toBe(0)
})

test('goes on where an upload was cut', async () => {
  const bytes = randomBytes(300_000)
  const { request, upload } = await app.reserve(ada, bytes)
  expect((await app.patch(ada, upload, bytes.subarray(0, 100_000))).status).toBe(204)
  expect((await app.patch(ada, upload, bytes.subarray(5), 5)).status).toBe(409)
  const head = await app.tus(ada, 'HEAD', upload)
  expect(head.headers['upload-offset']).toBe('100000')
  expect((await app.patch(ada, upload, bytes.subarray(100_000), 100_000)).status).toBe(204)
  expect(await app.until(ada, request.id, ['done', 'failed'])).toMatchObject({ state: 'done' })
})

test('cancels an upload and gives its reservation back', async () => {
  const { request, upload } = await app.reserve(ada, randomBytes(1000))
  const remove = () => app.tus(ada, 'DELETE', upload)
  expect((await remove()).status).toBe(204)
  expect(await app.until(ada, request.id, ['cancelled'])).toMatchObject({ code: 'cancelled' })
  const again = await remove()
  expect(again.status).toBe(409)
  expect(JSON.parse(again.body.toString())).toMatchObject({ code: 'cancelled' })
})

test('shows the whole history in pages, newest first', async () => {
  const all = await ada.call(listRequests, { limit: 200 })
  const paged = []
  for (let cursor: string | undefined; ; ) {
    const page = await ada.call(listRequests, { limit: 2, ...(cursor ? { cursor } : {}) })
    paged.push(...page)
    cursor = page.at(-1)?.id
    if (page.length < 2) break
  }
  expect(paged).toEqual(all)
  expect(all.map(each => each.created)).toEqual(
    all
      .map(each => each.created)
      .sort()
      .reverse()
  )
})

test('logs an upload by its route, under the id that its refusal names', async () => {
  const { upload } = await app.reserve(ada, randomBytes(20))
  const wrong = await app.patch(ada, upload, randomBytes(5), 7)
  expect(wrong.status).toBe(409)
  const { instance } = JSON.parse(wrong.body.toString())
  await vi.waitFor(() => {
    const lines = app.logged.filter(({ text }) => text === 'upload')
    expect(lines.map(({ facts }) => facts)).toContainEqual({
      request: instance,
      method: 'PATCH',
      route: '/uploads/{id}',
      status: 409,
      whole: true,
      ms: expect.any(Number),
      company: app.companies['acme.localhost']
    })
  })
  expect(JSON.stringify(app.logged)).not.toContain(upload)
})

test('refuses HEAD where nobody would end what it starts', async () => {
  const headers = { authorization: `Bearer ${ada.token}` }
  const asked = { method: 'HEAD', path: '/process/sse', headers }
  const answer = await app.request('api.acme.localhost', asked)
  expect(answer.status).toBe(405)
  expect(answer.headers.allow).toBe('GET')
})

test('lists the recorded deposits of the company for administrators, newest first', async () => {
  const host = 'beta.localhost'
  const id = app.companies[host]
  const [grace, bob] = [await app.signUp(host), await app.signUp(host)]
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [grace.id])
  const bytes = Buffer.from('deposits of a company')
  const first = await app.deposit(bob, bytes, 'Bail été.pdf')
  const second = await app.deposit(grace, randomBytes(10), 'Deed.pdf')
  const third = await app.deposit(bob, randomBytes(10), 'Bail hiver.pdf')
  await app.reserve(bob, bytes, 'never recorded.pdf')
  const names = async (input: object) =>
    (await grace.call(listDeposits, { id, ...input })).map(({ name }) => name)

  const all = await grace.call(listDeposits, { id })
  expect(all.map(each => each.id)).toEqual([third, second, first].map(each => each.deposit_id))
  expect(all[2]).toEqual({
    id: first.deposit_id,
    request_id: first.id,
    user: { id: bob.id, name: 'Ada Lovelace' },
    name: 'Bail été.pdf',
    size: bytes.length,
    media_type: 'application/pdf',
    category_id: bob.category,
    visibility: 'public',
    created: first.created,
    recorded: expect.any(String),
    store: 'file',
    leaf_hash: first.leaf_hash
  })
  expect(await names({ sort: 'created' })).toEqual(['Bail été.pdf', 'Deed.pdf', 'Bail hiver.pdf'])
  expect(await names({ limit: 1, cursor: third.deposit_id })).toEqual(['Deed.pdf'])
  const foreign = { cursor: (await app.deposit(ada, randomBytes(10))).deposit_id }
  await expect(names(foreign)).rejects.toMatchObject({ code: 'not_found' })
  expect(await names({ q: 'BAIL ete' })).toEqual(['Bail été.pdf'])
  expect(await names({ user: grace.id })).toEqual(['Deed.pdf'])
  const past = '2026-01-31T12:00:00Z'
  await app.owner.query('update deposit set recorded_at = $1 where id = $2', [past, all[2]?.id])
  const inJanuary = { from: past, to: '2026-01-31T13:00:01+01:00' }
  expect(await names({ ...inJanuary, category: bob.category })).toEqual(['Bail été.pdf'])
  expect(await names({ ...inJanuary, to: past })).toEqual([])
  expect(await names({ user: bob.id, from: inJanuary.to })).toEqual(['Bail hiver.pdf'])
  expect(await names({ category: ada.category })).toEqual([])
  await expect(bob.call(listDeposits, { id })).rejects.toMatchObject({ code: 'forbidden' })
  await app.owner.query('update "user" set deleted_at = now() where id = $1', [bob.id])
  expect(await grace.call(listDeposits, { id, user: bob.id })).toMatchObject([
    { user: { id: bob.id, name: null } },
    { user: { id: bob.id, name: null } }
  ])
})

test('a page of the deposits of a company reads no more than it shows', async () => {
  const { company } = ada
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  const facts = { name: 'a', size: 1, media_type: 'text/plain', leaf_hash: 'ab'.repeat(32) }
  await app.owner.query(
    `with made as (
       insert into request (company_id, id, user_id, kind, state, seq, created_at, facts)
       select $1, gen_random_uuid(), $2, 'deposit', 'done', 0, now(), $4
         from generate_series(1, 5000) returning company_id, id, user_id
     )
     insert into deposit
       (company_id, id, request_id, user_id, category_id, visibility, recorded_at)
     select company_id, substr(replace(id::text, '-', ''), 1, 21) || 'A', id, user_id, $3, 'public',
            now() from made`,
    [company, ada.id, ada.category, facts]
  )
  await app.owner.query('analyze request, deposit')
  const { rows } = await app.owner.query(
    'select id from deposit where company_id = $1 order by request_id offset 2500 limit 1',
    [company]
  )
  const page = { id: company, limit: 50, cursor: rows[0].id }
  const statements = await statementsOf(app.deps.db, /from "deposit"/, () =>
    ada.call(listDeposits, page)
  )
  const read = await Promise.all(
    statements.map(statement => countRowsRead(app.deps.db, company, statement))
  )
  expect(statements).toHaveLength(2)
  // the row of the cursor with its request; each deposit with its request and its person
  for (const count of read) expect(count).toBeLessThanOrEqual(3 * 52)
})
