import { type SelectQueryBuilder, sql } from 'kysely'
import type * as z from 'zod/mini'
import type * as endpoints from '../../../contract/imports.ts'
import {
  type Import,
  type ImportCounts,
  ImportFailureReason,
  ImportState,
  importLimits,
  zeroImportCounts
} from '../../../contract/imports.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import {
  deleteById,
  deleteInCompany,
  selectById,
  selectInCompany,
  updateById
} from '../../db/company-queries.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps, SendingCompany } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId } from '../ids.ts'
import { requireRoom } from '../limits/bounds.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'

// For rows of any kind. What they mean is decided elsewhere: `accounts/user-import-*.ts` are about
// people.

const workingStates = ['checking', 'running', 'undoing'] as const

interface Creation extends z.output<typeof endpoints.createImport.input> {
  sender: SendingCompany
  by: { id: string }
  idempotencyKey: string | undefined
}

export async function createImport(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings'>,
  { sender, by, idempotencyKey: key, ...input }: Creation
): Promise<{ body: Import; replayed: boolean }> {
  const { company_id, host } = sender
  const { file_name, rows, groups = [], send_invitations, locale = null } = input
  const now = deps.clock()
  const options = { groups: [...new Set(groups)], send_invitations, locale }
  return inCompany(deps.db, company_id, async tx => {
    const insert = async () => {
      await requireGroups(tx, options.groups)
      await requireRoom(tx, deps, 'unfinished_imports')
      await requireRoom(tx, deps, 'kept_imports')
      const id = newId(deps)
      await tx
        .insertInto('import')
        .values({
          company_id,
          id,
          file_name,
          host,
          options: JSON.stringify(options),
          row_count: rows,
          created_at: now,
          created_by: by.id,
          expires_at: new Date(now.getTime() + importLimits.days * 86_400_000)
        })
        .execute()
      return readImport(tx, id)
    }
    return runOnce(tx, deps, { actor: by.id, route: 'POST /user/import', key, input }, insert)
  })
}

export async function listImports(
  deps: Pick<Deps, 'db'>,
  { company_id, ...page }: PageInput & { company_id: CompanyId }
): Promise<Page<Import>> {
  const orders = {
    id: 'import.id',
    sorts: { created: ['import.created_at'] },
    usual: '-created'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    const { items, next } = await readPage(selectInCompany(tx, 'import'), orders, page, withColumns)
    return { items: items.map(toImport), next }
  })
}

