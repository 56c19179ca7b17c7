import { randomUUID } from 'node:crypto'
import {
  idempotencyKeyRefusals,
  makeDataSource,
  makeImportedRegister,
  makeRegisterImport,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  uploadBytes
} from '../../helpers/cases.ts'
import { csvDialect, diplomaColumns } from '../../helpers/registers.ts'

let puts = 10

const ofImport = { id: 'register', importId: 'register import' } as const

const creation = () => ({
  mode: 'replace',
  file_name: 'diplomas.csv',
  bytes: 300,
  dialect: csvDialect,
  // first one that has a `date`
  columns: diplomaColumns.toSorted(
    (a, b) => Number(b.date !== undefined) - Number(a.date !== undefined)
  )
})

export const rows: RouteCases = {
  listRegisterImports: {
    input: () => ({ limit: 10 }),
    ids: { id: 'register', cursor: 'register import' },
    shared: true
  },
  createRegisterImport: { input: creation, ids: { id: 'register' }, shared: true },
  putRegisterImport: {
    input: () => ({ mode: 'replace', run: 'false', skip_refused: 'true' }),
    ids: { id: 'register' },
    headers: () => ({ 'idempotency-key': randomUUID() }),
    body: uploadBytes,
    status: 202,
    shared: true
  },
  getRegisterImport: { ids: ofImport, shared: true },
  listRefusedRows: { input: () => ({ after: 0, limit: 10 }), ids: ofImport, shared: true },
  exportRefusedRows: { ids: ofImport, shared: true },
  runRegisterImport: {
    input: () => ({ skip_refused: true }),
    ids: { id: 'register', importId: 'checked register import' },
    shared: true,
    spends: 'checked register import'
  },
  undoRegisterImport: {
    ids: { id: 'register', importId: 'done register import' },
    shared: true,
    spends: 'done register import'
  },
  deleteRegisterImport: { ids: ofImport, shared: true, spends: 'register import' }
}

/** Returns functions that each provoke one error code of a call, named after call and code. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ada, ask } = stage
  const company = app.companies['acme.localhost']
  const register = () => makeImportedRegister(app.owner, company)
  const create = async (headers: Record<string, string> = {}, file_name = 'a.csv') =>
    ask('createRegisterImport', { ...creation(), id: await register(), file_name }, headers)
  const put = async (
    headers: Record<string, string>,
    bytes: Uint8Array = uploadBytes,
    id?: string
  ) =>
    app.request('api.acme.localhost', {
      method: 'PUT',
      path: `/data_source/${id ?? (await register())}/import?mode=replace`,
      headers: {
        authorization: `Bearer ${ada.token}`,
        ...('transfer-encoding' in headers ? {} : { 'content-length': String(bytes.length) }),
        ...headers
      },
      body: bytes
    })
  const keyed = () => ({ 'idempotency-key': randomUUID() })
  const filled = async (count: number, bytes: number, run: () => Promise<RawAnswer>) => {
    await app.owner.query(
      `insert into register_import (company_id, id, source_id, mode, file_name, bytes, dialect,
         columns, state, created_at, created_by)
       select $1, gen_random_uuid(), $2, 'replace', 'filler', $4, '{}', '[]', 'uploading', now(),
              gen_random_uuid()
         from generate_series(1, $3)`,
      [company, await register(), count, bytes]
    )
    const answer = await run()
    await app.owner.query(`delete from register_import where file_name = 'filler'`)
    return answer
  }
  const inState = async (
    name: 'runRegisterImport' | 'undoRegisterImport' | 'deleteRegisterImport',
    thing: 'register import' | 'done register import'
  ) => {
    const importId = await makeRegisterImport(app.owner, company, thing)
    const skip = name === 'runRegisterImport' ? { skip_refused: false } : {}
    return ask(name, { id: await register(), importId, ...skip })
  }
  return {
    'createRegisterImport too_many_imports': () => filled(20, 1, create),
    'createRegisterImport import_too_large': () => filled(1, 1_000_000_000, create),
    ...idempotencyKeyRefusals(stage, 'createRegisterImport', 'POST /data_source/import', create),
    'putRegisterImport too_many_imports': () => filled(20, 1, () => put(keyed())),
    'putRegisterImport import_too_large': () => put({ ...keyed(), 'content-length': '500000001' }),
    'putRegisterImport import_state': async () =>
      put(keyed(), uploadBytes, await makeDataSource(app.owner, company)),
    'putRegisterImport length_required': () => put({ 'transfer-encoding': 'chunked' }),
    'putRegisterImport file_empty': () => put(keyed(), new Uint8Array()),
    'putRegisterImport idempotency_key_missing': () => put({}),
    ...idempotencyKeyRefusals(
      stage,
      'putRegisterImport',
      'PUT /data_source/import',
      // another length is another input
      headers => put(headers, Buffer.alloc(++puts, 'x'))
    ),
    'runRegisterImport import_state': () => inState('runRegisterImport', 'register import'),
    'runRegisterImport import_refused_rows': async () => {
      const importId = await makeRegisterImport(app.owner, company, 'checked register import')
      await app.owner.query(
        `update register_import set counts = counts || '{"refused": 1}' where id = $1`,
        [importId]
      )
      return ask('runRegisterImport', { id: await register(), importId, skip_refused: false })
    },
    'undoRegisterImport import_state': () => inState('undoRegisterImport', 'register import'),
    'deleteRegisterImport import_state': () =>
      inState('deleteRegisterImport', 'done register import')
  }
}

type RawAnswer = Awaited<ReturnType<RefusalContext['ask']>>
