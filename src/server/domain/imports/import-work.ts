import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Selectable, sql } from 'kysely'
import {
  type ImportFailureReason,
  type ImportState,
  zeroImportCounts
} from '../../../contract/imports.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { updateById } from '../../db/company-queries.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import { isTemporaryDatabaseError } from '../database-errors.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type LeaseSettings, releaseLease, takeOldestImport } from '../leases/leases.ts'
import { countVerdicts } from './imports.ts'

type WorkDeps = Pick<
  Deps,
  'db' | 'keys' | 'clock' | 'random' | 'log' | 'signals' | 'process' | 'settings'
>

/** Its rows in `import_row` are numbered from 1 to `row_count`. */
export type ImportInProgress = Selectable<Database['import']>

/** Both ends included. */
export interface RowSlice {
  from: number
  to: number
}

/**
 * Leaves out items that were edited after the run: a created one counts while it has the groups of
 * its row, a changed one while it also has the other values.
 */
export interface AppliedCounts {
  created: number
  changed: number
}

/** What the import job does with rows of one kind, such as people. */
export interface ImportRowHandlers {
  // stores a verdict for each row: new, changed, unchanged or refused
  checkRows(tx: Tx, deps: WorkDeps, work: ImportInProgress, slice: RowSlice): Promise<void>
  // the ids of what the rows refer to, such as groups; all must still exist when a run begins
  needs(tx: Tx, work: ImportInProgress, slice: RowSlice): Promise<string[]>
  // keeps them from being deleted until the transaction ends; returns whether all exist
  keep(tx: Tx, ids: string[]): Promise<boolean>
  // returns the rows whose items somebody has created, changed or deleted since the check
  apply(tx: Tx, deps: WorkDeps, work: ImportInProgress, slice: RowSlice): Promise<number[]>
  // Returns fields for the audit entry. Calls `goOn`, which renews the lease, again and again if it
  // takes long. Throws the error of a bound that the run exceeds.
  afterRun(
    tx: Tx,
    deps: WorkDeps,
    work: ImportInProgress,
    goOn: () => Promise<void>
  ): Promise<object>
  // as counted in the database
  countApplied(tx: Tx, work: ImportInProgress, slice: RowSlice): Promise<AppliedCounts>
  // an item that cannot be reverted stays as it is, and its row is marked
  revert(tx: Tx, deps: WorkDeps, work: ImportInProgress, slice: RowSlice): Promise<void>
  // for example withdraws invitations
  afterUndo(tx: Tx, deps: WorkDeps, work: ImportInProgress): Promise<void>
}

const working: LeaseSettings<'import'> = {
  table: 'import',
  until: 'leased_until',
  by: 'leased_by',
  ms: 60_000
}
// rows of a statement, which then takes a fraction of a second even on a busy machine
const [rowsAtOnce, checkedAtOnce] = [1_000, 500]
const waits = sql<boolean>`state in ('checking', 'running', 'undoing')`
const maxAttempts = 5
// times the number of failed attempts
const retryMs = 3_000

// the company's data has changed since the check
class Stale extends Error {}
// the process stops, or another has taken the import over
class Stopped extends Error {}

/**
 * Works on the import that has waited longest, on one of a company at a time. Returns false if
 * there was none or it was not finished: another process then continues a check after the last
 * slice, and starts a run or an undo anew, because its changes are in one transaction.
 */
export async function workOnNextImport(
  deps: WorkDeps,
  company_id: CompanyId,
  handlers: ImportRowHandlers,
  stopping: () => boolean
): Promise<boolean> {
  const work = await inCompanyOf(deps, { company_id }, tx =>
    takeOldestImport(tx, deps, working, waits)
  )
  if (!work) return false
  const facts = { company: company_id, import: work.id, state: work.state }
  try {
    if (work.state === 'checking') await check(deps, work, handlers, stopping)
    else if (work.state === 'undoing') await undo(deps, work, handlers, stopping)
    else await run(deps, work, handlers, stopping)
    deps.log.info(facts, 'work on an import finished')
    return true
  } catch (error) {
    // an AppError means that the company has reached a bound since the check
    if (error instanceof Stale || error instanceof AppError) {
      const isFull = error instanceof AppError && error.code === 'too_many_people'
      const failure = isFull ? 'too_many_people' : 'changed_meanwhile'
      await end(deps, work, { state: 'failed', failure })
      return true
    }
    if (error instanceof Stopped) {
      // the end of a process is no failure of the import
      await pause(deps, work, 0, { attempts: work.attempts - 1 })
      return false
    }
    const isLast = work.attempts >= maxAttempts
    if (isTemporaryDatabaseError(error) && !isLast) {
      deps.log.warn(
        { ...facts, err: error },
        'import postponed: the database is busy or cannot be reached'
      )
    } else deps.log.error({ ...facts, err: error }, 'import failed')
    if (!isLast) await pause(deps, work, retryMs * work.attempts)
    else if (work.state === 'running' && work.applied)
      await end(deps, work, { state: 'done', failure: null })
    else {
      const state = work.state === 'undoing' ? 'done' : 'failed'
      await end(deps, work, { state, failure: 'interrupted' })
    }
    return false
  }
}

