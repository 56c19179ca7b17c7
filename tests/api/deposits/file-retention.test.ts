import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getDeposit } from '../../../src/contract/deposits.ts'
import { getRequest } from '../../../src/contract/requests.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { checkFilesAndDeleteOrphans } from '../../../src/server/domain/deposits/file-checks.ts'
import { eraseExpiredFiles } from '../../../src/server/domain/deposits/file-retention.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { batchItem, postAcceptedBatch } from '../../helpers/deposits/batches.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({ limits: { max_storage: 1_000_000 } })
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

const day = 86_400_000
const retain = (retention: string | null) =>
  app.owner.query('update category set retention = $1 where id = $2', [retention, ada.category])
const erase = (days: number) =>
  eraseExpiredFiles({ ...app.deps, clock: () => new Date(Date.now() + days * day) }, ada.company)
const storageOf = async (person: TestPerson) => {
  const { usage } = await person.call(getOwnAccount, {})
  return [usage?.storage_used, usage?.own?.storage_used]
}
const contentOf = async (id: string) => (await app.content(ada, id)).status

async function deposit(way: 'tus' | 'batch' | 'PUT', bytes: Buffer) {
  if (way === 'tus') return app.deposit(ada, bytes)
  if (way === 'batch') {
    const item = batchItem(bytes, { category: ada.category, again: true })
    const [result] = await postAcceptedBatch(app, ada, [item], [bytes])
    if (!result || !('request' in result)) throw new Error('the batch has no request')
    return result.request
  }
  return JSON.parse((await app.put(ada, bytes)).body.toString())
}

test.each(['tus', 'batch', 'PUT'] as const)(
  'erases a file of %s at the end of its retention and gives its storage back',
  async way => {
    const before = await storageOf(ada)
    const bytes = randomBytes(1000)
    await retain('P30D')
    const made = await deposit(way, bytes)
    // as was promised when it was deposited
    await retain('P1D')
    const id = made.deposit_id ?? ''
    const kept = Date.parse(made.keep_until ?? '') - Date.now()
    expect(kept / day).toBeCloseTo(30, 1)
    await erase(29)
    expect(await contentOf(id)).toBe(200)

    await erase(31)
    expect(await contentOf(id)).toBe(404)
    expect(await storageOf(ada)).toEqual(before)
    const request = await ada.call(getRequest, { id: made.id })
    expect(request).toMatchObject({ state: 'done', deposit_id: id })
    expect(request.erased).toBeDefined()
    expect(request.seq).toBeGreaterThan(made.seq)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    expect(await ada.call(getDeposit, { id })).toMatchObject({ original: sha256, stored: sha256 })
    const { items } = await app.call(ada.host, verify, { items: [{ sha256 }] })
    expect(items[0]).toMatchObject({ verdict: 'authentic', findings: [{ match: 'original' }] })
    const files = []
    for await (const tag of app.deps.blobs.listKept(ada.company)) files.push(tag)
    expect(files).toEqual([])
  }
)

test('keeps a file that another deposit still needs', async () => {
  const bytes = randomBytes(1000)
  await retain('P1D')
  const short = await deposit('batch', bytes)
  await retain(null)
  const long = await deposit('tus', bytes)
  await erase(2)
  expect(await contentOf(short.deposit_id ?? '')).toBe(404)
  expect(await contentOf(long.deposit_id ?? '')).toBe(200)
  expect(long.keep_until).toBeUndefined()
  expect(await checkFilesAndDeleteOrphans(app.deps, ada.company, 1)).toMatchObject({
    missing: [],
    damaged: []
  })
})

test('erases a file that two deposits share when the last of them is due', async () => {
  const before = await storageOf(ada)
  const bytes = randomBytes(1000)
  await retain('P1D')
  const made = [await deposit('batch', bytes), await deposit('tus', bytes)]
  await retain('P3D')
  const last = await deposit('PUT', bytes)
  await erase(2)
  for (const { deposit_id } of made) expect(await contentOf(deposit_id ?? '')).toBe(404)
  expect(await contentOf(last.deposit_id ?? '')).toBe(200)
  await erase(4)
  expect(await contentOf(last.deposit_id ?? '')).toBe(404)
  expect(await storageOf(ada)).toEqual(before)
  expect(await checkFilesAndDeleteOrphans(app.deps, ada.company, 1)).toMatchObject({
    missing: [],
    removed: 0
  })
})

test('leaves a file whose deletion failed to the next check of the files', async () => {
  const before = await storageOf(ada)
  await retain('P1D')
  const { deposit_id } = await deposit('batch', randomBytes(1000))
  const blobs = {
    ...app.deps.blobs,
    discardKept: () => Promise.reject(new Error('the disk is gone'))
  }
  const clock = () => new Date(Date.now() + 2 * day)
  const erasure = eraseExpiredFiles({ ...app.deps, blobs, clock }, ada.company)
  await expect(erasure).rejects.toThrow('the disk is gone')
  // what is promised holds all the same, and once
  expect(await contentOf(deposit_id ?? '')).toBe(404)
  await erase(2)
  expect(await storageOf(ada)).toEqual(before)
  const check = await checkFilesAndDeleteOrphans({ ...app.deps, clock }, ada.company, 0)
  expect(check).toMatchObject({ missing: [], removed: 1 })
})

test('keeps a file that is deposited again while it is erased', async () => {
  for (let round = 0; round < 5; round++) {
    const bytes = randomBytes(1000)
    await retain('P1D')
    await deposit('batch', bytes)
    await retain(null)
    const [again] = await Promise.all([deposit('batch', bytes), erase(2)])
    expect(again.state).toBe('done')
    expect(await contentOf(again.deposit_id ?? '')).toBe(200)
  }
  expect(await checkFilesAndDeleteOrphans(app.deps, ada.company, 1)).toMatchObject({
    missing: [],
    damaged: []
  })
})

test('erases more files than fit into one transaction, and each once', async () => {
  await retain('P1D')
  const before = await storageOf(ada)
  const files = Array.from({ length: 60 }, () => randomBytes(10))
  const items = files.map(bytes => batchItem(bytes, { category: ada.category }))
  await postAcceptedBatch(app, ada, items.slice(0, 30), files.slice(0, 30))
  await postAcceptedBatch(app, ada, items.slice(30), files.slice(30))
  // two processes at once
  await Promise.all([erase(2), erase(2)])
  while (await erase(2));
  expect(await storageOf(ada)).toEqual(before)
  const { rows } = await app.owner.query(
    'select count(*)::int as due from deposit where keep_until is not null and blob_tag is not null'
  )
  expect(rows[0].due).toBe(0)
})
