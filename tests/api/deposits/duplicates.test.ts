import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDeposit, getUnfinishedUpload } from '../../../src/contract/deposits.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { uploadOf } from '../../helpers/client.ts'
import { statementsOf } from '../../helpers/database.ts'
import { countRowsRead } from '../../helpers/plans.ts'
import { retryWhileBusy } from '../../helpers/retry-while-busy.ts'
import { runCount, testTimeout } from '../../helpers/soak.ts'

let app: TestApp
let ada: TestPerson
let eve: TestPerson
beforeAll(async () => {
  app = await makeApp({ limits: { max_requests: 1000 } })
  ada = await app.signUp()
  eve = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

function declare(person: TestPerson, bytes: Uint8Array, more: { again?: true; key?: string } = {}) {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const { key, ...again } = more
  return person.call(
    createDeposit,
    {
      name: 'again.pdf',
      size: bytes.length,
      media_type: 'application/pdf',
      original: sha256,
      stored: sha256,
      category: person.category,
      ...again
    },
    key === undefined ? {} : { idempotencyKey: key }
  )
}

test('answers a file that the same person has deposited with that deposit, and reserves nothing', async () => {
  const bytes = randomBytes(1000)
  const done = await app.deposit(ada, bytes, 'lease.pdf')
  const before = await ada.call(getOwnAccount, {})
  expect(await declare(ada, bytes)).toEqual({ duplicate: done })
  expect((await ada.call(getOwnAccount, {})).usage_remaining).toEqual(before.usage_remaining)
  expect(await ada.call(listRequests, { limit: 200 })).toHaveLength(1)
})

describe('a file whose upload is open', () => {
  test('goes on with that upload, and reserves nothing a second time', async () => {
    const bytes = randomBytes(1000)
    const first = uploadOf(await declare(ada, bytes))
    await app.patch(ada, first.upload, bytes.subarray(0, 400))
    const before = await ada.call(getOwnAccount, {})
    const answer = await declare(ada, bytes)
    expect(answer).toMatchObject({ continued: true })
    const second = uploadOf(answer)
    expect(second).toMatchObject({ upload: first.upload, request: { id: first.request.id } })
    expect((await ada.call(getOwnAccount, {})).usage_remaining).toEqual(before.usage_remaining)
    await app.patch(ada, second.upload, bytes.subarray(400), 400)
    const done = await app.until(ada, first.request.id, ['done', 'failed'])
    expect(done.state).toBe('done')
    expect(await declare(ada, bytes)).toEqual({ duplicate: done })
  })

  test('gets an upload of its own where it is wanted again or belongs to somebody else', async () => {
    const bytes = randomBytes(1000)
    const first = uploadOf(await declare(ada, bytes))
    expect(uploadOf(await declare(ada, bytes, { again: true })).upload).not.toBe(first.upload)
    expect(uploadOf(await declare(eve, bytes)).upload).not.toBe(first.upload)
  })

  test('says on any device what is to be sent, to its person and while it is open', async () => {
    const bytes = randomBytes(1000)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const { request, upload } = uploadOf(await declare(ada, bytes))
    const asked = { id: request.id }
    expect(await ada.call(getUnfinishedUpload, asked)).toEqual({
      upload,
      name: 'again.pdf',
      category: ada.category,
      size: 1000,
      media_type: 'application/pdf',
      original: sha256,
      bytes: 1000,
      stored: sha256
    })
    await expect(eve.call(getUnfinishedUpload, asked)).rejects.toMatchObject({ code: 'not_found' })
    await app.patch(ada, upload, bytes)
    await expect(ada.call(getUnfinishedUpload, asked)).rejects.toMatchObject({ code: 'not_found' })
  })
})

test('answers 200 for a duplicate and 201 for a deposit, also when the call is repeated', async () => {
  const bytes = randomBytes(1000)
  const statusOf = async (key: string) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const same = { original: sha256, stored: sha256, category: ada.category }
    const response = await app.request('api.acme.localhost', {
      method: 'POST',
      path: '/deposit',
      headers: {
        authorization: `Bearer ${ada.token}`,
        'content-type': 'application/json',
        'idempotency-key': key
      },
      body: JSON.stringify({ name: 'a.pdf', size: 1000, media_type: 'text/plain', ...same })
    })
    return [response.status, response.headers['idempotent-replayed']]
  }
  expect(await statusOf('first')).toEqual([201, undefined])
  expect(await statusOf('first')).toEqual([201, 'true'])
  await app.deposit(ada, bytes)
  expect(await statusOf('second')).toEqual([200, undefined])
  expect(await statusOf('second')).toEqual([200, 'true'])
})

test('deposits a file again for whoever says so', async () => {
  const bytes = randomBytes(1000)
  const first = await app.deposit(ada, bytes)
  const { request, upload } = uploadOf(await declare(ada, bytes, { again: true }))
  expect((await app.patch(ada, upload, bytes)).status).toBe(204)
  const second = await app.until(ada, request.id, ['done', 'failed'])
  expect(second.deposit_id).not.toBe(first.deposit_id)
  expect(await declare(ada, bytes)).toEqual({ duplicate: second })
})

test('counts no deposit that is still on its way, nor one that came to nothing', async () => {
  const bytes = randomBytes(1000)
  uploadOf(await declare(ada, bytes))
  uploadOf(await declare(ada, bytes))
})

test('says nothing of the deposits of others, in the same company or another one', async () => {
  const bytes = randomBytes(1000)
  await app.deposit(eve, bytes)
  uploadOf(await declare(ada, bytes))
  const stranger = await app.signUp('beta.localhost')
  uploadOf(await declare(stranger, bytes))
})

test('reads as much for a file that thousands of others have deposited as for one nobody has', async () => {
  const known = randomBytes(1000)
  const { deposit_id } = await app.deposit(eve, known)
  await copyForOthers(deposit_id ?? '', 5000)
  const lookups = await statementsOf(app.deps.db, /from "lookup_tag"/, async () => {
    uploadOf(await declare(ada, known))
    uploadOf(await declare(ada, randomBytes(1000)))
    expect(await declare(eve, known)).toHaveProperty('duplicate')
  })
  expect(lookups).toHaveLength(3)
  const [ofKnown, ofNew, ofOwn] = await Promise.all(
    lookups.map(lookup => countRowsRead(app.deps.db, ada.company, lookup))
  )
  expect(ofKnown).toBe(ofNew)
  // hers once, and what belongs to it
  expect(ofOwn).toBeGreaterThan(0)
  expect(ofOwn).toBeLessThan(10)
})

// D-03
test(
  'makes one deposit for fifty calls with one key, and refuses the key for a changed body',
  async () => {
    for (let round = 0; round < runCount(1, 1000); round++) {
      const bytes = randomBytes(500)
      const key = randomUUID()
      const calls = Array.from({ length: 50 }, () => declare(ada, bytes, { key }))
      const settled = await Promise.allSettled(calls)
      const made = settled.flatMap(each =>
        each.status === 'fulfilled' ? [uploadOf(each.value)] : []
      )
      const codes = settled.flatMap(each => (each.status === 'rejected' ? [each.reason.code] : []))
      expect(new Set(made.map(each => each.request.id)).size).toBe(1)
      expect(codes.filter(code => code !== 'idempotency_in_flight')).toEqual([])
      await expect(declare(ada, randomBytes(501), { key })).rejects.toMatchObject({
        code: 'idempotency_key_reused'
      })
    }
  },
  testTimeout(60_000)
)

test('is not held up by a call whose process died in the middle', async () => {
  const key = randomUUID()
  const holder = await app.owner.connect()
  await holder.query('begin')
  await holder.query(
    `insert into idempotency (company_id, actor, route, key, fingerprint, created_at)
     values ($1, $2, 'POST /deposit', $3, '\\x00', now())`,
    [app.companies['acme.localhost'], ada.id, key]
  )
  const { rows } = await holder.query('select pg_backend_pid() as pid')
  const bytes = randomBytes(500)
  await expect(declare(ada, bytes, { key })).rejects.toMatchObject({
    code: 'idempotency_in_flight'
  })
  holder.on('error', () => undefined)
  await app.owner.query('select pg_terminate_backend($1)', [rows[0].pid])
  holder.release(true)
  const { request } = uploadOf(await declare(ada, bytes, { key }))
  expect(uploadOf(await declare(ada, bytes, { key })).request.id).toBe(request.id)
})

test('gives back what many uploads that are cancelled at once had reserved', async () => {
  const count = runCount(10, 100)
  const { rows: before } = await app.owner.query('select sum(reserved)::int as sum from usage')
  const uploads = await Promise.all(
    Array.from({ length: count }, () => retryWhileBusy(() => app.reserve(ada, randomBytes(300))))
  )
  const { rows: held } = await app.owner.query('select sum(reserved)::int as sum from usage')
  expect(held[0].sum).toBe(before[0].sum + count + count * 300)
  for (const { upload } of uploads.slice(0, 5)) {
    expect((await app.patch(ada, upload, randomBytes(100))).status).toBe(204)
  }
  await Promise.all(
    uploads.map(async ({ upload }) => {
      let status = 503
      // all wait for one row of the usage, and a busy server answers 503 to those that wait long
      while (status === 503) {
        status = (await app.tus(ada, 'DELETE', upload)).status
        if (status === 503) await sleep(500)
      }
      expect(status).toBe(204)
    })
  )
  const { rows: after } = await app.owner.query('select sum(reserved)::int as sum from usage')
  expect(after).toEqual(before)
})

/** Copies a deposit, as if `count` other people had deposited the same file. */
async function copyForOthers(deposit_id: string, count: number): Promise<void> {
  await app.owner.query(
    `with source as (
       select d as deposit, r as request, n, gen_random_uuid() as request_id,
              lpad(n::text, 22, '0') as deposit_id
         from deposit d join request r on (r.company_id, r.id) = (d.company_id, d.request_id),
              generate_series(1, $2::int) n
        where d.id = $1
     ), requests as (
       insert into request
       select (jsonb_populate_record(request, jsonb_build_object('id', request_id))).* from source
     ), deposits as (
       insert into deposit
       select (jsonb_populate_record(deposit,
                 jsonb_build_object('id', deposit_id, 'request_id', request_id))).* from source
     )
     insert into lookup_tag
     select (jsonb_populate_record(t,
               jsonb_build_object('record_ref', deposit_id, 'user_id', gen_random_uuid()))).*
       from lookup_tag t, source where t.record_ref = $1`,
    [deposit_id, count]
  )
  await app.owner.query('analyze lookup_tag, deposit, request')
}
