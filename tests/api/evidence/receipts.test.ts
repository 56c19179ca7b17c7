import { createHash, randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyFile } from '../../../bin/verify-command.ts'
import { createDeposit, getDeposit, Receipt } from '../../../src/contract/deposits.ts'
import { getRequest } from '../../../src/contract/requests.ts'
import { fromUtf8 } from '../../../src/core/bytes.ts'
import { canonicalize, type Json } from '../../../src/core/evidence/canonical-json.ts'
import { parseLogProof } from '../../../src/core/evidence/checkpoints.ts'
import { depositFields, leafHash } from '../../../src/core/evidence/deposit-leaf.ts'
import { parseLogPolicy } from '../../../src/core/evidence/log-policy.ts'
import { verifyInclusion } from '../../../src/core/evidence/merkle-proofs.ts'
import { findSigners } from '../../../src/core/evidence/signed-notes.ts'
import { verify } from '../../../src/core/evidence/verification.ts'
import { createServiceSignals } from '../../../src/server/adapters/signals.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import { retireLog } from '../../../src/server/domain/evidence/log-retirement.ts'
import { logIdOf } from '../../../src/server/domain/evidence/logs.ts'
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeApiKey } from '../../helpers/cases.ts'
import { uploadOf } from '../../helpers/client.ts'
import { postAcceptedBatch, smallFiles } from '../../helpers/deposits/batches.ts'
import { publishAll } from '../../helpers/evidence/published-log.ts'
import { makeTemporaryFolder } from '../../helpers/temporary-folder.ts'

