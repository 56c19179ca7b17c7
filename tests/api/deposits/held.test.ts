import { randomBytes, randomUUID } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createContentLink } from '../../../src/contract/deposits.ts'
import { getRequest } from '../../../src/contract/requests.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { checkFilesAndDeleteOrphans } from '../../../src/server/domain/deposits/file-checks.ts'
import {
  countHeldUploads,
  listHeldUploads,
  scheduleHeldUploadRetry
} from '../../../src/server/domain/deposits/held-uploads.ts'
import { createDepositFromNextUpload } from '../../../src/server/domain/deposits/upload-settlement.ts'
import type { CompanyId } from '../../../src/server/domain/deps.ts'
import { startManagementServer } from '../../../src/server/management.ts'
import { checkReadiness } from '../../../src/server/readiness.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { freePort } from '../../helpers/service.ts'

const hour = 3600

let app: TestApp
let acme: CompanyId
let ada: TestPerson
beforeEach(async () => {
  app = await makeApp()
  acme = app.companies['acme.localhost']
  ada = await app.signUp()
})
afterEach(() => app[Symbol.asyncDispose]())

test('keeps the bytes of deposits that cannot be made, and makes the others', async () => {
  const { category, documents, requests } = await depositWhatCannotBeMade()
  expect(await app.deposit(ada, randomBytes(1000))).toMatchObject({ state: 'done' })

  await untilHeld(requests.length)
  const held = await listHeldUploads(app.deps, acme)
  expect(held.map(each => each.request_id).toSorted()).toEqual(requests.toSorted())
  expect(held[0]).toMatchObject({ size: 1000, failure: 'leaf: bad value of "category"' })
  for (const id of requests) {
    expect(app.logged).toContainEqual({
      level: 'error',
      facts: expect.objectContaining({ company: acme, request: id, attempts: 8 }),
      text: expect.stringContaining('held')
    })
  }
  app.wait(48 * hour)
  expect(await checkFilesAndDeleteOrphans(app.deps, acme, 1)).toMatchObject({
    missing: [],
    removed: 0
  })

  const token = await app.signIn(ada)
  const [id = ''] = requests
  expect(await ada.call(getRequest, { id }, { token })).toMatchObject({
    state: 'processing',
    code: 'held'
  })
  await nameCategory(category, 'Contracts')
  const first = { company_id: acme, request_id: id }
  expect([
    await scheduleHeldUploadRetry(app.deps, first),
    await scheduleHeldUploadRetry(app.deps, first)
  ]).toEqual([true, false])
  for (const each of await listHeldUploads(app.deps, acme))
    expect(await scheduleHeldUploadRetry(app.deps, each)).toBe(true)
  while (await createDepositFromNextUpload(app.deps, acme));
  const renewed = { ...ada, call: withToken(token) }
  for (const [n, each] of requests.entries()) {
    const done = await app.until(renewed, each, ['done', 'failed'])
    expect([done.state, done.code]).toEqual(['done', undefined])
    const link = await renewed.call(createContentLink, { id: done.deposit_id ?? '' })
    const content = await app.request(`api.${ada.host}`, { path: link.url })
    expect(content.body).toEqual(documents[n])
  }
  const { usage } = await renewed.call(getOwnAccount, {})
  expect(usage).toMatchObject({ requests_used: 5, storage_used: 5000 })
})

test('says to operators how many deposits are held, and stays ready', async () => {
  const { requests } = await depositWhatCannotBeMade()
  await untilHeld(requests.length)
  const port = await freePort()
  await using _management = await startManagementServer({
    port,
    host: '127.0.0.1',
    log: app.deps.log,
    check: () => checkReadiness(app.deps, { hasRoom: () => true }),
    judgeCertificate: undefined,
    isReady: () => true
  })
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ database: true, held: requests.length })
})

test('holds an upload whose every attempt ended with its process', async () => {
  const { requests } = await depositWhatCannotBeMade()
  await app.owner.query('update upload set attempts = 8')
  app.wait(hour)
  await untilHeld(requests.length)
})

test('waits for bytes that are out of reach, as when a disk is not mounted', async () => {
  const bytes = randomBytes(1000)
  const { request, upload } = await app.reserve(ada, bytes)
  // nobody settles it meanwhile
  await app.owner.query(`update upload set leased_until = now() + interval '1 hour'`)
  expect((await app.patch(ada, upload, bytes)).status).toBe(204)
  const file = app.deps.blobs.stagingFile({
    company_id: acme,
    id: upload.slice('/uploads/'.length),
    generation: 0
  })
  await rename(file, `${file}-away`)
  app.wait(2 * hour)
  await createDepositFromNextUpload(app.deps, acme)
  expect(await stateOf(request.id)).toBe('processing')
  await rename(`${file}-away`, file)
  app.wait(hour)
  await createDepositFromNextUpload(app.deps, acme)
  expect(await stateOf(request.id)).toBe('done')
})

/**
 * Uploads four documents that cannot become deposits, because their category has an invalid name.
 */
async function depositWhatCannotBeMade() {
  const category = randomUUID()
  await app.owner.query('alter table category drop constraint if exists category_names')
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     select company_id, $2, '{"en": "Other", "fr": "Autre"}', visibility, created_at
       from category where id = $1`,
    [ada.category, category]
  )
  await app.owner.query(
    `insert into group_category select company_id, group_id, $2 from group_category where category_id = $1`,
    [ada.category, category]
  )
  const documents = Array.from({ length: 4 }, () => randomBytes(1000))
  const begun = []
  for (const bytes of documents) begun.push(await app.reserve({ ...ada, category }, bytes))
  await nameCategory(category, 'a\nname')
  for (const [n, bytes] of documents.entries()) {
    expect((await app.patch(ada, begun[n]?.upload ?? '', bytes)).status).toBe(204)
  }
  return { category, documents, requests: begun.map(({ request }) => request.id) }
}

async function nameCategory(id: string, en: string): Promise<void> {
  await app.owner.query('update category set names = $2 where id = $1', [
    id,
    JSON.stringify({ en, fr: 'Contrats' })
  ])
}

/**
 * Moves the clock by hours and attempts to create the deposits, until `count` uploads are held. The
 * app's own job attempts it, too.
 */
async function untilHeld(count: number): Promise<void> {
  const attempt = async () => {
    app.wait(hour)
    while (await createDepositFromNextUpload(app.deps, acme));
    expect(await countHeldUploads(app.deps, acme)).toBe(count)
  }
  await vi.waitFor(attempt, { interval: 50 })
}

async function stateOf(id: string): Promise<string> {
  const { rows } = await app.owner.query('select state from request where id = $1', [id])
  return rows[0].state
}

function withToken(token: string): TestPerson['call'] {
  return (endpoint, input) => ada.call(endpoint, input, { token })
}