function inCompanyOf<T>(
  deps: WorkDeps,
  { company_id }: { company_id: string },
  run: (tx: Tx) => Promise<T>
): Promise<T> {
  return inCompany(deps.db, toCompanyId(company_id), run)
}

async function check(
  deps: WorkDeps,
  work: ImportInProgress,
  handlers: ImportRowHandlers,
  stopping: () => boolean
): Promise<void> {
  for (const slice of slicesOf(work, { done: work.progress, atOnce: checkedAtOnce })) {
    if (stopping()) throw new Stopped()
    await inCompanyOf(deps, work, async tx => {
      await keepLease(tx, deps, work, slice.to)
      await handlers.checkRows(tx, deps, work, slice)
    })
    await nextTurn()
  }
  await inCompanyOf(deps, work, async tx => {
    const counts = await countVerdicts(tx, work.id)
    await settle(tx, work, { state: 'checked', counts: JSON.stringify(counts) })
  })
}

async function run(
  deps: WorkDeps,
  work: ImportInProgress,
  handlers: ImportRowHandlers,
  stopping: () => boolean
): Promise<void> {
  if (!work.applied) {
    await inCompanyOf(deps, work, async tx => {
      await planAsTablesGrow(tx)
      if (!(await keepWhatIsNeeded(tx, work, handlers))) throw new Stale()
      const show = createProgress(deps, work)
      for (const slice of slicesOf(work)) {
        if (stopping()) throw new Stopped()
        const missed = await handlers.apply(tx, deps, work, slice)
        if (missed.length > 0 && !work.skip_refused) throw new Stale()
        await show(slice.to)
      }
      const facts = await handlers.afterRun(tx, deps, work, () => show(work.row_count))
      const { refused, skipped, ...counts } = await countVerdicts(tx, work.id)
      addAuditEntry(tx, deps, {
        by: actorIdOf(work),
        action: 'import.run',
        target: work.id,
        after: { name: work.file_name, ...counts, skipped: refused + skipped, ...facts }
      })
      await settle(tx, work, { state: 'running', applied: true })
    })
    work.applied = true
  }
  // a transaction of its own, so that it counts what has been committed
  await inCompanyOf(deps, work, async tx => {
    const applied = { created: 0, changed: 0 }
    for (const slice of slicesOf(work)) {
      const { created, changed } = await handlers.countApplied(tx, work, slice)
      applied.created += created
      applied.changed += changed
    }
    const { unchanged, refused, skipped } = await countVerdicts(tx, work.id)
    const result = { ...applied, unchanged, skipped: refused + skipped }
    const promised = { ...zeroImportCounts, ...work.counts }
    const differs =
      result.created !== promised.new ||
      result.changed !== promised.changed ||
      unchanged !== promised.unchanged ||
      result.skipped !== promised.refused + promised.skipped
    if (differs)
      deps.log.error(
        { company: work.company_id, import: work.id, promised, result },
        'the result of an import differs from that of its check'
      )
    const state = 'done'
    await settle(tx, work, { state, result: JSON.stringify({ ...result, differs }) })
  })
}

async function undo(
  deps: WorkDeps,
  work: ImportInProgress,
  handlers: ImportRowHandlers,
  stopping: () => boolean
): Promise<void> {
  await inCompanyOf(deps, work, async tx => {
    await planAsTablesGrow(tx)
    const show = createProgress(deps, work)
    for (const slice of slicesOf(work)) {
      if (stopping()) throw new Stopped()
      await handlers.revert(tx, deps, work, slice)
      await show(slice.to)
    }
    await handlers.afterUndo(tx, deps, work)
    const undone = await countUndone(tx, work)
    addAuditEntry(tx, deps, {
      by: actorIdOf(work),
      action: 'import.undo',
      target: work.id,
      after: { name: work.file_name, ...undone }
    })
    await settle(tx, work, { state: 'undone', undone: JSON.stringify(undone) })
  })
}

