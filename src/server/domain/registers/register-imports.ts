import type { SelectQueryBuilder } from 'kysely'
import type * as z from 'zod/mini'
import { AppError } from '../../../contract/kit/errors.ts'
import { registerLimits } from '../../../contract/kit/limits.ts'
import type * as endpoints from '../../../contract/register-imports.ts'
import {
  type RefusedRow,
  type RegisterImport,
  RegisterImportFailure,
  RegisterImportState
} from '../../../contract/register-imports.ts'
import type { RegisterColumn } from '../../../contract/registers.ts'
import {
  countRows,
  deleteById,
  deleteInCompany,
  lockCompanyRow,
  selectById,
  selectInCompany
} from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, addAuditEntry } from '../audit/audit-entries.ts'
import { exportCsv } from '../csv-export.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId, newRandomId } from '../ids.ts'
import { requireWithin } from '../limits/bounds.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'
import { openStates } from './register-faults.ts'
import { uniqueName } from './register-rows.ts'
import { openFaultCells, sealAddress } from './register-seals.ts'
import { settleUpload, stagedBytesOf } from './register-uploads.ts'
import { haveSameCells, isUndoable, runImport, undoImport } from './register-versions.ts'

export interface NewRegisterImport extends AdminCall {
  /** Of the register. */
  id: string
  mode: RegisterImport['mode']
  file_name?: string | undefined
  /** How long the file is that will arrive, or its address. */
  file: { bytes: number } | { url: string }
  /** By default those of the last import that ran. */
  dialect?: z.output<typeof endpoints.CsvDialectInput> | undefined
  columns?: RegisterColumn[] | undefined
  run?: { skip_refused: boolean } | undefined
}

type Creation = z.output<typeof endpoints.createRegisterImport.input> &
  AdminCall & { actor: string; idempotencyKey: string | undefined }

type CreationDeps = Pick<Deps, 'companyKeys' | 'clock' | 'random' | 'signals'>

export async function createRegisterImport(
  deps: CreationDeps & Pick<Deps, 'db' | 'keys'>,
  { company_id, by, actor, idempotencyKey: key, bytes, url, ...input }: Creation
): Promise<{ body: { import: RegisterImport; upload: string | null }; replayed: boolean }> {
  const file = requireFile({ bytes, url })
  const route = 'POST /data_source/import'
  return inCompany(deps.db, company_id, tx =>
    runOnce(tx, deps, { actor, route, key, input: { ...input, file } }, async () => {
      const made = await insertImport(tx, deps, { ...input, file, company_id, by })
      const upload = 'url' in file ? null : `/uploads/${made.upload_id}`
      return { import: await readImport(tx, made.id), upload }
    })
  )
}

function requireFile({ bytes, url }: Pick<Creation, 'bytes' | 'url'>): NewRegisterImport['file'] {
  if (bytes !== undefined && url === undefined) return { bytes }
  if (bytes === undefined && url !== undefined) return { url }
  throw new AppError('invalid_input', 'Either the length of the file is needed, or its address', {
    fields: { bytes: { rule: bytes === undefined ? 'required' : 'unknown' } }
  })
}

