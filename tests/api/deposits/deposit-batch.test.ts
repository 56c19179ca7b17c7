import { randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeposit, createDepositBatch, getDeposit } from '../../../src/contract/deposits.ts'
import { maxBytesPerBatchFile, maxDepositBatchBodyBytes } from '../../../src/contract/kit/limits.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { callWithKeyInUse } from '../../helpers/cases.ts'
import {
  type BatchResults,
  batchContentType,
  batchForm,
  batchItem,
  formBoundary,
  formPart,
  postAcceptedBatch,
  postBatch,
  smallFiles
} from '../../helpers/deposits/batches.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({ limits: { max_requests: 100_000, max_storage: 1_000_000_000 } })
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

const tables = [
  'request',
  'event',
  'deposit',
  'deposit_opening',
  'lookup_tag',
  'log_leaf',
  'blob',
  'upload',
  'idempotency'
]

/**
 * Returns what deposits leave behind: the number of rows of each table, the charged usage, and the
 * number of files.
 */
async function traces(of: TestApp = app) {
  const counts = tables.map(table => `(select count(*)::int from ${table}) as ${table}`)
  const { rows } = await of.owner.query(
    `select ${counts.join(', ')},
       (select coalesce(sum(used), 0)::int from usage) as used,
       (select coalesce(sum(used), 0)::int from user_usage) as own,
       (select coalesce(sum(reserved), 0)::int from usage) as reserved`
  )
  const files = await readdir(join(of.folder, 'documents'), {
    recursive: true,
    withFileTypes: true
  }).catch(() => [])
  return { ...rows[0], files: files.filter(file => file.isFile()).length }
}

function codes(results: BatchResults): string[] {
  return results.map(result => {
    if ('problem' in result) return result.problem.code
    return 'duplicate' in result ? 'duplicate' : result.request.state
  })
}

test('records every file of a call, each as a deposit of its own', async () => {
  const { files, items } = smallFiles(50, { category: ada.category })
  const before = await traces()
  const results = await postAcceptedBatch(app, ada, items, files)
  expect(new Set(codes(results))).toEqual(new Set(['done']))
  const after = await traces()
  for (const table of tables.filter(each => each !== 'upload')) {
    expect(after[table] - before[table], table).toBe(50)
  }
  const bytes = files.reduce((sum, each) => sum + each.length, 0)
  expect(after.used - before.used).toBe(50 + bytes)
  expect(after.own - before.own).toBe(50 + bytes)
  expect([after.files - before.files, after.reserved]).toEqual([50, 0])
  for (const [at, result] of results.entries()) {
    if (!('request' in result)) throw new Error('no request')
    const { request } = result
    expect(request).toMatchObject({ name: `small ${at}.pdf`, size: 1000 + at, state: 'done' })
    const deposit = await ada.call(getDeposit, { id: request.deposit_id ?? '' })
    expect(deposit).toMatchObject({ original: items[at]?.original, stored: items[at]?.original })
    expect(deposit.leaf_hash).toBe(request.leaf_hash)
  }
  const asked = items.slice(0, 20).map(({ original }) => ({ sha256: original }))
  const { items: verdicts } = await ada.call(verify, { items: asked })
  expect(new Set(verdicts.map(({ verdict }) => verdict))).toEqual(new Set(['authentic']))
  const history = await ada.call(listRequests, { kind: 'deposit', limit: 50 })
  expect(history.map(({ name }) => name)).toEqual(items.map(({ name }) => name).toReversed())
})

test('numbers the events of a call without a gap, in the order of the items', async () => {
  const { files, items } = smallFiles(5)
  const results = await postAcceptedBatch(app, ada, items, files)
  const seqs = results.map(result => ('request' in result ? result.request.seq : 0))
  expect(seqs).toEqual(seqs.map((_seq, at) => (seqs[0] ?? 0) + at))
  const { rows } = await app.owner.query(
    'select payload from event where seq = any($1) and company_id = $2 order by seq',
    [seqs, app.companies[ada.host]]
  )
  expect(rows.map(({ payload }) => payload.seq)).toEqual(seqs)
  expect(rows.map(({ payload }) => payload.name)).toEqual(items.map(({ name }) => name))
})

