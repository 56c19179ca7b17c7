import { createHash, randomUUID } from 'node:crypto'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import { endNextIdleUpload } from '../../../src/server/domain/deposits/idle-uploads.ts'
import type { RawResponse } from '../../helpers/app.ts'
import {
  callWithZeroQuota,
  idempotencyKeyRefusals,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  uploadBytes
} from '../../helpers/cases.ts'
import {
  batchContentType,
  batchForm,
  batchItem,
  smallFiles
} from '../../helpers/deposits/batches.ts'
import { deleteOpenUploads, insertOpenUploads } from '../../helpers/deposits/open-uploads.ts'

const uploadDigest = createHash('sha256').update(uploadBytes).digest('hex')
const tus = { 'tus-resumable': '1.0.0' }

export const rows: RouteCases = {
  createDeposit: {
    input: depositInput,
    ids: { category: 'category' },
    headers: () => ({ 'idempotency-key': randomUUID() }),
    refusal: 'category_unknown',
    shared: true
  },
  createDepositBatch: {
    headers: () => ({ 'content-type': batchContentType }),
    body: batchForm([batchItem(uploadBytes, { again: true })], [uploadBytes])
  },
  putDeposit: {
    input: () => ({ name: 'matrix.pdf', media_type: 'application/pdf' }),
    ids: { category: 'category' },
    headers: () => ({ 'idempotency-key': randomUUID() }),
    body: uploadBytes,
    status: 201,
    refusal: 'category_unknown',
    shared: true
  },
  listDeposits: {
    input: () => ({
      q: 'matrix',
      sort: 'created',
      limit: 10,
      from: '2020-01-01T00:00:00Z',
      to: '2100-01-01T00:00:00+01:00'
    }),
    ids: { id: 'company', category: 'category', user: 'member' },
    filters: ['category', 'user'],
    shared: true
  },
  getDeposit: { ids: { id: 'record' } },
  createContentLink: { ids: { id: 'record' } },
  getUnfinishedUpload: { ids: { id: 'open request' } },
  getDepositContent: { ids: { id: 'record' } },
  getReceipt: { ids: { id: 'record' } },
  headUpload: { ids: { id: 'upload' }, headers: () => tus, malformed: 'not_found' },
  patchUpload: {
    ids: { id: 'upload' },
    headers: () => ({
      ...tus,
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream'
    }),
    body: uploadBytes,
    status: 204,
    malformed: 'not_found',
    spends: 'upload'
  },
  deleteUpload: {
    ids: { id: 'upload' },
    headers: () => tus,
    status: 204,
    malformed: 'not_found',
    spends: 'upload'
  }
}