/** Also opens the upload of its file. A file that is fetched has one to which no bytes can be sent. */
export async function insertImport(
  tx: Tx,
  deps: CreationDeps,
  { id: source_id, company_id, by, mode, file, run, ...given }: NewRegisterImport
): Promise<{ id: string; upload_id: string }> {
  await lockCompanyRow(tx)
  const source = await selectById(tx, 'data_source', source_id)
    .select(['name', 'number', 'columns', 'dialect'])
    .executeTakeFirst()
  if (!source) throw noRegister()
  const { dialect = source.dialect, columns = source.columns } = given
  if (!dialect || columns.length === 0) {
    throw new AppError('import_state', 'A first import must say what the columns are')
  }
  if (mode === 'append' && source.number > 0 && !haveSameCells(source.columns, columns)) {
    throw new AppError('invalid_input', 'Rows are added to a list with the same columns', {
      fields: { columns: { rule: 'format', detail: 'those of the register' } }
    })
  }
  await requireRoomForFile(tx, file)
  const [id, upload_id, now] = [newId(deps), newRandomId(deps), deps.clock()]
  const file_name = given.file_name ?? null
  const bytes = 'bytes' in file ? file.bytes : null
  const fetched =
    'url' in file
      ? {
          state: 'reading',
          requested_at: now,
          address: sealAddress(
            await deps.companyKeys.read(tx),
            { company_id, id },
            file.url,
            deps.random
          )
        }
      : { state: 'uploading' }
  await tx
    .insertInto('register_import')
    .values({
      ...{ company_id, id, source_id, mode, file_name, bytes, upload_id, ...fetched },
      dialect: JSON.stringify(dialect),
      columns: JSON.stringify(columns),
      run_when_checked: run !== undefined,
      skip_refused: run?.skip_refused ?? false,
      created_at: now,
      created_by: by.id,
      actor_id: by.id,
      actor_company: by.company_id
    })
    .execute()
  await tx
    .insertInto('upload')
    .values({
      ...{ company_id, id: upload_id, purpose: 'register', import_id: id, user_id: by.id },
      ...{ name: file_name ?? 'list.csv', media_type: 'text/csv', transform: null },
      // until it has been fetched, the most that it may have
      size: bytes ?? registerLimits.bytes,
      state: 'url' in file ? 'received' : 'uploading',
      ...{ created_at: now, active_at: now }
    })
    .execute()
  addAuditEntry(tx, deps, {
    by,
    action: 'data_source.upload',
    target: source_id,
    after: {
      name: source.name,
      mode,
      ...(file_name !== null && { file: file_name }),
      ...(bytes !== null && { bytes })
    }
  })
  if ('url' in file) tx.afterCommit(() => deps.signals.registers.send(tx.companyId))
  return { id, upload_id }
}

async function requireRoomForFile(tx: Tx, file: NewRegisterImport['file']): Promise<void> {
  const open = selectInCompany(tx, 'register_import').where('state', 'in', openStates)
  const used = await countRows(open)
  requireWithin({ code: 'too_many_imports', used, limit: registerLimits.openImports })
  const { arriving, isFetching } = await stagedBytesOf(tx)
  // files are fetched one after the other, so those that wait need room for one
  const staged = arriving + (isFetching ? registerLimits.bytes : 0)
  const more = 'bytes' in file ? file.bytes : isFetching ? 0 : registerLimits.bytes
  const limit = registerLimits.stagedBytes
  if (staged + more <= limit) return
  throw new AppError('import_too_large', `Files that are not yet read have ${staged} bytes`, {
    figures: { used: staged, limit, resets_at: null }
  })
}

interface ImportId {
  company_id: CompanyId
  /** Of the register. */
  id: string
  importId: string
}

export async function listRegisterImports(
  deps: Pick<Deps, 'db'>,
  { company_id, id, ...page }: PageInput & { company_id: CompanyId; id: string }
): Promise<Page<RegisterImport>> {
  const orders = {
    id: 'register_import.id',
    sorts: { created: ['register_import.created_at'] },
    usual: '-created'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    const source = await selectById(tx, 'data_source', id).select('id').executeTakeFirst()
    if (!source) throw noRegister()
    const all = selectInCompany(tx, 'register_import').where('register_import.source_id', '=', id)
    const { items, next } = await readPage(all, orders, page, withColumns)
    return { items: items.map(toImport), next }
  })
}

export async function getRegisterImport(
  deps: Pick<Deps, 'db'>,
  { company_id, ...ids }: ImportId
): Promise<RegisterImport> {
  return inCompany(deps.db, company_id, tx => readImport(tx, ids.importId, ids.id))
}

const refusedAtOnce = 100
const shownRows = 1_000