test('refuses an item alone, and says why as POST /deposit does', async () => {
  const files = Array.from({ length: 9 }, () => randomBytes(500))
  const at = (index: number) => files[index] ?? Buffer.alloc(0)
  const other = await app.signUp('beta.localhost')
  const items = [
    batchItem(at(0)),
    batchItem(at(1), { category: randomUUID() }),
    batchItem(at(2), { category: other.category }),
    batchItem(at(3), { stored: 'ab'.repeat(32), original: 'ab'.repeat(32) }),
    batchItem(at(4), { size: 499 }),
    batchItem(at(5), { name: 'e\u0301t\u00e9.pdf' }),
    batchItem(at(6), { colour: 'red' }),
    batchItem(at(7), { original: 'cd'.repeat(32) }),
    batchItem(at(8))
  ]
  const before = await traces()
  const results = await postAcceptedBatch(app, ada, items, files)
  expect(codes(results)).toEqual([
    'done',
    'category_unknown',
    'category_unknown',
    'transfer_corrupt',
    'transfer_corrupt',
    'invalid_input',
    'invalid_input',
    'fingerprint_invalid',
    'done'
  ])
  expect(results[5]).toMatchObject({ problem: { status: 400, fields: { name: { rule: 'nfc' } } } })
  const after = await traces()
  for (const table of ['deposit', 'request', 'idempotency', 'blob', 'files']) {
    expect(after[table] - before[table], table).toBe(2)
  }
  expect(after.used - before.used).toBe(2 + 1000)
})

test('refuses an empty file alone', async () => {
  const bytes = randomBytes(10)
  const items = [batchItem(Buffer.alloc(0)), batchItem(bytes)]
  const results = await postAcceptedBatch(app, ada, items, [Buffer.alloc(0), bytes])
  expect(codes(results)).toEqual(['file_empty', 'done'])
})

test('takes the names and the bytes as they come', async () => {
  const nasty = Buffer.from(`--${formBoundary}--\r\n\r\n--${formBoundary.slice(0, -1)}--\r\n`)
  const files = [nasty, Buffer.from('\r\n'), Buffer.alloc(70_000, '\r')]
  const items = files.map(bytes => batchItem(bytes, { name: 'été “№ 7”.pdf' }))
  const results = await postAcceptedBatch(app, ada, items, files)
  expect(codes(results)).toEqual(['done', 'done', 'done'])
  expect(results[0]).toMatchObject({ request: { name: 'été “№ 7”.pdf' } })
})

test('answers a file that was deposited before with that deposit, unless told again', async () => {
  const { files, items } = smallFiles(2)
  const [first] = await postAcceptedBatch(app, ada, items, files)
  const before = await traces()
  const anew = items.map(item => ({ ...item, key: randomUUID() }))
  const results = await postAcceptedBatch(app, ada, anew, files)
  expect(codes(results)).toEqual(['duplicate', 'duplicate'])
  expect(results[0]).toEqual({ duplicate: first && 'request' in first ? first.request : undefined })
  const after = await traces()
  expect({ ...after, idempotency: before.idempotency }).toEqual(before)
  const again = anew.map(item => ({ ...item, key: randomUUID(), again: true }))
  expect(codes(await postAcceptedBatch(app, ada, again, files))).toEqual(['done', 'done'])
  expect((await traces()).blob).toBe(before.blob)
})

test('notices that two items of a call are one file', async () => {
  const bytes = randomBytes(300)
  const items = [
    batchItem(bytes),
    batchItem(bytes),
    batchItem(bytes, { again: true, name: 'copy.pdf' })
  ]
  const before = await traces()
  const results = await postAcceptedBatch(app, ada, items, [bytes, bytes, bytes])
  expect(codes(results)).toEqual(['done', 'duplicate', 'done'])
  const [first, second] = results
  if (!first || !second || !('request' in first) || !('duplicate' in second)) throw new Error('no')
  expect(second.duplicate.id).toBe(first.request.id)
  const after = await traces()
  expect([after.blob - before.blob, after.deposit - before.deposit]).toEqual([1, 2])
  const { rows } = await app.owner.query('select refs from blob where size = 300')
  expect(rows).toEqual([{ refs: 2 }])
})

