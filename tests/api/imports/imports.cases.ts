import { randomUUID } from 'node:crypto'
import { importLimits } from '../../../src/contract/imports.ts'
import {
  idempotencyKeyRefusals,
  makeCompanyWithoutHost,
  makeImport,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  withBoundsReached
} from '../../helpers/cases.ts'

const row = () => ({
  email: `imported-${randomUUID()}@example.com`,
  username: 'Grace',
  groups: ['Default'],
  locale: 'fr'
})

export const rows: RouteCases = {
  listImports: {
    input: () => ({ limit: 10 }),
    ids: { id: 'company', cursor: 'import' },
    shared: true
  },
  createImport: {
    input: () => ({
      file_name: 'people.csv',
      rows: 3,
      bytes: 300,
      groups: [],
      send_invitations: false,
      locale: 'fr'
    }),
    idLists: { groups: { of: 'group' } },
    shared: true
  },
  getImport: { ids: { id: 'import' }, shared: true },
  storeImportRows: {
    input: () => ({ from: 1, rows: [row()] }),
    ids: { id: 'import' },
    shared: true
  },
  listImportRows: {
    input: () => ({ verdict: 'refused', kept: 'true', after: 0, limit: 10 }),
    ids: { id: 'import' },
    shared: true
  },
  checkImport: { ids: { id: 'import' }, shared: true, spends: 'import' },
  skipImportRows: {
    input: () => ({ rows: [1], skip: true }),
    ids: { id: 'checked import' },
    shared: true
  },
  runImport: {
    input: () => ({ skip_refused: true }),
    ids: { id: 'checked import' },
    shared: true,
    spends: 'checked import'
  },
  undoImport: { ids: { id: 'done import' }, shared: true, spends: 'done import' },
  deleteImport: { ids: { id: 'import' }, shared: true, spends: 'import' }
}

/** Returns functions that each provoke one error code of a call, named after call and code. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ask } = stage
  const host = 'acme.localhost'
  const unknownState = async (name: 'checkImport' | 'runImport' | 'undoImport', state: string) => {
    const id = await makeImport(app, host)
    await app.owner.query('update import set state = $2 where id = $1', [id, state])
    return ask(name, { id, ...(name === 'runImport' ? { skip_refused: true } : {}) })
  }
  const create = (headers: Record<string, string>, text: string) => {
    const input = { file_name: text, rows: 1, bytes: 10, send_invitations: false }
    return ask('createImport', input, headers)
  }
  return {
    'createImport host_needed': async () =>
      ask(
        'createImport',
        { file_name: 'people.csv', rows: 1, bytes: 10, send_invitations: true },
        await makeCompanyWithoutHost(app)
      ),
    ...idempotencyKeyRefusals(stage, 'createImport', 'POST /user/import', create),
    'createImport too_many_imports': async () => {
      const made: string[] = []
      while (made.length < importLimits.open) made.push(await makeImport(app, host))
      const answer = await create({}, 'people.csv')
      await app.owner.query('delete from import_row where import_id = any ($1)', [made])
      await app.owner.query('delete from import where id = any ($1)', [made])
      return answer
    },
    'createImport too_many_kept_imports': async () => {
      const id = await makeImport(app, host, 'done import')
      await app.owner.query(
        `insert into import (company_id, id, file_name, created_at, created_by, expires_at, host,
                             options, row_count, state)
         select company_id, gen_random_uuid(), 'filler', created_at, created_by, expires_at, host,
                options, row_count, state
           from import, generate_series(1, $2) where id = $1`,
        [id, importLimits.kept]
      )
      const answer = await create({}, 'people.csv')
      await app.owner.query(`delete from import where file_name = 'filler'`)
      return answer
    },
    'storeImportRows too_many_import_bytes': async () => {
      const id = await makeImport(app, host)
      return withBoundsReached(app, () => ask('storeImportRows', { id, from: 1, rows: [row()] }))
    },
    'runImport too_many_people': async () => {
      const id = await makeImport(app, host, 'checked import')
      await app.owner.query(
        `update import set counts = '{"new": 1, "changed": 0, "unchanged": 0, "refused": 0}'
          where id = $1`,
        [id]
      )
      return withBoundsReached(app, () => ask('runImport', { id, skip_refused: false }))
    },
    'storeImportRows import_state': async () =>
      ask('storeImportRows', {
        id: await makeImport(app, host, 'done import'),
        from: 1,
        rows: [row()]
      }),
    'storeImportRows import_too_large': async () => {
      const id = await makeImport(app, host)
      await app.owner.query('update import set stored_bytes = 25000000 where id = $1', [id])
      return ask('storeImportRows', { id, from: 1, rows: [row()] })
    },
    'checkImport import_state': () => unknownState('checkImport', 'done'),
    'checkImport import_incomplete': async () => {
      const id = await makeImport(app, host)
      await app.owner.query('update import set row_count = 2 where id = $1', [id])
      return ask('checkImport', { id })
    },
    'skipImportRows import_state': async () =>
      ask('skipImportRows', { id: await makeImport(app, host), rows: [1], skip: true }),
    'runImport import_state': () => unknownState('runImport', 'open'),
    'runImport import_refused_rows': async () => {
      const id = await makeImport(app, host, 'checked import')
      await app.owner.query(
        `update import set counts = '{"new": 0, "changed": 0, "unchanged": 0, "refused": 1}'
          where id = $1`,
        [id]
      )
      return ask('runImport', { id, skip_refused: false })
    },
    'undoImport import_state': () => unknownState('undoImport', 'undone'),
    'deleteImport import_state': async () => {
      const id = await makeImport(app, host)
      await app.owner.query(
        `update import set state = 'running', leased_until = now() + interval '1 hour'
          where id = $1`,
        [id]
      )
      return ask('deleteImport', { id })
    }
  }
}