export async function listRefusedRows(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  { company_id, after, limit = refusedAtOnce, ...ids }: RefusedInput
): Promise<{ rows: RefusedRow[]; next: number | null }> {
  return inCompany(deps.db, company_id, async tx => {
    await readImport(tx, ids.importId, ids.id)
    const last = await selectInCompany(tx, 'register_fault')
      .where('import_id', '=', ids.importId)
      .orderBy('number')
      .offset(shownRows)
      .limit(1)
      .select('number')
      .executeTakeFirst()
    const { rows, more } = await readFaults(tx, deps, {
      ...ids,
      after,
      limit,
      before: last?.number
    })
    return { rows, next: more ? (rows.at(-1)?.row ?? null) : null }
  })
}

interface RefusedInput extends ImportId {
  after?: number | undefined
  limit?: number | undefined
}

/** Each row with its reasons behind its cells, so that it can be mended and imported. */
export async function exportRefusedRows(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  { company_id, ...ids }: ImportId
): Promise<AsyncGenerator<string, void, void>> {
  const columns = await inCompany(deps.db, company_id, async tx => {
    await readImport(tx, ids.importId, ids.id)
    const found = await selectById(tx, 'register_import', ids.importId)
      .select('columns')
      .executeTakeFirstOrThrow()
    return found.columns
  })
  const cellOf = (at: number) => (row: RefusedRow) => row.cells[at]
  const taken = new Set(['row', 'reasons'])
  const named = columns.map(({ header }, at) => [uniqueName(taken, header), cellOf(at)] as const)
  return exportCsv(deps, {
    company_id,
    readPage: async (tx, { limit, cursor }) => {
      const after = cursor === undefined ? undefined : Number(cursor)
      const { rows, more } = await readFaults(tx, deps, { ...ids, after, limit })
      return { items: rows, next: more ? String(rows.at(-1)?.row) : undefined }
    },
    toRows: rows => rows,
    columns: {
      ...Object.fromEntries(named),
      row: ({ row }) => row,
      reasons: ({ reasons }) =>
        reasons.map(({ code, header }) => (header ? `${header}: ${code}` : code)).join(' ')
    }
  })
}

async function readFaults(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { importId, after = 0, limit, before }: FaultPage
): Promise<{ rows: RefusedRow[]; more: boolean }> {
  const keys = await deps.companyKeys.read(tx)
  const found = await selectInCompany(tx, 'register_fault')
    .where('import_id', '=', importId)
    .where('number', '>', after)
    .where('number', '<', before ?? 2 ** 31 - 1)
    .orderBy('number')
    .limit(limit + 1)
    .select(['number', 'reasons', 'sealed'])
    .execute()
  const place = { company_id: tx.companyId, import_id: importId }
  const rows = found.slice(0, limit).map(({ number: row, reasons, sealed }) => ({
    row,
    reasons: reasons as RefusedRow['reasons'], // as: written by the job
    cells: openFaultCells(keys, { ...place, row }, sealed)
  }))
  return { rows, more: found.length > limit }
}

interface FaultPage {
  importId: string
  after: number | undefined
  limit: number
  before?: number | undefined
}

export async function runRegisterImport(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, by, skip_refused, ...ids }: ImportId & AdminCall & { skip_refused: boolean }
): Promise<RegisterImport> {
  return inCompany(deps.db, company_id, async tx => {
    await readImport(tx, ids.importId, ids.id)
    await runImport(tx, deps, { id: ids.importId, by, skip_refused })
    return readImport(tx, ids.importId)
  })
}

export async function undoRegisterImport(
  deps: Pick<Deps, 'db' | 'clock' | 'random'>,
  { company_id, by, ...ids }: ImportId & AdminCall
): Promise<RegisterImport> {
  return inCompany(deps.db, company_id, async tx => {
    await readImport(tx, ids.importId, ids.id)
    await undoImport(tx, deps, { id: ids.importId, by })
    return readImport(tx, ids.importId)
  })
}