test('answers a repeated call with the same results and records nothing twice', async () => {
  const { files, items } = smallFiles(4)
  const form = batchForm(items, files)
  const first = await postBatch(app, ada, form)
  const before = await traces()
  const again = await postBatch(app, ada, form)
  const replayed = first.body.results.map((result: object) => ({ ...result, replayed: true }))
  expect(again.body.results).toEqual(replayed)
  expect(await traces()).toEqual(before)
})

test('records once what is sent twice at the same time', async () => {
  const { files, items } = smallFiles(20)
  const form = batchForm(items, files)
  const reversed = batchForm(items.toReversed(), files.toReversed())
  const before = await traces()
  const [one, two] = await Promise.all([postBatch(app, ada, form), postBatch(app, ada, reversed)])
  const idsOf = ({ body }: { body: { results: { request: { id: string } }[] } }) =>
    body.results.map(({ request }) => request.id)
  expect(idsOf(one)).toEqual(idsOf(two).toReversed())
  expect((await traces()).deposit - before.deposit).toBe(20)
})

test('shares its keys with POST /deposit', async () => {
  const bytes = randomBytes(40)
  const { key, ...item } = batchItem(bytes, { category: ada.category })
  const [result] = await postAcceptedBatch(app, ada, [{ key, ...item }], [bytes])
  const single = await ada.call(createDeposit, item, { idempotencyKey: key })
  expect(single).toEqual(result)
  await expect(
    ada.call(createDeposit, { ...item, name: 'other.pdf' }, { idempotencyKey: key })
  ).rejects.toMatchObject({ code: 'idempotency_key_reused' })
})

test('goes on with an upload of the same file that is open', async () => {
  const bytes = randomBytes(60)
  const { key, ...item } = batchItem(bytes, { category: ada.category })
  const open = await ada.call(createDeposit, item, { idempotencyKey: randomUUID() })
  if (!('upload' in open)) throw new Error('no upload')
  const [result] = await postAcceptedBatch(app, ada, [{ key, ...item }], [bytes])
  expect(result).toMatchObject({ upload: open.upload, continued: true })
})

test('refuses a key that came with other bytes, in this call or before', async () => {
  const [one, two, three] = [randomBytes(20), randomBytes(20), randomBytes(20)] as const
  const key = randomUUID()
  const results = await postAcceptedBatch(
    app,
    ada,
    [batchItem(one, { key }), batchItem(two, { key }), batchItem(one, { key })],
    [one, two, one]
  )
  expect(codes(results)).toEqual(['done', 'idempotency_key_reused', 'done'])
  expect(results[2]).toEqual({ ...results[0], replayed: true })
  const later = await postAcceptedBatch(app, ada, [batchItem(three, { key })], [three])
  expect(codes(later)).toEqual(['idempotency_key_reused'])
})

test('refuses an item alone while another call holds its key', async () => {
  const { files, items } = smallFiles(3)
  let results: BatchResults = []
  await callWithKeyInUse(app, ada.id, 'POST /deposit', async key => {
    const held = items.map((item, at) => (at === 1 ? { ...item, key } : item))
    results = await postAcceptedBatch(app, ada, held, files)
    return { status: 0, headers: {}, body: Buffer.alloc(0) }
  })
  expect(codes(results)).toEqual(['done', 'idempotency_in_flight', 'done'])
  expect(results[1]).toMatchObject({ problem: { status: 409, retry_after: 2 } })
})

test('refuses the only item of a batch while another call holds its key', async () => {
  const { files, items } = smallFiles(1)
  let results: BatchResults = []
  await callWithKeyInUse(app, ada.id, 'POST /deposit', async key => {
    const held = items.map(item => ({ ...item, key }))
    results = await postAcceptedBatch(app, ada, held, files)
    return { status: 0, headers: {}, body: Buffer.alloc(0) }
  })
  expect(codes(results)).toEqual(['idempotency_in_flight'])
})