export async function getImport(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<Import> {
  return inCompany(deps.db, company_id, tx => readImport(tx, id))
}

interface Request extends AdminCall {
  id: string
}

export async function requestImportCheck(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
  request: Request
): Promise<Import> {
  return inCompany(deps.db, request.company_id, async tx => {
    const found = await lockImport(tx, request.id, ['open', 'checked', 'failed'])
    if (found.stored_count < found.row_count) {
      const missing = `${found.stored_count} of ${found.row_count} rows are stored`
      throw new AppError('import_incomplete', missing)
    }
    return begin(tx, deps, request, { state: 'checking', counts: null })
  })
}

export async function requestImportRun(
  deps: Pick<Deps, 'db' | 'clock' | 'signals' | 'settings'>,
  { skip_refused, ...request }: Request & { skip_refused: boolean }
): Promise<Import> {
  return inCompany(deps.db, request.company_id, async tx => {
    const { counts } = await lockImport(tx, request.id, ['checked'])
    const refused = counts?.refused ?? 0
    if (refused > 0 && !skip_refused) {
      throw new AppError('import_refused_rows', `${refused} rows are refused`)
    }
    await requireRoom(tx, deps, 'people', counts?.new ?? 0)
    return begin(tx, deps, request, { state: 'running', skip_refused })
  })
}

export async function requestImportUndo(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
  request: Request
): Promise<Import> {
  return inCompany(deps.db, request.company_id, async tx => {
    await lockImport(tx, request.id, ['done'])
    return begin(tx, deps, request, { state: 'undoing' })
  })
}

export async function deleteImport(
  deps: Pick<Deps, 'db' | 'clock' | 'random'>,
  { company_id, id, by }: Request
): Promise<void> {
  const idle = ImportState.options.filter(state => !isWorking(state))
  await inCompany(deps.db, company_id, async tx => {
    const { state, file_name: name } = await lockImport(tx, id, idle)
    await deleteInCompany(tx, 'import_row').where('import_id', '=', id).execute()
    await deleteById(tx, 'import', id).execute()
    addAuditEntry(tx, deps, { by, action: 'import.delete', target: id, before: { name, state } })
  })
}

const erasedAtOnce = 5_000

/** Returns true if there may be more to delete. */
export async function deleteExpiredImports(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  return inCompany(deps.db, company_id, async tx => {
    const expired = await selectInCompany(tx, 'import')
      .where('expires_at', '<', deps.clock())
      .where('state', 'not in', workingStates)
      .select('id')
      .orderBy('expires_at')
      .limit(1)
      .forUpdate()
      .executeTakeFirst()
    if (!expired) return false
    const { numAffectedRows = 0n } = await sql`
      delete from import_row where company_id = ${company_id} and import_id = ${expired.id}
        and number in (
          select number from import_row
          where company_id = ${company_id} and import_id = ${expired.id}
          order by number limit ${erasedAtOnce}
        )`.execute(tx)
    if (numAffectedRows < erasedAtOnce) {
      await deleteById(tx, 'import', expired.id).execute()
    }
    return true
  })
}

/** Throws `import_state` unless the state is one of `states`. */
export async function lockImport(tx: Tx, id: string, states: readonly ImportState[]) {
  const found = await selectById(tx, 'import', id)
    .select(['state', 'file_name', 'counts', 'options'])
    .select(['row_count', 'stored_count', 'stored_bytes'])
    .forUpdate()
    .executeTakeFirst()
  if (!found) throw noImport()
  const state = ImportState.parse(found.state)
  if (states.includes(state)) return { ...found, state }
  throw new AppError('import_state', `The import is ${state}, not ${states.join(' or ')}`)
}

export async function countVerdicts(tx: Tx, id: string): Promise<ImportCounts> {
  const rows = await selectInCompany(tx, 'import_row')
    .where('import_id', '=', id)
    .groupBy('verdict')
    .select(({ fn }) => ['verdict', fn.countAll<number>().as('count')])
    .execute()
  const of = (verdict: string) => rows.find(row => row.verdict === verdict)?.count ?? 0
  return {
    new: of('new'),
    changed: of('changed'),
    unchanged: of('unchanged'),
    refused: of('refused'),
    skipped: of('skipped')
  }
}

export async function readImport(tx: Tx, id: string): Promise<Import> {
  const row = await withColumns(selectById(tx, 'import', id)).executeTakeFirst()
  if (!row) throw noImport()
  return toImport(row)
}

async function begin(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
  { company_id, id, by }: Request,
  change: { state: (typeof workingStates)[number]; counts?: null; skip_refused?: boolean }
): Promise<Import> {
  await updateById(tx, 'import', id)
    .set({
      ...change,
      actor_id: by.id,
      actor_company: by.company_id,
      progress: 0,
      attempts: 0,
      failure: null,
      leased_until: null,
      requested_at: deps.clock()
    })
    .execute()
  tx.afterCommit(() => deps.signals.imports.send(company_id))
  return readImport(tx, id)
}

async function requireGroups(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  const found = await selectInCompany(tx, 'group')
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .select('id')
    .execute()
  if (found.length < ids.length) throw new AppError('not_found', 'No such group')
}

function withColumns(imports: SelectQueryBuilder<Database, 'import', object>) {
  return imports.select(({ selectFrom }) => [
    'import.id',
    'import.file_name',
    'import.created_at',
    'import.state',
    'import.options',
    'import.row_count',
    'import.stored_count',
    'import.progress',
    'import.counts',
    'import.failure',
    'import.result',
    'import.undone',
    'import.expires_at',
    selectFrom('user')
      .whereRef('user.company_id', '=', 'import.company_id')
      .whereRef('user.id', '=', 'import.created_by')
      .where('user.deleted_at', 'is', null)
      .select('user.username')
      .as('created_by')
  ])
}

type Row = Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]

function toImport(row: Row): Import {
  const { created_at, expires_at, row_count, stored_count, progress, counts, ...rest } = row
  const state = ImportState.parse(row.state)
  return {
    ...rest,
    state,
    created: created_at.toISOString(),
    expires: expires_at.toISOString(),
    rows: row_count,
    stored: stored_count,
    // checks of earlier releases did not count skipped rows
    counts: counts && { ...zeroImportCounts, ...counts },
    progress: isWorking(state) ? { done: progress, total: row_count } : null,
    failure: row.failure === null ? null : ImportFailureReason.parse(row.failure)
  }
}

function isWorking(state: ImportState): boolean {
  return workingStates.some(working => working === state)
}

function noImport(): AppError {
  return new AppError('not_found', 'No such import')
}