let app: TestApp
let ada: TestPerson
/** The trusted keys, as the log itself names them at its beginning. */
let policy: string
beforeAll(async () => {
  app = await makeApp({ publishesLogs: true })
  ada = await app.signUp()
  await receiptOf(await depositOf(randomBytes(10)))
  const { rows } = await app.owner.query(
    'select leaf from log_leaf where company_id = $1 and idx = 0',
    [ada.company]
  )
  policy = `log ${JSON.parse(rows[0].leaf).log}\nquorum none\n`
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => setState('running'))

describe('a receipt', () => {
  test('proves a file to whoever has a key of the log, and to nobody another file', async () => {
    const bytes = randomBytes(3000)
    const id = await depositOf(bytes, 'été "1".pdf')
    const answer = await get(id)
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/vnd.vidimus.receipt+json',
      'content-length': String(answer.body.length),
      'content-disposition': `attachment; filename="_t_ _1_.pdf.vidimus.json"; filename*=UTF-8''%C3%A9t%C3%A9%20_1_.pdf.vidimus.json`,
      'cache-control': 'no-store'
    })
    const folder = await makeTemporaryFolder()
    const paths = Object.fromEntries(
      ['file', 'other', 'receipt', 'policy'].map(name => [name, join(folder, name)])
    )
    const contents = { file: bytes, other: randomBytes(3000), receipt: answer.body, policy }
    for (const [name, content] of Object.entries(contents))
      await writeFile(paths[name] ?? '', content)
    expect(await verifyFile(paths)).toMatchObject({
      status: 11,
      facts: {
        verdict: 'authentic',
        facts: {
          match: 'original',
          original_declared: false,
          issuer: 'pinned',
          depositor: 'disclosed'
        },
        record: { origin: 'acme.localhost/log', id },
        fields: {
          name: 'été "1".pdf',
          bytes: '3000',
          media: 'application/pdf',
          visibility: 'public'
        },
        unknown_fields: []
      }
    })
    const { policy: _, ...withoutPolicy } = paths
    expect(await verifyFile(withoutPolicy)).toMatchObject({ status: 13 })
    expect(await verifyFile({ ...paths, file: paths['other'] })).toMatchObject({ status: 40 })
  })

  test('has every member that its format names, in canonical JSON of at most 5 kB', async () => {
    const id = await depositOf(randomBytes(100))
    const { body } = await get(id)
    const text = body.toString()
    const receipt = Receipt.parse(JSON.parse(text))
    expect(`${canonicalize(receipt as Json)}\n`).toBe(text)
    expect(body.length).toBeLessThanOrEqual(5000)
    const { leaf_hash } = await ada.call(getDeposit, { id })
    const { rows } = await app.owner.query(
      `select log_state.origin, leaf, (select leaf from log_leaf where company_id = $1 and idx = 0) as policy
         from log_leaf join log_state using (company_id, log_no) where leaf_id = $2`,
      [ada.company, id]
    )
    const [{ origin, leaf, policy: first }] = rows
    expect(receipt).toEqual({
      format: 'vidimus/receipt@v1',
      log: { name: 'Acme', origin, vkey: JSON.parse(first).log },
      leaf,
      open: expect.anything(),
      proof: expect.any(String),
      keys: [{ leaf: first, proof: expect.stringContaining('index 0\n') }],
      timestamps: []
    })
    expect(Object.keys(receipt.open)).toEqual(depositFields)
    expect(Buffer.from(leafHash(receipt.leaf)).toString('hex')).toBe(leaf_hash)
    // proved by the first signature with it, not by the newest
    expect(parseLogProof(receipt.keys[0]?.proof ?? '').checkpoint.size).toBeLessThan(
      parseLogProof(receipt.proof).checkpoint.size
    )
  })

  test('of a reduced picture fits both files, and says that only one was kept', async () => {
    const stored = randomBytes(5000)
    const original = randomBytes(9000)
    const picture = { w: 600, h: 450, type: 'image/jpeg' }
    const answer = await ada.call(createDeposit, {
      name: 'photo.jpg',
      size: stored.length,
      media_type: 'image/jpeg',
      original: sha256(original),
      stored: sha256(stored),
      transform: {
        kind: 'image-recompress',
        quality: 70,
        tool: 'vidimus/1 canvas',
        from: { ...picture, bytes: 9000 },
        to: { ...picture, bytes: 5000 }
      },
      category: ada.category
    })
    const { request, upload } = uploadOf(answer)
    await app.patch(ada, upload, stored)
    const { deposit_id = '' } = await app.until(ada, request.id, ['done'])
    const receipt = await receiptOf(deposit_id)
    expect(judge(receipt, original)).toMatchObject({
      outcome: { verdict: 'authentic' },
      facts: { match: 'original', original_declared: true }
    })
    expect(judge(receipt, stored)).toMatchObject({
      outcome: { verdict: 'authentic' },
      facts: { match: 'stored_copy' }
    })
  })

  test('of a fingerprint without a file says that nothing was kept', async () => {
    await app.owner.query(`update category set store = 'fingerprint' where id = $1`, [ada.category])
    const bytes = randomBytes(70)
    const answer = await app.put(ada, bytes)
    await app.owner.query(`update category set store = 'file' where id = $1`, [ada.category])
    const { deposit_id } = JSON.parse(answer.body.toString())
    const judged = judge(await receiptOf(deposit_id), bytes)
    expect(judged).toMatchObject({
      outcome: { verdict: 'authentic' },
      facts: { match: 'original', original_declared: true }
    })
    expect(judged.fields.get('stored')).toBe('')
  })

  test('in the format of C2SP proves the leaf that it contains', async () => {
    const id = await depositOf(randomBytes(100), 'a.pdf')
    const { headers, body } = await get(id, { format: 'tlog-proof' })
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="a.pdf.tlog-proof"; filename*=UTF-8''a.pdf.tlog-proof`
    })
    const { extra, index, steps, checkpoint } = parseLogProof(body.toString())
    const leaf = fromUtf8(extra ?? new Uint8Array())
    expect(JSON.parse(leaf)).toMatchObject({ type: 'deposit', id })
    const { size, root, note } = checkpoint
    expect(verifyInclusion({ index, size, leafHash: leafHash(leaf), root, steps })).toBe(true)
    const { logs } = parseLogPolicy(policy)
    expect(findSigners(note, logs)).toEqual(logs)
  })

  test('has its size told without being sent', async () => {
    const id = await depositOf(randomBytes(100))
    await receiptOf(id)
    const [head, whole] = [await get(id, {}, { method: 'HEAD' }), await get(id)]
    expect(head.body.length).toBe(0)
    expect([head.status, head.headers['content-length']]).toEqual([200, String(whole.body.length)])
  })

  test('is where the answers to a deposit say', async () => {
    const { headers, body } = await app.put(ada, randomBytes(50))
    const { id, deposit_id, receipt } = JSON.parse(body.toString())
    expect(receipt).toBe(`/deposit/${deposit_id}/receipt`)
    expect(headers['link']).toBe(`<${receipt}>; rel="describedby"`)
    expect(await ada.call(getRequest, { id })).toMatchObject({ receipt })
    const { files, items } = smallFiles(1)
    const [result] = await postAcceptedBatch(app, ada, items, files)
    if (!result || !('request' in result)) throw new Error('the batch was refused')
    expect(result.request.receipt).toBe(`/deposit/${result.request.deposit_id}/receipt`)
    expect(
      (await app.request(`api.${ada.host}`, { path: receipt, headers: bearer(ada.token) })).status
    ).toBe(200)
  })
})

describe('a receipt is given', () => {
  test('to its depositor alone', async () => {
    const id = await depositOf(randomBytes(100))
    const [grace, stranger] = [await app.signUp(), await app.signUp('beta.localhost')]
    expect(await codeOf(get(id, {}, { token: grace.token }))).toBe('not_found')
    expect(await codeOf(get(id, {}, { token: stranger.token, host: stranger.host }))).toBe(
      'not_found'
    )
    expect(await codeOf(get(id, {}, { token: '' }))).toBe('unauthenticated')
    expect(await codeOf(get('k7Qx2bVdT0mZr9LpYw3HsA'))).toBe('not_found')
    expect(await codeOf(get(id, { format: 'pdf' }))).toBe('invalid_input')
  })

  // whoever may only deposit could read all that the person has deposited, because ids are public
  test('to programs that may read the history', async () => {
    const id = await depositOf(randomBytes(100))
    const reader = await makeApiKey(app, ada, { scopes: ['history'] })
    expect((await get(id, {}, { token: reader.key })).status).toBe(200)
    const { key } = await makeApiKey(app, ada, { scopes: ['deposit', 'verify', 'registers'] })
    expect(await codeOf(get(id, {}, { token: key }))).toBe('scope_missing')
  })

  test('to a key of the company, of what it has deposited', async () => {
    const { key } = await makeApiKey(app, ada, {
      isCompanys: true,
      scopes: ['deposit', 'history']
    })
    const bytes = randomBytes(60)
    const answer = await app.put({ ...ada, token: key }, bytes, { category: ada.category })
    const { deposit_id } = JSON.parse(answer.body.toString())
    const { body } = await get(deposit_id, {}, { token: key })
    expect(judge(body, bytes).outcome).toEqual({ verdict: 'authentic' })
    expect(await codeOf(get(deposit_id))).toBe('not_found')
  })
})

describe('before a record is sealed', () => {
  test('its receipt is waited for, for two seconds and without a place of the gate', async () => {
    const release = await holdLog()
    const id = await depositOf(randomBytes(100))
    const began = performance.now()
    // more than the gate has places for
    let ended = 0
    const calls = Array.from({ length: 40 }, () => get(id).finally(() => ended++))
    await ada.call(getDeposit, { id })
    expect(
      (await app.request(`api.${ada.host}`, { path: `/deposit/${id}`, headers: bearer(ada.token) }))
        .status
    ).toBe(200)
    expect(ended).toBe(0)
    const answers = await Promise.all(calls)
    expect(performance.now() - began).toBeGreaterThan(1900)
    for (const answer of answers) {
      expect([answer.status, answer.headers['retry-after']]).toEqual([409, '2'])
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'receipt_pending' })
    }
    await release()
    // the job that signs may have given up meanwhile, and looks again in five seconds
    await expect.poll(async () => (await get(id)).status, { timeout: 30_000 }).toBe(200)
  })

  test('its receipt comes as soon as another process has sealed it', async () => {
    await using own = await makeApp()
    const grace = await own.signUp()
    const { deposit_id } = await own.deposit(grace, randomBytes(100))
    const headers = bearer(grace.token)
    const call = own.request(`api.${grace.host}`, {
      path: `/deposit/${deposit_id}/receipt`,
      headers
    })
    await sleep(300)
    // whose signals get lost
    await publishAll({ ...own.deps, signals: createServiceSignals() }, grace.company)
    expect((await call).status).toBe(200)
  })

  test('it is not waited for while sealing is paused, and earlier receipts are given', async () => {
    const sealed = await depositOf(randomBytes(100))
    await receiptOf(sealed)
    await setState('behind')
    const id = await depositOf(randomBytes(100))
    const answer = await get(id)
    expect([answer.status, answer.headers['retry-after']]).toEqual([409, '60'])
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      code: 'receipt_pending',
      detail: expect.stringContaining('paused')
    })
    expect((await get(sealed)).status).toBe(200)
    await setState('no_checkpoint')
    expect(await codeOf(get(sealed))).toBe('receipt_pending')
    await setState('running')
    app.deps.signals.leaves.send(ada.company)
    await expect.poll(async () => (await get(id)).status, { timeout: 30_000 }).toBe(200)
  })

  test('it is not available while a published file is missing', async () => {
    const id = await depositOf(randomBytes(100))
    await receiptOf(id)
    const { rows } = await app.owner.query(
      'select origin from log_state where company_id = $1 order by log_no desc limit 1',
      [ada.company]
    )
    const tiles = join(app.folder, 'log', logIdOf(rows[0].origin), 'tile')
    await rename(tiles, `${tiles}.away`)
    expect(await codeOf(get(id))).toBe('unavailable')
    await rename(`${tiles}.away`, tiles)
    expect((await get(id)).status).toBe(200)
  })

  test('no receipt says that the log has a leaf that it has not', async () => {
    const id = await depositOf(randomBytes(100))
    await receiptOf(id)
    // as after a database that was restored, in which another record has taken the place
    const swap = () =>
      app.owner.query(`update log_leaf set leaf = reverse(leaf) where leaf_id = $1`, [id])
    await swap()
    const unnoticed = await get(id)
    expect([unnoticed.status, await codeOf(unnoticed)]).toEqual([500, 'internal'])
    await setState('forked')
    expect(await codeOf(get(id))).toBe('receipt_pending')
    await setState('running')
    await swap()
    expect((await get(id)).status).toBe(200)
  })
})

test('records of a retired log keep its receipts, and its successor gives those of the others', async () => {
  await using own = await makeApp()
  const grace = await own.signUp()
  const { socketDir, name: database } = own.database
  const db = await openDatabase({ socketDir, database, asOwner: true })
  const bytes = [randomBytes(80), randomBytes(80)]
  const receipts = []
  try {
    const ids = []
    for (const each of bytes) {
      ids.push((await own.deposit(grace, each)).deposit_id ?? '')
      if (ids.length === 1) await publishAll(own.deps, grace.company)
    }
    await retireLog({ ...own.deps, db }, grace.company)
    await publishAll(own.deps, grace.company)
    const ask = (id = '') => {
      const path = `/deposit/${id}/receipt`
      return own.request(`api.${grace.host}`, { path, headers: bearer(grace.token) })
    }
    for (const id of ids) receipts.push((await ask(id)).body)
    await rm(join(own.folder, 'log', logIdOf('acme.localhost/log')), { recursive: true })
    const gone = await ask(ids[0])
    expect(JSON.parse(gone.body.toString())).toMatchObject({ status: 410, code: 'receipt_gone' })
  } finally {
    await db.close()
  }
  const parsed = receipts.map(receipt => Receipt.parse(JSON.parse(receipt.toString())))
  expect(parsed.map(({ log }) => log.origin)).toEqual([
    'acme.localhost/log',
    'acme.localhost/log/2'
  ])
  for (const [at, { log }] of parsed.entries()) {
    const policies = [parseLogPolicy(`log ${log.vkey}\nquorum none\n`)]
    const verdicts = receipts.map((receipt, of) => {
      const input = { receipt, digest: `sha256:${sha256(bytes[of] ?? receipt)}` }
      return verify(input, { policies }, new Date()).outcome.verdict
    })
    expect(verdicts).toEqual(at === 0 ? ['authentic', 'matches'] : ['matches', 'authentic'])
  }
})

test('a receipt is gone with what it would disclose', async () => {
  const id = await depositOf(randomBytes(100))
  await receiptOf(id)
  await app.owner.query('delete from deposit_opening where record_id = $1', [id])
  const answer = await get(id)
  expect([answer.status, await codeOf(answer)]).toEqual([410, 'receipt_gone'])
})

/** Keeps the log from being signed. Returns the function that ends this. */
async function holdLog(): Promise<() => Promise<void>> {
  const client = await app.owner.connect()
  await client.query('begin')
  await client.query('select 1 from log_state where company_id = $1 for update', [ada.company])
  return async () => {
    await client.query('commit')
    client.release()
  }
}

function setState(state: string) {
  return app.owner.query('update log_state set state = $2 where company_id = $1', [
    ada.company,
    state
  ])
}

async function depositOf(bytes: Uint8Array, name?: string): Promise<string> {
  return (await app.deposit(ada, bytes, name)).deposit_id ?? ''
}

async function receiptOf(id: string): Promise<Buffer> {
  const answer = await get(id)
  expect(answer.status, answer.body.toString()).toBe(200)
  return answer.body
}

function get(
  id: string,
  query: Record<string, string> = {},
  { method = 'GET', token = ada.token, host = ada.host } = {}
): Promise<RawResponse> {
  const path = `/deposit/${id}/receipt?${new URLSearchParams(query)}`
  return app.request(`api.${host}`, { method, path, headers: bearer(token) })
}

function bearer(token: string): Record<string, string> {
  return token === '' ? {} : { authorization: `Bearer ${token}` }
}

async function codeOf(answer: RawResponse | Promise<RawResponse>): Promise<string> {
  return JSON.parse((await answer).body.toString()).code
}

function judge(receipt: Uint8Array, bytes: Uint8Array) {
  const input = { receipt, digest: `sha256:${sha256(bytes)}` }
  return verify(input, { policies: [parseLogPolicy(policy)] }, new Date())
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
