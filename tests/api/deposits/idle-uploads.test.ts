import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { getOwnAccount } from '../../../src/contract/users.ts'
import {
  endNextIdleUpload,
  releaseIdleUploadReservations
} from '../../../src/server/domain/deposits/idle-uploads.ts'
import type { CompanyId } from '../../../src/server/domain/deps.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { deleteOpenUploads, insertOpenUploads } from '../../helpers/deposits/open-uploads.ts'

const minute = 60

let app: TestApp
let acme: CompanyId
let ada: TestPerson
let bob: TestPerson
beforeEach(async () => {
  app = await makeApp({ limits: { max_storage: 1000 } })
  const [company] = Object.values(app.companies)
  if (!company) throw new Error('the company was not made')
  acme = company
  ada = await app.signUp()
  bob = await app.signUp()
})
afterEach(() => app[Symbol.asyncDispose]())

test('gives back the room of bytes that do not come, and keeps that of those that came', async () => {
  const bytes = randomBytes(800)
  const { request, upload } = await app.reserve(ada, bytes)
  expect((await app.patch(ada, upload, bytes.subarray(0, 300))).status).toBe(204)
  await expect(app.reserve(bob, randomBytes(600))).rejects.toMatchObject(full)
  app.wait(9 * minute)
  await releaseIdleUploadReservations(app.deps, acme)
  expect(await storage()).toEqual({ used: 0, reserved: 800 })
  app.wait(2 * minute)
  await releaseIdleUploadReservations(app.deps, acme)
  await releaseIdleUploadReservations(app.deps, acme)
  expect(await storage()).toEqual({ used: 0, reserved: 300 })
  expect(await ownStorage(ada)).toBe(300)

  const other = await app.reserve(bob, randomBytes(600))
  const refused = await app.patch(ada, upload, bytes.subarray(300), 300)
  expect([refused.status, JSON.parse(refused.body.toString())]).toMatchObject([413, full])
  expect(await offsetOf(ada, upload)).toBe('300')
  expect(await storage()).toEqual({ used: 0, reserved: 900 })

  await app.tus(bob, 'DELETE', other.upload)
  expect((await app.patch(ada, upload, bytes.subarray(300), 300)).status).toBe(204)
  expect(await app.until(ada, request.id, ['done', 'failed'])).toMatchObject({ state: 'done' })
  expect(await storage()).toEqual({ used: 800, reserved: 0 })
  expect([await ownStorage(ada), await ownStorage(bob)]).toEqual([800, 0])
})

test('takes calls that bring no byte for no progress', async () => {
  const bytes = randomBytes(800)
  const { upload } = await app.reserve(ada, bytes)
  await app.patch(ada, upload, bytes.subarray(0, 100))
  app.wait(9 * minute)
  expect((await app.patch(ada, upload, Buffer.alloc(0), 100)).status).toBe(204)
  expect((await app.patch(ada, upload, bytes, 0)).status).toBe(409)
  expect((await app.patch(ada, upload, bytes, 100)).status).toBe(413)
  app.wait(2 * minute)
  await releaseIdleUploadReservations(app.deps, acme)
  expect(await storage()).toEqual({ used: 0, reserved: 100 })
  app.wait(23 * 60 * minute)
  await app.patch(ada, upload, Buffer.alloc(0), 100)
  app.wait(60 * minute)
  expect(await endNextIdleUpload(app.deps, acme)).toBe(true)
  expect(await storage()).toEqual({ used: 0, reserved: 0 })
})

test('gives back of an upload that ends no more than it still holds', async () => {
  const first = await app.reserve(ada, randomBytes(400))
  const second = await app.reserve(ada, randomBytes(500))
  await app.patch(ada, second.upload, randomBytes(100))
  app.wait(11 * minute)
  await releaseIdleUploadReservations(app.deps, acme)
  await app.tus(ada, 'DELETE', first.upload)
  expect(await storage()).toEqual({ used: 0, reserved: 100 })
  app.wait(24 * 60 * minute)
  while (await endNextIdleUpload(app.deps, acme));
  expect(await storage()).toEqual({ used: 0, reserved: 0 })
})

test('lets exactly as many uploads go on at once as there is room for', async () => {
  await setRoom(null)
  const all: (Awaited<ReturnType<TestApp['reserve']>> & { bytes: Buffer; person: TestPerson })[] =
    []
  for (let n = 0; n < 8; n++) {
    const bytes = randomBytes(100)
    all.push({ bytes, person: n % 2 ? ada : bob, ...(await app.reserve(n % 2 ? ada : bob, bytes)) })
  }
  for (const { person, upload, bytes } of all)
    await app.patch(person, upload, bytes.subarray(0, 10))
  app.wait(11 * minute)
  await Promise.all([
    releaseIdleUploadReservations(app.deps, acme),
    releaseIdleUploadReservations(app.deps, acme)
  ])
  expect(await storage()).toEqual({ used: 0, reserved: 80 })
  await setRoom(80 + 3 * 90 + 50)
  const send = ({ person, upload, bytes }: (typeof all)[number]) =>
    app.patch(person, upload, bytes.subarray(10), 10)
  // three of a person move at a time
  const answers: { status: number }[] = []
  for (const some of [all.slice(0, 4), all.slice(4)])
    answers.push(...(await Promise.all(some.map(send))))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([
    204, 204, 204, 413, 413, 413, 413, 413
  ])
  for (const { person, request } of all.filter((_, n) => answers[n]?.status === 204)) {
    await app.until(person, request.id, ['done'])
  }
  expect(await storage()).toEqual({ used: 300, reserved: 50 })
})

test('opens at most 2,000 uploads of one person', async () => {
  await insertOpenUploads(app.owner, ada, 1999)
  const { upload } = await app.reserve(ada, randomBytes(10))
  await expect(app.reserve(ada, randomBytes(10))).rejects.toMatchObject({
    code: 'upload_limit_reached',
    figures: { used: 2000, limit: 2000 }
  })
  await app.reserve(bob, randomBytes(10))
  await app.tus(ada, 'DELETE', upload)
  const racing = Array.from({ length: 8 }, () => app.reserve(ada, randomBytes(10)))
  const outcomes = await Promise.allSettled(racing)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await storage()).toEqual({ used: 0, reserved: 20 })
  await deleteOpenUploads(app.owner, ada)
  await app.reserve(ada, randomBytes(10))
})

const full = { code: 'storage_limit_reached' }

async function offsetOf(person: TestPerson, upload: string): Promise<unknown> {
  return (await app.tus(person, 'HEAD', upload)).headers['upload-offset']
}

async function ownStorage(person: TestPerson): Promise<number | undefined> {
  return (await person.call(getOwnAccount, {})).usage?.own?.storage_used
}

async function setRoom(bytes: number | null): Promise<void> {
  await app.owner.query('update "group" set max_storage = $1', [bytes])
}

async function storage(): Promise<{ used: number; reserved: number }> {
  const { rows } = await app.owner.query(
    `select sum(used)::int as used, sum(reserved)::int as reserved from usage where kind = 'storage'`
  )
  return rows[0]
}