// A plan made while a table was nearly empty reads the whole table for each row, and PostgreSQL
// does not replace it while the table grows in one transaction. Foreign keys are checked with such
// plans too.
async function planAsTablesGrow(tx: Tx): Promise<void> {
  await sql`
    select set_config(name, 'off', true)
      from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']) as name`.execute(
    tx
  )
  await sql`discard plans`.execute(tx)
}

async function keepWhatIsNeeded(
  tx: Tx,
  work: ImportInProgress,
  handlers: ImportRowHandlers
): Promise<boolean> {
  const needed = new Set<string>()
  for (const slice of slicesOf(work)) {
    for (const id of await handlers.needs(tx, work, slice)) needed.add(id)
  }
  return handlers.keep(tx, [...needed])
}

async function countUndone(
  tx: Tx,
  { id }: ImportInProgress
): Promise<{ removed: number; restored: number; kept: number }> {
  const { rows } = await sql<{ removed: number; restored: number; kept: number }>`
    select count(*) filter (where kept is null and verdict = 'new') as removed,
           count(*) filter (where kept is null and verdict = 'changed') as restored,
           count(*) filter (where kept is not null) as kept
      from import_row where company_id = ${tx.companyId} and import_id = ${id}`.execute(tx)
  return rows[0] ?? { removed: 0, restored: 0, kept: 0 }
}

function* slicesOf(
  { row_count }: ImportInProgress,
  { done = 0, atOnce = rowsAtOnce } = {}
): Generator<RowSlice, void> {
  for (let from = done + 1; from <= row_count; from += atOnce) {
    yield { from, to: Math.min(from + atOnce - 1, row_count) }
  }
}

const shownEveryMs = 500

// in a transaction of its own: others cannot see what the long one writes, and a failure does not
// end it
function createProgress(
  deps: WorkDeps,
  work: ImportInProgress
): (progress: number) => Promise<void> {
  let next = 0
  return async progress => {
    if (performance.now() < next) return
    const keep = (tx: Tx) => keepLease(tx, deps, work, progress)
    try {
      await inCompanyOf(deps, work, keep)
    } catch (error) {
      if (error instanceof Stopped) throw error
    }
    next = performance.now() + shownEveryMs
  }
}

async function keepLease(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  work: ImportInProgress,
  progress: number
): Promise<void> {
  const leased_until = new Date(deps.clock().getTime() + working.ms)
  await change(tx, work, { progress, leased_until })
}

// an applied run keeps the lease, because it still has to count
async function settle(
  tx: Tx,
  work: ImportInProgress,
  changes: {
    state: ImportState
    applied?: boolean
    counts?: string
    result?: string
    undone?: string
  }
): Promise<void> {
  const lease = changes.applied ? {} : { leased_until: null }
  await change(tx, work, { ...changes, ...lease })
}

async function change(
  tx: Tx,
  { id, generation }: ImportInProgress,
  changes: Record<string, unknown>
): Promise<void> {
  const { numUpdatedRows } = await updateById(tx, 'import', id)
    .set(changes)
    .where('generation', '=', generation)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new Stopped()
}

async function end(
  deps: WorkDeps,
  { company_id, id, generation }: ImportInProgress,
  set: { state: ImportState; failure: ImportFailureReason | null }
): Promise<void> {
  const where = sql<boolean>`generation = ${generation}`
  await inCompanyOf(deps, { company_id }, tx => releaseLease(tx, working, { id, where, set }))
}

async function pause(
  deps: WorkDeps,
  { company_id, id, generation }: ImportInProgress,
  ms: number,
  set: { attempts?: number } = {}
): Promise<void> {
  const from = ms > 0 ? new Date(deps.clock().getTime() + ms) : null
  const where = sql<boolean>`generation = ${generation}`
  const change = { id, where, set }
  await inCompanyOf(deps, { company_id }, tx => releaseLease(tx, working, change, from))
}

function actorIdOf({ actor_id, actor_company, company_id }: ImportInProgress) {
  return { id: actor_id ?? '', company_id: toCompanyId(actor_company ?? company_id) }
}