/** What it has read is erased later. */
export async function deleteRegisterImport(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals' | 'blobs'>,
  { company_id, by, ...ids }: ImportId & AdminCall
): Promise<void> {
  const staged = await inCompany(deps.db, company_id, async tx => {
    await readImport(tx, ids.importId, ids.id)
    const found = await selectById(tx, 'register_import', ids.importId)
      .innerJoin('data_source', join =>
        joinInCompany(join, 'data_source.id', 'register_import.source_id')
      )
      .select(['state', 'file_name', 'upload_id', 'data_source.name'])
      .forUpdate('register_import')
      .executeTakeFirst()
    if (!found) throw noImport()
    if (['done', 'undone'].includes(found.state)) {
      throw new AppError('import_state', `The import is ${found.state}`)
    }
    await deleteById(tx, 'register_import', ids.importId).execute()
    addAuditEntry(tx, deps, {
      by,
      action: 'data_source.cancel',
      target: ids.id,
      before: {
        name: found.name,
        state: found.state,
        ...(found.file_name !== null && { file: found.file_name })
      }
    })
    tx.afterCommit(() => deps.signals.registers.send(company_id))
    return settleUpload(tx, found.upload_id)
  })
  if (staged) await deps.blobs.discardStaged(staged)
}

/** Their refused rows are erased with them. */
export async function deleteOldImports(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  const before = new Date(deps.clock().getTime() - registerLimits.days * 86_400_000)
  await inCompany(deps.db, company_id, tx =>
    deleteInCompany(tx, 'register_import')
      .where('created_at', '<', before)
      .where('state', 'in', ['checked', 'done', 'undone', 'failed'])
      .execute()
  )
}

async function readImport(tx: Tx, id: string, source?: string): Promise<RegisterImport> {
  const row = await withColumns(selectById(tx, 'register_import', id)).executeTakeFirst()
  if (!row || (source !== undefined && row.source_id !== source)) throw noImport()
  return toImport(row)
}

function withColumns(imports: SelectQueryBuilder<Database, 'register_import', object>) {
  return imports
    .innerJoin('data_source', join =>
      joinInCompany(join, 'data_source.id', 'register_import.source_id')
    )
    .leftJoin('user', join =>
      joinInCompany(join, 'user.id', 'register_import.created_by').on('user.deleted_at', 'is', null)
    )
    .select([
      'register_import.id',
      'register_import.source_id',
      'register_import.mode',
      'register_import.file_name',
      'register_import.bytes',
      'register_import.created_at',
      'register_import.state',
      'register_import.rows',
      'register_import.step',
      'register_import.progress',
      'register_import.counts',
      'register_import.warnings',
      'register_import.failure',
      'register_import.failure_row',
      'register_import.number',
      'user.username',
      isUndoable.as('undoable')
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]

function toImport(row: Row): RegisterImport {
  const state = RegisterImportState.parse(row.state)
  const wholes = { fetching: 100, reading: row.bytes ?? 1, comparing: 64 }
  const step = row.step as keyof typeof wholes | null // as: the table checks the column
  return {
    id: row.id,
    data_source: row.source_id,
    mode: row.mode as RegisterImport['mode'], // as: the table checks the column
    file_name: row.file_name,
    bytes: row.bytes,
    created: row.created_at.toISOString(),
    created_by: row.username,
    state,
    rows: row.rows,
    progress:
      state === 'reading' && step !== null
        ? { step, share: Math.min(1, row.progress / wholes[step]) }
        : null,
    counts: row.counts,
    warnings: row.warnings as RegisterImport['warnings'], // as: written by the job
    failure:
      row.failure === null
        ? null
        : {
            code: RegisterImportFailure.parse(row.failure),
            ...(row.failure_row !== null && { row: row.failure_row })
          },
    version: row.number,
    undoable: row.undoable
  }
}

function noRegister(): AppError {
  return new AppError('not_found', 'The company has no such data source')
}

function noImport(): AppError {
  return new AppError('not_found', 'No such import')
}
