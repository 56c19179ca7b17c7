import { sql } from 'kysely'
import { fromBase64Url } from '../../../core/bytes.ts'
import { type Checkpoint, parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import {
  buildDepositLeaf,
  type DepositField,
  depositFields
} from '../../../core/evidence/deposit-leaf.ts'
import { parseLeaf } from '../../../core/evidence/leaves.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, LogFiles } from '../deps.ts'
import { isFolderOfLogs } from './log-folder.ts'
import { guardLog } from './log-guard.ts'
import { beginLog, isSignedBy, openLogKey, readPlatformKey } from './log-keys.ts'
import {
  deleteLeaves,
  inLockedLog,
  insertLeaves,
  lockHead,
  noteNewLeaves,
  type RecoveryDeps,
  readLeaves,
  readNewestNote,
  type StoredLeaf
} from './log-recovery.ts'
import { type LockedLog, logIdOf } from './logs.ts'
import { type DepositOpenings, readOpeningsOfDeposits } from './sealed-openings.ts'
import { findDomainForLog } from './trial-logs.ts'

export interface RetirementResult {
  origin: string
  successor: string
  /** Leaves that no checkpoint covered, built again for the successor. */
  rebuilt: number
  /** Of these, those that could not be built, because their openings are lost. */
  lost: number
  /** The successor signs nothing before `log moved`. */
  is_copied: boolean
}

/** Ends a company's log and begins its successor, with new keys and another origin. */
export async function retireLog(deps: RecoveryDeps, company: CompanyId): Promise<RetirementResult> {
  const platform = await readPlatformKey(deps)
  return inLockedLog(deps, company, async (tx, log) => {
    const last = await readLastCheckpoint(tx, deps, log)
    await lockHead(tx)
    const leaves = (await readLeaves(tx, log.log_no, last.covered)).filter(isDeposit)
    const ids = leaves.map(({ leaf_id }) => leaf_id)
    const openings = await readOpeningsOfDeposits(tx, deps, {
      company_id: company,
      record_ids: ids
    })
    await deleteLeaves(tx, log.log_no, last.covered)
    await tx
      .updateTable('log_state')
      .set({
        state: 'retired',
        published_size: last.covered,
        // the monitor would find each day what cannot be mended
        ...(last.isOther && { fault: null, monitored_at: sql<Date>`'infinity'` })
      })
      .where('company_id', '=', company)
      .where('log_no', '=', log.log_no)
      .execute()
    const next = await insertSuccessor(tx, deps, log)
    const previous = last.checkpoint && {
      origin: log.origin,
      root: last.checkpoint.root,
      size: Number(last.checkpoint.size)
    }
    await beginLog(tx, deps, { ...next, previous }, platform)
    const rebuilt = ids.flatMap(id => {
      const opened = openings.get(id)
      return opened ? [rebuildLeaf(next.origin, id, opened)] : []
    })
    await insertLeaves(tx, next.log_no, 1, rebuilt)
    await noteNewLeaves(tx, 1, rebuilt)
    const head = { origin: next.origin, log_no: next.log_no, leaf_seq: rebuilt.length }
    await tx.updateTable('log_head').set(head).where('company_id', '=', company).execute()
    await deps.logFiles.writeSuccessor(logIdOf(log.origin), next.origin)
    const lost = ids.length - rebuilt.length
    const is_copied = !(await isFolderOfLogs(tx, deps.logFiles))
    return { origin: log.origin, successor: next.origin, rebuilt: rebuilt.length, lost, is_copied }
  })
}

async function readLastCheckpoint(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'logFiles'>,
  log: LockedLog
): Promise<{ checkpoint: Checkpoint | undefined; covered: number; isOther: boolean }> {
  const file = await deps.logFiles.readCheckpoint(logIdOf(log.origin))
  const key = await openLogKey(tx, deps, log).catch(() => undefined)
  const published = file && key && isSignedBy(key, file) ? parseCheckpoint(file) : undefined
  const finding = key && (await guardLog(tx, { ...log, key }, file))
  const isSame = finding?.state === 'running'
  const covered = Math.max(log.published_size, isSame && published ? Number(published.size) : 0)
  const stored = await readNewestNote(tx, log.log_no)
  const newest = stored && parseCheckpoint(stored.note)
  // the file was lost, or is an older one; if it has another history, that is what people see
  const isOld = !published || (isSame && newest && newest.size > published.size)
  const isOther = finding?.state === 'behind' || finding?.state === 'forked'
  return { checkpoint: isOld ? newest : published, covered, isOther }
}

async function insertSuccessor(
  tx: Tx,
  { settings, logFiles }: Pick<Deps, 'settings' | 'logFiles'>,
  log: LockedLog
): Promise<{ log_no: number; origin: string; key_version: number }> {
  const domain = await findDomainForLog(tx)
  const company = await tx
    .selectFrom('company')
    .where('id', '=', tx.companyId)
    .select('demo')
    .executeTakeFirst()
  const port = settings.port === undefined ? '' : `:${settings.port}`
  // this command may have been started without the settings of the service
  const [before = ''] = log.origin.split('/')
  const isSameHost = !domain || before.split(':')[0] === domain.host
  const address = isSameHost ? before : `${domain.host}${port}`
  const withId = `${address}/log/${tx.companyId}`
  const names = domain && company?.demo === null ? [`${address}/log`, withId] : [withId]
  const earlier = await selectInCompany(tx, 'log_state').select('origin').execute()
  const next = { log_no: log.log_no + 1, key_version: log.key_version + 1 }
  for (const name of names) {
    const count = earlier.filter(({ origin }) => isNameOf(origin, name)).length
    const origin = await firstWithoutFiles(logFiles, name, count + 1)
    const added = await tx
      .insertInto('log_state')
      .values({ company_id: tx.companyId, origin, state: 'running', ...next })
      // another company's log may have the name
      .onConflict(state => state.column('origin').doNothing())
      .returning('origin')
      .executeTakeFirst()
    if (added) return { ...next, origin }
  }
  throw new Error(`no name is free for the successor of ${log.origin}`)
}

// a database that was restored may have lost the log that has them
async function firstWithoutFiles(files: LogFiles, name: string, number: number): Promise<string> {
  const origin = number === 1 ? name : `${name}/${number}`
  const isTaken = (await files.readCheckpoint(logIdOf(origin))) !== undefined
  return isTaken ? firstWithoutFiles(files, name, number + 1) : origin
}

// `h/log` and `h/log/2`, but not `h/log/<company id>`
function isNameOf(origin: string, name: string): boolean {
  const number = origin.startsWith(`${name}/`) ? origin.slice(name.length + 1) : undefined
  return origin === name || (number !== undefined && /^[0-9]+$/.test(number))
}

function rebuildLeaf(origin: string, id: string, { fields }: DepositOpenings): StoredLeaf {
  const eachField = <T>(read: (field: { salt: string; value: string }) => T) =>
    // as: the object has an entry for each field of the list
    Object.fromEntries(
      depositFields.map(name => [name, read(fields[name] ?? { salt: '', value: '' })])
    ) as Record<DepositField, T>
  const values = eachField(({ value }) => value)
  const salts = eachField(({ salt }) => fromBase64Url(salt))
  const { leaf, hash } = buildDepositLeaf({ origin, id, values, salts })
  return { leaf_id: id, leaf, hash }
}

function isDeposit({ leaf }: StoredLeaf): boolean {
  return parseLeaf(leaf).type === 'deposit'
}