/** Returns functions that each provoke one error code of a call: `'createDeposit file_empty'`. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ada, ask, inputOf } = stage
  return {
    'createDeposit category_unknown': () => deposit({ category: randomUUID() }),
    'createDeposit category_required': () => withoutDefault(() => deposit({ category: undefined })),
    'createDeposit category_unusable': () => withUnfitName(() => deposit({})),
    'createDeposit file_empty': () => deposit({ size: 0 }),
    'createDeposit too_large': () => deposit({ size: 5_000_000_001 }),
    'createDeposit fingerprint_invalid': () => deposit({ stored: 'cd'.repeat(32) }),
    'createDeposit type_not_allowed': () =>
      withRule('media_types', ['image/png'], () => deposit({})),
    'createDeposit transform_not_allowed': () =>
      withRule('originals', 'yes', async () => deposit(await inputOf('createDeposit'))),
    'createDeposit storage_limit_reached': () => deposit({ size: 100_001 }),
    'createDeposit upload_limit_reached': () => withManyUploads(() => deposit({})),
    'createDeposit request_limit_reached': () => callWithZeroQuota(app, () => deposit({})),
    'createDeposit idempotency_key_missing': () => deposit({}, {}),
    ...idempotencyKeyRefusals(stage, 'createDeposit', 'POST /deposit', (headers, name) =>
      deposit({ name }, headers)
    ),
    'createDepositBatch too_many_items': () => {
      const { files, items } = smallFiles(51)
      return app.request('api.acme.localhost', {
        method: 'POST',
        path: '/deposit/batch',
        headers: { authorization: `Bearer ${ada.token}`, 'content-type': batchContentType },
        body: batchForm(items, files)
      })
    },
    'putDeposit length_required': () => put({}, { 'transfer-encoding': 'chunked' }),
    'putDeposit category_unknown': () => put({ category: randomUUID() }),
    'putDeposit category_required': () => withoutDefault(() => put({ category: undefined })),
    'putDeposit category_unusable': () => withUnfitName(() => put({})),
    'putDeposit file_empty': () => put({}, { 'content-length': '0' }, 0),
    'putDeposit too_large': () => put({}, { 'content-length': '5000000001' }),
    'putDeposit type_not_allowed': () => withRule('media_types', ['image/png'], () => put({})),
    'putDeposit request_limit_reached': () => callWithZeroQuota(app, () => put({})),
    'putDeposit upload_limit_reached': () => withManyUploads(() => put({})),
    'putDeposit storage_limit_reached': () => put({}, { 'content-length': '100001' }),
    ...idempotencyKeyRefusals(stage, 'putDeposit', 'PUT /deposit', (headers, name) =>
      put({ name }, headers)
    ),
    'getDepositContent link_invalid': async () => {
      const id = await recorded()
      return ask('getDepositContent', { id, link: 'A'.repeat(91) }, {})
    },
    'getDepositContent range_unsatisfiable': async () =>
      ask('getDepositContent', { id: await recorded() }, { range: 'bytes=64-' }),
    'getReceipt receipt_pending': async () => ask('getReceipt', { id: await recorded() }),
    'getReceipt receipt_gone': async () => {
      const id = await recorded()
      await app.owner.query('delete from deposit_opening where record_id = $1', [id])
      return ask('getReceipt', { id })
    },
    'headUpload cancelled': async () => ask('headUpload', { id: await cancelled() }),
    'headUpload lapsed': async () => ask('headUpload', { id: await lapsed() }),
    'patchUpload cancelled': async () => ask('patchUpload', { id: await cancelled() }),
    'patchUpload lapsed': async () => ask('patchUpload', { id: await lapsed() }),
    'patchUpload upload_state': async () => ask('patchUpload', { id: await complete() }),
    'patchUpload upload_offset': async () =>
      ask('patchUpload', { id: await open() }, { 'upload-offset': '1' }),
    'patchUpload upload_busy': async () => {
      const { prepareStaging } = app.deps.blobs
      const disk = Promise.withResolvers<void>()
      app.deps.blobs.prepareStaging = async company => {
        await disk.promise
        await prepareStaging(company)
      }
      const id = await open()
      // one writes, two wait
      const calls = Array.from({ length: 4 }, () => ask('patchUpload', { id }))
      const refused = await Promise.race(calls)
      disk.resolve()
      await Promise.all(calls)
      app.deps.blobs.prepareStaging = prepareStaging
      return refused
    },
    'patchUpload too_large': async () => ask('patchUpload', { id: await open(10) }),
    'patchUpload storage_limit_reached': async () => {
      const id = await open()
      await app.owner.query('update upload set released = size where id = $1', [id])
      await app.owner.query('update "group" set max_storage = 0')
      const response = await ask('patchUpload', { id })
      await app.owner.query('update "group" set max_storage = 100000')
      await app.owner.query('update upload set released = 0 where id = $1', [id])
      return response
    },
    'deleteUpload cancelled': async () => ask('deleteUpload', { id: await cancelled() }),
    'deleteUpload lapsed': async () => ask('deleteUpload', { id: await lapsed() }),
    'deleteUpload upload_state': async () => ask('deleteUpload', { id: await complete() })
  }

  function deposit(change: Record<string, unknown>, headers?: Record<string, string>) {
    const digest = 'ab'.repeat(32)
    const same = { original: digest, stored: digest, category: ada.category }
    const input = { name: 'a.pdf', size: 64, media_type: 'application/pdf', ...same, ...change }
    return ask('createDeposit', input, headers ?? { 'idempotency-key': randomUUID() })
  }

  /**
   * Calls `PUT /deposit` with a body of `length` bytes. `change` replaces query parameters of a
   * valid call, and `headers` its headers.
   */
  function put(
    change: Record<string, string | undefined>,
    headers: Record<string, string> = {},
    length = 64
  ) {
    const declared = headers['transfer-encoding'] ? {} : { 'content-length': String(length) }
    const fields = Object.entries({ name: 'a.pdf', category: ada.category, ...change })
    const query = new URLSearchParams(
      fields.flatMap(([name, value]) => (value ? [[name, value]] : []))
    )
    return app.request('api.acme.localhost', {
      method: 'PUT',
      path: `/deposit?${query}`,
      headers: { authorization: `Bearer ${ada.token}`, ...declared, ...headers },
      body: Buffer.alloc(length)
    })
  }

  /** Runs `run` while the caller may use two categories and none of them is the default. */
  async function withoutDefault(run: () => Promise<RawResponse>): Promise<RawResponse> {
    const id = randomUUID()
    await app.owner.query('update category set is_default = false where id = $1', [ada.category])
    await app.owner.query(
      `insert into category (company_id, id, names, visibility, created_at)
     select company_id, $2, '{"en": "Second", "fr": "Seconde"}', visibility, created_at
       from category where id = $1`,
      [ada.category, id]
    )
    await app.owner.query(
      `insert into group_category (company_id, group_id, category_id)
     select company_id, group_id, $2 from group_category where category_id = $1`,
      [ada.category, id]
    )
    const response = await run()
    await app.owner.query('delete from group_category where category_id = $1', [id])
    await app.owner.query('delete from category where id = $1', [id])
    await app.owner.query('update category set is_default = true where id = $1', [ada.category])
    return response
  }

  /** Runs `run` while the setting `name` of the category has this value. */
  async function withRule(
    name: 'media_types' | 'originals',
    value: unknown,
    run: () => Promise<RawResponse>
  ): Promise<RawResponse> {
    const set = (to: unknown) =>
      app.owner.query(`update category set ${name} = $1 where id = $2`, [to, ada.category])
    await set(value)
    const response = await run()
    await set(name === 'media_types' ? null : 'person')
    return response
  }

  async function withManyUploads(run: () => Promise<RawResponse>): Promise<RawResponse> {
    await insertOpenUploads(app.owner, ada, 2000)
    const response = await run()
    await deleteOpenUploads(app.owner, ada)
    return response
  }

  /**
   * Runs `run` while the category has an invalid name. The database refuses such a name today, but
   * an older one may still contain it.
   */
  async function withUnfitName(run: () => Promise<RawResponse>): Promise<RawResponse> {
    const { rows } = await app.owner.query(
      `select pg_get_constraintdef(oid) as rule from pg_constraint where conname = 'category_names'`
    )
    const rename = (names: object) =>
      app.owner.query('update category set names = $1 where id = $2', [
        JSON.stringify(names),
        ada.category
      ])
    await app.owner.query('alter table category drop constraint category_names')
    await rename({ en: 'Con\ntracts', fr: 'Contrats' })
    const response = await run()
    await rename({ en: 'Documents', fr: 'Documents' })
    await app.owner.query(`alter table category add constraint category_names ${rows[0].rule}`)
    return response
  }

  async function open(size = uploadBytes.length): Promise<string> {
    const { upload } = await app.reserve(ada, uploadBytes.subarray(0, size))
    return upload.slice('/uploads/'.length)
  }

  async function cancelled(): Promise<string> {
    const id = await open()
    await ask('deleteUpload', { id })
    return id
  }

  async function complete(): Promise<string> {
    const id = await open()
    await ask('patchUpload', { id })
    return id
  }

  async function recorded(): Promise<string> {
    return (await app.deposit(ada, uploadBytes)).deposit_id ?? ''
  }

  async function lapsed(): Promise<string> {
    const id = await open()
    await app.owner.query(`update upload set active_at = now() - interval '25 h' where id = $1`, [
      id
    ])
    await endNextIdleUpload(app.deps, toCompanyId(app.companies[ada.host] ?? ''))
    return id
  }
}

function depositInput(): object {
  const picture = { bytes: uploadBytes.length, w: 4, h: 4, type: 'image/jpeg' }
  return {
    name: 'matrix.jpg',
    size: uploadBytes.length,
    media_type: 'image/jpeg',
    original: 'ab'.repeat(32),
    stored: uploadDigest,
    again: true,
    transform: {
      kind: 'image-recompress',
      quality: 70,
      tool: 'vidimus/1 canvas',
      from: { ...picture, bytes: 3_000_000 },
      to: picture
    }
  }
}
