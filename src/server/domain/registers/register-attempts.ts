import { type Selectable, sql } from 'kysely'
import { registerLimits } from '../../../contract/kit/limits.ts'
import type { RegisterImportFailure } from '../../../contract/register-imports.ts'
import { updateById } from '../../db/company-queries.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import { isTemporaryDatabaseError } from '../database-errors.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type LeaseSettings, releaseLease, takeOldestImport } from '../leases/leases.ts'
import { settleUpload, stagedBytesOf } from './register-uploads.ts'

// The file of an import is fetched, if it has an address, and then read. Each is an attempt of one
// process, under a lease.

export type AttemptDeps = Pick<Deps, 'db' | 'clock' | 'log' | 'process' | 'blobs'>
export type ImportInProgress = Selectable<Database['register_import']>

const working: LeaseSettings<'register_import'> = {
  table: 'register_import',
  until: 'leased_until',
  by: 'leased_by',
  ms: 60_000
}
const maxAttempts = 5
// times the number of failed attempts
const retryMs = 3_000

// a file that has no address any more has been fetched
const waitingFor = {
  fetch: sql<boolean>`state = 'reading' and address is not null`,
  read: sql<boolean>`state = 'reading' and address is null`
}

/** The process stops, the import was cancelled, or another process has taken it over. */
export class Stopped extends Error {}

/** Another attempt would fail, too. */
export class Failure extends Error {
  readonly code: RegisterImportFailure
  readonly row: number | undefined

  constructor(code: RegisterImportFailure, row?: number) {
    super(code)
    this.code = code
    this.row = row
  }
}

/**
 * Attempts the import that has waited longest, one of a company at a time. Returns undefined if none
 * waits, and false if it has to be attempted again.
 */
export async function attemptNext(
  deps: AttemptDeps,
  company: CompanyId,
  step: keyof typeof waitingFor,
  attempt: (work: ImportInProgress) => Promise<void>
): Promise<boolean | undefined> {
  const work = await inCompany(deps.db, company, tx => claim(tx, deps, step))
  if (!work) return undefined
  const facts = { company, import: work.id, step }
  try {
    await attempt(work)
    deps.log.info(facts, 'step of an import of a register done')
    return true
  } catch (error) {
    if (error instanceof Stopped) {
      await pause(deps, work, 0, { attempts: work.attempts - 1 })
      return false
    }
    if (error instanceof Failure) {
      await fail(deps, work, error)
      return true
    }
    const isLast = work.attempts >= maxAttempts
    if (isTemporaryDatabaseError(error) && !isLast) {
      deps.log.warn(
        { ...facts, err: error },
        'import of a register postponed: the database is busy'
      )
    } else deps.log.error({ ...facts, err: error }, 'import of a register failed')
    if (isLast) await fail(deps, work, new Failure('interrupted'))
    else await pause(deps, work, retryMs * work.attempts)
    return false
  }
}

async function claim(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'process'>,
  step: keyof typeof waitingFor
): Promise<ImportInProgress | undefined> {
  if (step === 'fetch' && !(await isRoomForFile(tx))) return undefined
  return takeOldestImport(tx, deps, working, waitingFor[step])
}

// files that were fetched before may still wait to be read
async function isRoomForFile(tx: Tx): Promise<boolean> {
  const { arriving } = await stagedBytesOf(tx)
  return arriving + registerLimits.bytes <= registerLimits.stagedBytes
}

/** Throws `Stopped` if the lease is lost. */
export async function keepLease(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  work: ImportInProgress,
  changes: Record<string, unknown>
): Promise<void> {
  const leased_until = new Date(deps.clock().getTime() + working.ms)
  await changeLeased(tx, work, { ...changes, leased_until })
}

/** Throws `Stopped` if the lease is lost. */
export async function changeLeased(
  tx: Tx,
  { id, generation }: ImportInProgress,
  changes: Record<string, unknown>
): Promise<void> {
  const { numUpdatedRows } = await updateById(tx, 'register_import', id)
    .set(changes)
    .where('generation', '=', generation)
    .where('state', '=', 'reading')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new Stopped()
}

async function fail(
  deps: AttemptDeps,
  work: ImportInProgress,
  { code, row }: Failure
): Promise<void> {
  const company = toCompanyId(work.company_id)
  const staged = await inCompany(deps.db, company, async tx => {
    await changeLeased(tx, work, {
      state: 'failed',
      step: null,
      failure: code,
      failure_row: row ?? null,
      address: null,
      leased_until: null
    })
    return settleUpload(tx, work.upload_id)
  })
  if (staged) await deps.blobs.discardStaged(staged)
}

async function pause(
  deps: AttemptDeps,
  { company_id, id, generation }: ImportInProgress,
  ms: number,
  set: { attempts?: number } = {}
): Promise<void> {
  const from = ms > 0 ? new Date(deps.clock().getTime() + ms) : null
  const where = sql<boolean>`generation = ${generation} and state = 'reading'`
  await inCompany(deps.db, toCompanyId(company_id), tx =>
    releaseLease(tx, working, { id, where, set }, from)
  )
}