test('frees the key of a refused item', async () => {
  const bytes = randomBytes(30)
  const item = batchItem(bytes, { category: randomUUID() })
  expect(codes(await postAcceptedBatch(app, ada, [item], [bytes]))).toEqual(['category_unknown'])
  const mended = { ...item, category: ada.category }
  expect(codes(await postAcceptedBatch(app, ada, [mended], [bytes]))).toEqual(['done'])
})

test('stores no bytes where the category takes fingerprints', async () => {
  const { files, items } = smallFiles(3)
  await app.owner.query(`update category set store = 'fingerprint' where id = $1`, [ada.category])
  const before = await traces()
  const results = await postAcceptedBatch(app, ada, items, files)
  await app.owner.query(`update category set store = 'file' where id = $1`, [ada.category])
  expect(results[0]).toMatchObject({ request: { state: 'done', store: 'fingerprint' } })
  const after = await traces()
  expect([after.files, after.blob, after.used]).toEqual([
    before.files,
    before.blob,
    before.used + 3
  ])
})

test('records a reduced picture with both fingerprints', async () => {
  const bytes = randomBytes(900)
  const original = 'ef'.repeat(32)
  const picture = { w: 600, h: 400, type: 'image/jpeg' }
  const transform = {
    kind: 'image-recompress',
    quality: 70,
    tool: 'test',
    from: { bytes: 4_000_000, ...picture, w: 6000, h: 4000 },
    to: { bytes: 900, ...picture }
  }
  const item = batchItem(bytes, { original, media_type: 'image/jpeg', transform })
  const [result] = await postAcceptedBatch(app, ada, [item], [bytes])
  if (!result || !('request' in result)) throw new Error('no request')
  const deposit = await ada.call(getDeposit, { id: result.request.deposit_id ?? '' })
  expect(deposit).toMatchObject({ original, stored: item.stored, transform })
})

test('charges to the limit and refuses the rest with figures', async () => {
  await using small = await makeApp({ limits: { max_requests: 4, max_storage: 4000 } })
  const eve = await small.signUp()
  const { idempotency: kept } = await traces(small)
  const files = [1000, 3001, 1000, 900, 1000, 100].map(length => randomBytes(length))
  const results = await postAcceptedBatch(
    small,
    eve,
    files.map(bytes => batchItem(bytes)),
    files
  )
  expect(codes(results)).toEqual([
    'done',
    'storage_limit_reached',
    'done',
    'done',
    'done',
    'request_limit_reached'
  ])
  expect(results[1]).toMatchObject({ problem: { status: 413, used: 1000, limit: 4000 } })
  expect(results[5]).toMatchObject({ problem: { status: 429, used: 4, limit: 4, resets_at: null } })
  const { usage_remaining } = await eve.call(getOwnAccount, {})
  expect(usage_remaining).toEqual({ requests: 0, storage: 100 })
  expect(await traces(small)).toMatchObject({
    deposit: 4,
    files: 4,
    blob: 4,
    idempotency: kept + 4
  })
})

test('never exceeds a limit, however many calls race for it', async () => {
  await using small = await makeApp({ limits: { max_requests: 25, max_storage: 1_000_000 } })
  const eve = await small.signUp()
  const bob = await small.signUp()
  const { idempotency: kept } = await traces(small)
  const calls = [eve, eve, bob, bob].map(person => {
    const { files, items } = smallFiles(10)
    return postAcceptedBatch(small, person, items, files)
  })
  const outcomes = (await Promise.all(calls)).flat()
  const done = codes(outcomes).filter(code => code === 'done')
  expect(done).toHaveLength(25)
  expect(new Set(codes(outcomes))).toEqual(new Set(['done', 'request_limit_reached']))
  const after = { deposit: 25, blob: 25, files: 25, idempotency: kept + 25 }
  expect(await traces(small)).toMatchObject(after)
  const { rows } = await small.owner.query(`select used::int from usage where kind = 'requests'`)
  expect(rows).toEqual([{ used: 25 }])
})

const one = randomBytes(100)
const whole = () => batchForm([batchItem(one)], [one])

