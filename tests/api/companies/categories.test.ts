import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listAllowedCategories } from '../../../src/contract/categories.ts'
import { createDeposit, getDeposit } from '../../../src/contract/deposits.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { parseCanonicalJson } from '../../../src/core/evidence/canonical-json.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { uploadOf } from '../../helpers/client.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({ limits: { max_requests: 100, max_storage: 1_000_000 } })
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => rule({ originals: 'person', store: 'file', media_types: null }))

async function rule(rules: {
  originals?: string
  store?: string
  media_types?: string[] | null
}): Promise<void> {
  for (const [name, value] of Object.entries(rules)) {
    await app.owner.query(`update category set ${name} = $1 where id = $2`, [value, ada.category])
  }
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const picture = {
  kind: 'image-recompress' as const,
  quality: 70 as const,
  tool: 'vidimus/1 canvas',
  from: { bytes: 3_000_000, w: 4000, h: 3000, type: 'image/png' },
  to: { bytes: 500, w: 600, h: 450, type: 'image/jpeg' }
}

function declare(bytes: Uint8Array, more: object = {}) {
  const digest = sha256(bytes)
  return ada.call(createDeposit, {
    name: 'a.pdf',
    size: bytes.length,
    media_type: 'application/pdf',
    original: digest,
    stored: digest,
    category: ada.category,
    ...more
  })
}

test('shows the rules of a category', async () => {
  expect(await ada.call(listAllowedCategories, {})).toMatchObject([
    { keep_originals: 'person', default: true, store: 'file', media_types: null }
  ])
  await rule({ originals: 'yes', store: 'fingerprint', media_types: ['application/pdf'] })
  expect(await ada.call(listAllowedCategories, {})).toMatchObject([
    { keep_originals: 'yes', store: 'fingerprint', media_types: ['application/pdf'] }
  ])
})

test('takes no reduced picture where originals are kept', async () => {
  await rule({ originals: 'yes' })
  const reduced = declare(randomBytes(500), {
    original: sha256(randomBytes(9)),
    media_type: 'image/jpeg',
    transform: picture
  })
  await expect(reduced).rejects.toMatchObject({ code: 'transform_not_allowed' })
  uploadOf(await declare(randomBytes(500), { media_type: 'image/png' }))
})

test('takes the listed media types only, by the file as it was chosen', async () => {
  await rule({ media_types: ['image/png'] })
  await expect(declare(randomBytes(500))).rejects.toMatchObject({ code: 'type_not_allowed' })
  uploadOf(await declare(randomBytes(500), { media_type: 'image/png' }))
  const reduced = { media_type: 'image/jpeg', transform: picture, original: sha256(randomBytes(9)) }
  uploadOf(await declare(randomBytes(500), reduced))
})

test('records a fingerprint at once and keeps nothing else', async () => {
  await rule({ store: 'fingerprint' })
  const bytes = randomBytes(500)
  const before = (await ada.call(getOwnAccount, {})).usage_remaining
  const { rows: blobs } = await app.owner.query('select count(*)::int as count from blob')
  const answer = await declare(bytes)
  if ('duplicate' in answer) throw new Error('the file is new')
  expect(answer).not.toHaveProperty('upload')
  expect(answer.request).toMatchObject({ state: 'done', store: 'fingerprint', rung: 'recorded' })

  const id = answer.request.deposit_id ?? ''
  const deposit = await ada.call(getDeposit, { id })
  expect(deposit).toMatchObject({ original: sha256(bytes), size: 500 })
  expect(deposit).not.toHaveProperty('stored')
  const { rows } = await app.owner.query('select leaf from log_leaf where leaf_id = $1', [id])
  expect(parseCanonicalJson(rows[0].leaf)).toMatchObject({ type: 'deposit', id })

  expect((await app.content(ada, id)).status).toBe(404)
  expect(await app.owner.query('select count(*)::int as count from blob')).toMatchObject({
    rows: blobs
  })
  const { requests, storage } = (await ada.call(getOwnAccount, {})).usage_remaining
  expect([requests, storage]).toEqual([(before.requests ?? 0) - 1, before.storage])

  const { items } = await app.call('acme.localhost', verify, { items: [{ sha256: sha256(bytes) }] })
  expect(items[0]).toMatchObject({ verdict: 'authentic', findings: [{ match: 'original' }] })
  expect(await declare(bytes)).toEqual({ duplicate: answer.request })
  await expect(
    declare(bytes, {
      media_type: 'image/jpeg',
      transform: picture,
      original: sha256(randomBytes(9))
    })
  ).rejects.toMatchObject({ code: 'transform_not_allowed' })
})

test('only fingerprints what is put there in one call', async () => {
  await rule({ store: 'fingerprint', media_types: ['text/plain'] })
  const bytes = Buffer.from('a line of text')
  const put = (media_type: string) => {
    const query = { category: ada.category, media_type, name: 'line.txt' }
    return app.put(ada, bytes, query, { 'idempotency-key': 'fingerprint-1' })
  }
  expect((await put('application/pdf')).status).toBe(422)
  const first = await put('text/plain')
  expect(first.status).toBe(201)
  const request = JSON.parse(first.body.toString())
  expect(request).toMatchObject({ state: 'done', store: 'fingerprint' })
  const again = await put('text/plain')
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(JSON.parse(again.body.toString())).toEqual(request)
  const deposit = await ada.call(getDeposit, { id: request.deposit_id })
  expect(deposit.original).toBe(sha256(bytes))
})

/**
 * Names that the database must refuse for a category, each after its description. A deposit's
 * record or the list of categories could not contain them.
 */
const unfit = [
  ['longer than a record takes', { en: 'é'.repeat(150), fr: 'Contrats' }],
  ['a control character', { en: 'Con\ntracts', fr: 'Contrats' }],
  ['a spelling other than NFC', { en: 'Cafe\u0301s', fr: 'Cafés' }],
  ['none in English', { fr: 'Contrats' }],
  ['none in French', { en: 'Contracts' }],
  ['an empty one', { en: 'Contracts', fr: '' }],
  ['one that is no text', { en: 'Contracts', fr: 1 }]
] as const

test.each(unfit)('keeps no category with %s as its name', async (_reason, names) => {
  const write = app.owner.query('update category set names = $1 where id = $2', [
    JSON.stringify(names),
    ada.category
  ])
  await expect(write).rejects.toThrow('category_names')
})

describe('a deposit that names no category', () => {
  let other: string
  beforeEach(async () => {
    other = await addCategory('Invoices')
    await app.owner.query('update category set is_default = false')
  })
  afterEach(async () => {
    await app.owner.query('delete from group_category where category_id = $1', [other])
    await app.owner.query('update category set is_default = false')
    await app.owner.query('update category set is_default = true where id = $1', [ada.category])
  })
  const undeclared = () => declare(randomBytes(500), { category: undefined })

  test('goes to the only one of the caller', async () => {
    await app.owner.query('delete from group_category where category_id = $1', [other])
    const { request } = uploadOf(await undeclared())
    expect(request).toMatchObject({ category_id: ada.category })
  })

  test('goes to the default one, which the list begins with', async () => {
    await app.owner.query('update category set is_default = true where id = $1', [other])
    const { request } = uploadOf(await undeclared())
    expect(request).toMatchObject({ category_id: other })
    expect(await ada.call(listAllowedCategories, {})).toMatchObject([
      { id: other, default: true },
      { id: ada.category, default: false }
    ])
  })

  test('is refused where there are several, and told which', async () => {
    const options = [ada.category, other].map(id => expect.objectContaining({ id }))
    await expect(undeclared()).rejects.toMatchObject({
      code: 'category_required',
      categories: options
    })
    expect(await ada.call(listAllowedCategories, {})).toMatchObject([
      { id: ada.category },
      { id: other }
    ])
  })

  test('never goes to a default that the caller may not use', async () => {
    const closed = await addCategory('Board', false)
    await app.owner.query('update category set is_default = true where id = $1', [closed])
    await expect(undeclared()).rejects.toMatchObject({ code: 'category_required' })
  })

  test('answers a repeated key as before, whatever the default is by then', async () => {
    await app.owner.query('update category set is_default = true where id = $1', [other])
    const digest = sha256(randomBytes(9))
    const deposit = () =>
      ada.call(
        createDeposit,
        { name: 'a.pdf', size: 9, media_type: 'text/plain', original: digest, stored: digest },
        { idempotencyKey: 'one-and-the-same' }
      )
    const first = await deposit()
    await app.owner.query('update category set is_default = false')
    expect(await deposit()).toEqual(first)
  })
})

test('a company has one default category at most', async () => {
  await addCategory('Second', false)
  await expect(app.owner.query('update category set is_default = true')).rejects.toMatchObject({
    code: '23505'
  })
})

async function addCategory(name: string, allowed = true): Promise<string> {
  const id = randomUUID()
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     select company_id, $2, jsonb_build_object('en', $3::text, 'fr', $3::text), visibility,
            created_at + interval '1 day'
     from category where id = $1`,
    [ada.category, id, `${name} ${id}`]
  )
  if (!allowed) return id
  await app.owner.query(
    `insert into group_category (company_id, group_id, category_id)
     select company_id, group_id, $2 from group_category where category_id = $1`,
    [ada.category, id]
  )
  return id
}
