import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeposit } from '../../src/contract/deposits.ts'
import { listRequests } from '../../src/contract/requests.ts'
import { getUser } from '../../src/contract/users.ts'
import { makeApp, type TestApp, type TestPerson } from '../helpers/app.ts'
import { opened } from '../helpers/client.ts'
import { patience, times } from '../helpers/counts.ts'

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
  const before = await ada.call(getUser, {})
  expect(await declare(ada, bytes)).toEqual({ duplicate: done })
  expect((await ada.call(getUser, {})).usage_remaining).toEqual(before.usage_remaining)
  expect(await ada.call(listRequests, { limit: 200 })).toHaveLength(1)
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
  const { request, upload } = opened(await declare(ada, bytes, { again: true }))
  expect((await app.patch(ada, upload, bytes)).status).toBe(204)
  const second = await app.until(ada, request.id, ['done', 'failed'])
  expect(second.deposit_id).not.toBe(first.deposit_id)
  expect(await declare(ada, bytes)).toEqual({ duplicate: second })
})

test('counts no deposit that is still on its way, nor one that came to nothing', async () => {
  const bytes = randomBytes(1000)
  opened(await declare(ada, bytes))
  opened(await declare(ada, bytes))
})

test('says nothing of the deposits of others, in the same company or another one', async () => {
  const bytes = randomBytes(1000)
  await app.deposit(eve, bytes)
  opened(await declare(ada, bytes))
  const stranger = await app.signUp('beta.localhost')
  opened(await declare(stranger, bytes))
})

test('reads as much for a file that thousands of others have deposited as for one nobody has', async () => {
  const bytes = randomBytes(1000)
  const done = await app.deposit(eve, bytes)
  // as if others had deposited it too: the lookup reads tags only
  const company = app.companies['acme.localhost']
  await app.owner.query(
    `insert into lookup_tag (company_id, scheme, key_version, tag, record_ref, which, user_id)
     select t.company_id, t.scheme, t.key_version, t.tag, t.record_ref, t.which || n, t.user_id
       from (select * from lookup_tag where record_ref = $1) t, generate_series(1, 0) n`,
    [done.deposit_id]
  )
  const { rows: tags } = await app.owner.query('select tag from lookup_tag where record_ref = $1', [
    done.deposit_id
  ])
  await app.owner.query('set enable_seqscan = off')
  const pagesRead = async (user: string) => {
    const { rows } = await app.owner.query(
      `explain (analyze, format json)
       select record_ref from lookup_tag
        where company_id = '${company}' and user_id = '${user}' and tag = '\\x${tags[0].tag.toString('hex')}'`
    )
    const plan = rows[0]['QUERY PLAN'][0].Plan
    return [plan['Actual Rows'], plan['Rows Removed by Filter'] ?? 0]
  }
  expect(await pagesRead(ada.id)).toEqual([0, 0])
  expect(await pagesRead(eve.id)).toEqual([1, 0])
})

// D-03
test(
  'makes one deposit for fifty calls with one key, and refuses the key for a changed body',
  async () => {
    for (let round = 0; round < times(10, 1000); round++) {
      const bytes = randomBytes(500)
      const key = randomUUID()
      const calls = Array.from({ length: 50 }, () => declare(ada, bytes, { key }))
      const settled = await Promise.allSettled(calls)
      const made = settled.flatMap(each =>
        each.status === 'fulfilled' ? [opened(each.value)] : []
      )
      const codes = settled.flatMap(each => (each.status === 'rejected' ? [each.reason.code] : []))
      expect(new Set(made.map(each => each.request.id)).size).toBe(1)
      expect(codes.filter(code => code !== 'idempotency_in_flight')).toEqual([])
      await expect(declare(ada, randomBytes(501), { key })).rejects.toMatchObject({
        code: 'idempotency_key_reused'
      })
    }
  },
  patience(60_000)
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
  const { request } = opened(await declare(ada, bytes, { key }))
  expect(opened(await declare(ada, bytes, { key })).request.id).toBe(request.id)
})

test('gives back what a hundred cancelled uploads had reserved', async () => {
  const { rows: before } = await app.owner.query('select sum(reserved)::int as sum from usage')
  const uploads = []
  for (let round = 0; round < 10; round++) {
    const calls = Array.from({ length: 10 }, () => app.reserve(ada, randomBytes(300)))
    uploads.push(...(await Promise.all(calls)))
  }
  const { rows: held } = await app.owner.query('select sum(reserved)::int as sum from usage')
  expect(held[0].sum).toBe(before[0].sum + 100 + 100 * 300)
  await Promise.all(
    uploads.map(async ({ upload }, index) => {
      if (index % 2 === 0) await app.patch(ada, upload, randomBytes(100))
      const answer = await app.request('api.acme.localhost', {
        method: 'DELETE',
        path: upload,
        headers: { authorization: `Bearer ${ada.token}`, 'tus-resumable': '1.0.0' }
      })
      expect(answer.status).toBe(204)
    })
  )
  const { rows: after } = await app.owner.query('select sum(reserved)::int as sum from usage')
  expect(after).toEqual(before)
})