test.each<[string, () => Uint8Array, number, string, Record<string, string>?]>([
  ['51 items', () => batchForm(smallFiles(51).items, smallFiles(51).files), 422, 'too_many_items'],
  ['no item', () => batchForm([], []), 400, 'invalid_input'],
  ['items that are no list', () => batchForm({ a: 1 }, []), 400, 'invalid_input'],
  ['items that are no JSON', () => batchForm('[{', []), 400, 'invalid_input'],
  ['a file too few', () => batchForm(smallFiles(2).items, [one]), 400, 'invalid_input'],
  ['a file too many', () => batchForm([batchItem(one)], [one, one]), 400, 'invalid_input'],
  [
    'files before the items',
    () => Buffer.concat([formPart('file', one), whole()]),
    400,
    'invalid_input'
  ],
  ['a form without its end', () => whole().subarray(0, -6), 400, 'invalid_input'],
  ['bytes that are no form', () => randomBytes(5000), 400, 'invalid_input'],
  ['nothing', () => Buffer.alloc(0), 400, 'invalid_input'],
  [
    'a file over 1 MiB',
    () => batchForm([batchItem(one)], [randomBytes(maxBytesPerBatchFile + 1)]),
    413,
    'body_too_large'
  ],
  ['a body over 8 MiB', () => Buffer.alloc(maxDepositBatchBodyBytes + 1), 413, 'body_too_large'],
  [
    'JSON',
    () => Buffer.from('[]'),
    415,
    'unsupported_media_type',
    { 'content-type': 'application/json' }
  ],
  [
    'a form without a boundary',
    whole,
    415,
    'unsupported_media_type',
    { 'content-type': 'multipart/form-data' }
  ],
  ['a compressed form', whole, 415, 'unsupported_media_type', { 'content-encoding': 'gzip' }],
  ['a bad token', whole, 401, 'unauthenticated', { authorization: 'Bearer nonsense' }]
])('refuses %s and keeps nothing', async (_what, body, status, code, headers) => {
  const before = await traces()
  const answer = await postBatch(app, ada, body(), headers)
  expect([answer.status, answer.body.code]).toEqual([status, code])
  expect(await traces()).toEqual(before)
})

test('takes a body of 8 MiB in chunks, and not a byte more', async () => {
  const files = Array.from({ length: 8 }, () => randomBytes(maxBytesPerBatchFile - 2000))
  const form = batchForm(
    files.map(bytes => batchItem(bytes)),
    files
  )
  const send = (body: Uint8Array) =>
    app.request(`api.${ada.host}`, {
      method: 'POST',
      path: createDepositBatch.path,
      headers: {
        authorization: `Bearer ${ada.token}`,
        'content-type': batchContentType,
        'transfer-encoding': 'chunked'
      },
      body
    })
  const taken = await send(form)
  expect([taken.status, form.length <= maxDepositBatchBodyBytes]).toEqual([200, true])
  const before = await traces()
  const more = Buffer.concat([form, Buffer.alloc(maxDepositBatchBodyBytes - form.length + 1)])
  expect((await send(more)).status).toBe(413)
  expect(await traces()).toEqual(before)
})

test('asks who calls before it reads a byte', async () => {
  const socket = net.connect(await app.listen(), '127.0.0.1')
  socket.write(
    `POST ${createDepositBatch.path} HTTP/1.1\r\nhost: api.${ada.host}\r\n` +
      `content-type: ${batchContentType}\r\ncontent-length: 8000000\r\n\r\n`
  )
  const [answer] = await Promise.all([
    new Promise(resolve => socket.once('data', bytes => resolve(String(bytes))))
  ])
  expect(answer).toMatch(/^HTTP\/1.1 401 /)
  socket.destroy()
})

test.each([
  ['in the items', 60],
  ['in the first file', 1500],
  ['between two files', 'between'],
  ['before its last byte', 'end']
] as const)('keeps nothing of a call that breaks off %s', async (_where, place) => {
  const { files, items } = smallFiles(3)
  const form = batchForm(items, files)
  const between = form.indexOf(files[1] ?? '') - 10
  const end = place === 'between' ? between : place === 'end' ? form.length - 1 : place
  const before = await traces()
  const logged = app.logged.length
  const socket = net.connect(await app.listen(), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST ${createDepositBatch.path} HTTP/1.1\r\nhost: api.${ada.host}\r\n` +
      `authorization: Bearer ${ada.token}\r\ncontent-type: ${batchContentType}\r\n` +
      // it lies: one byte more than ever comes
      `content-length: ${form.length + 1}\r\n\r\n`
  )
  socket.write(form.subarray(0, end))
  await sleep(100)
  socket.destroy()
  await until(() => app.logged.length > logged)
  expect(await traces()).toEqual(before)
  expect(app.logged.slice(logged).filter(({ level }) => level === 'error')).toEqual([])
  // the same call, whole, is taken
  expect(codes(await postAcceptedBatch(app, ada, items, files))).toEqual(['done', 'done', 'done'])
})

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; !isTrue() && tries < 1000; tries++) await sleep(10)
}

test('cuts a caller whose bytes come too slowly, and keeps nothing', async () => {
  await using slow = await makeApp({ slowest: { windowMs: 100, bytesPerSecond: 100_000 } })
  const eve = await slow.signUp()
  const before = await traces(slow)
  const form = whole()
  const socket = net.connect(await slow.listen(), '127.0.0.1')
  const closed = new Promise(resolve => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.write(
    `POST ${createDepositBatch.path} HTTP/1.1\r\nhost: api.${eve.host}\r\n` +
      `authorization: Bearer ${eve.token}\r\ncontent-type: ${batchContentType}\r\n` +
      `content-length: ${form.length}\r\n\r\n`
  )
  socket.write(form.subarray(0, -10))
  await closed
  expect(await traces(slow)).toEqual(before)
})

test('takes six batches of a person at a time, and more of others', async () => {
  const { stage } = app.deps.blobs
  const disk = Promise.withResolvers<void>()
  app.deps.blobs.stage = async (...file) => {
    await disk.promise
    return stage(...file)
  }
  const send = (person: TestPerson) => {
    const { files, items } = smallFiles(1)
    return postBatch(app, person, batchForm(items, files))
  }
  const bob = await app.signUp()
  const calls = Array.from({ length: 7 }, () => send(ada))
  const refused = await Promise.race(calls)
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', used: 6, limit: 6 } })
  expect(refused.headers['retry-after']).toBe('1')
  const others = send(bob)
  disk.resolve()
  const statuses = (await Promise.all([...calls, others])).map(({ status }) => status)
  app.deps.blobs.stage = stage
  expect(statuses.toSorted()).toEqual([...Array.from({ length: 7 }, () => 200), 429])
  expect((await send(ada)).status).toBe(200)
})

test('refuses the file that the disk does not take, and no other', async () => {
  const { stage } = app.deps.blobs
  const { files, items } = smallFiles(3)
  app.deps.blobs.stage = async (company, id, bytes) => {
    if (bytes.length === 1001) throw Object.assign(new Error('EIO'), { code: 'EIO' })
    return stage(company, id, bytes)
  }
  const results = await postAcceptedBatch(app, ada, items, files)
  app.deps.blobs.stage = stage
  expect(codes(results)).toEqual(['done', 'not_stored', 'done'])
  expect(codes(await postAcceptedBatch(app, ada, items, files))).toEqual(['done', 'done', 'done'])
})

test('keeps nothing where the transaction fails, and takes the call again', async () => {
  const { keep } = app.deps.blobs
  const { files, items } = smallFiles(3)
  const before = await traces()
  let moved = 0
  app.deps.blobs.keep = async (...file) => {
    moved += 1
    if (moved === 3) throw new Error('the disk fails')
    return keep(...file)
  }
  const { status, body } = await postBatch(app, ada, batchForm(items, files))
  app.deps.blobs.keep = keep
  expect([status, body.code]).toEqual([500, 'internal'])
  const after = await traces()
  expect({ ...after, files: 0 }).toEqual({ ...before, files: 0 })
  expect(codes(await postAcceptedBatch(app, ada, items, files))).toEqual(['done', 'done', 'done'])
})
