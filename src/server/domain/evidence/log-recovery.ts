import { sql } from 'kysely'
import { areEqualBytes, type Bytes, fromBase64Url } from '../../../core/bytes.ts'
import { type Checkpoint, parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import {
  buildDepositLeaf,
  type DepositField,
  depositFields,
  leafHash
} from '../../../core/evidence/deposit-leaf.ts'
import { parseLeaf } from '../../../core/evidence/leaves.ts'
import { appendLeaf, emptyTree, rootOf } from '../../../core/evidence/merkle-tree.ts'
import { cutEntries, parseEntries, tileWidth } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, LogFiles } from '../deps.ts'
import { guardLog } from './log-guard.ts'
import { beginLog, isSignedBy, openLogKey, readPlatformKey } from './log-keys.ts'
import { rewriteFiles } from './log-publishing.ts'
import { type LockedLog, lockLog } from './logs.ts'
import { logIdOf } from './published-logs.ts'
import { type DepositOpenings, readOpeningsOfDeposits } from './sealed-openings.ts'

/** `db` connects as the owner of the tables, because the service may not delete leaves. */
type RecoveryDeps = Pick<
  Deps,
  'db' | 'keys' | 'companyKeys' | 'random' | 'clock' | 'settings' | 'logFiles'
>

/** A log cannot be mended in this way. The message is for operators. */
export class LogRefusal extends Error {}

interface StoredLeaf {
  leaf_id: string
  leaf: string
  hash: Uint8Array
}

export type ResyncResult =
  /** The database had lost `restored` leaves; `moved` others had taken their indexes. */
  | { done: 'leaves restored'; restored: number; moved: number }
  /** The database has all leaves, so the published files were written anew. */
  | { done: 'files written'; leaves: number }

/** Makes the database and the published files of a company's log agree again. */
export async function resyncLog(deps: RecoveryDeps, company: CompanyId): Promise<ResyncResult> {
  return inLockedLog(deps, company, async (tx, log) => {
    const id = logIdOf(log.origin)
    const key = await openLogKey(tx, deps, log)
    const successor = await deps.logFiles.readSuccessor(id)
    if (successor !== undefined)
      throw new LogRefusal(
        `This log was retired after the backup was made, and ${successor} follows it. Connect the database that knows that, or retire the log again.`
      )
    const file = await deps.logFiles.readCheckpoint(id)
    if (file === undefined || !isSignedBy(key, file))
      throw new LogRefusal(
        `The file log/${id}/checkpoint in the data folder is missing, or this log has not signed it. Restore it, or retire the log.`
      )
    const { state } = await guardLog(tx, { ...log, key }, file)
    const checkpoint = parseCheckpoint(file)
    const size = Number(checkpoint.size)
    if (state === 'running') {
      await rewriteFiles(tx, deps.logFiles, { ...log, id }, size)
      // an older file in place takes nothing back
      await setState(tx, log, Math.max(size, log.published_size))
      return { done: 'files written', leaves: size }
    }
    const lost = await findLostLeaves(tx, deps.logFiles, { ...log, id }, checkpoint)
    return { done: 'leaves restored', ...(await restoreLeaves(tx, log, size, lost)) }
  })
}

/** Writes the files of a retired log anew from the database, the checkpoint too if it was lost. */
export async function rewriteRetiredLog(
  deps: RecoveryDeps,
  company: CompanyId,
  origin: string
): Promise<ResyncResult> {
  return inCompany(deps.db, company, async tx => {
    await allowLongWork(tx)
    const log = await selectInCompany(tx, 'log_state')
      .where('origin', '=', origin)
      .where('state', '=', 'retired')
      .forUpdate()
      .select(['log_no', 'origin', 'key_version', 'state', 'published_size'])
      .executeTakeFirstOrThrow()
    const { log_no, published_size: leaves } = log
    const newest = await readNewestNote(tx, log_no)
    if (!newest) throw new LogRefusal('This log has signed nothing.')
    const id = logIdOf(origin)
    const file = await deps.logFiles.readCheckpoint(id)
    const key = await openLogKey(tx, deps, log)
    const finding = await guardLog(tx, { ...log, leaves, key }, file)
    if (finding.state === 'behind' || finding.state === 'forked')
      throw new LogRefusal(
        `The database has not what this log has signed. Restore the folder log/${id}.`
      )
    const found = finding.state === 'running' ? finding.published.size : 0
    await rewriteFiles(tx, deps.logFiles, { id, log_no }, Math.max(found, newest.size))
    if (found < newest.size) await deps.logFiles.writeCheckpoint(id, newest.note, file)
    const next = await selectInCompany(tx, 'log_state')
      .where('log_no', '=', log_no + 1)
      .select('origin')
      .executeTakeFirstOrThrow()
    await deps.logFiles.writeSuccessor(id, next.origin)
    await tx
      .updateTable('log_state')
      .set({ monitored_at: null, fault: null })
      .where('company_id', '=', company)
      .where('log_no', '=', log_no)
      .execute()
    return { done: 'files written', leaves }
  })
}

export interface RetirementResult {
  origin: string
  successor: string
  /** Leaves that no checkpoint covered, built again for the successor. */
  rebuilt: number
  /** Of these, those that could not be built, because their openings are lost. */
  lost: number
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
    return { origin: log.origin, successor: next.origin, rebuilt: rebuilt.length, lost }
  })
}

function inLockedLog<T>(
  deps: RecoveryDeps,
  company: CompanyId,
  run: (tx: Tx, log: LockedLog) => Promise<T>
): Promise<T> {
  return inCompany(deps.db, company, async tx => {
    await allowLongWork(tx)
    const locked = await lockLog(tx)
    if (!locked) throw new LogRefusal('This company has no log.')
    return run(tx, locked)
  })
}

// Until the transaction ends, no leaf is committed, so deposits are refused. What takes long comes before.
async function lockHead(tx: Tx): Promise<void> {
  await selectInCompany(tx, 'log_head').forUpdate().select('leaf_seq').executeTakeFirstOrThrow()
}

// an operator waits for it, and a log may have millions of leaves
async function allowLongWork(tx: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(tx)
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
}

interface LostLeaves {
  /** The first index at which the database has not what was published. */
  from: number
  leaves: StoredLeaf[]
}

async function findLostLeaves(
  tx: Tx,
  files: LogFiles,
  log: LockedLog & { id: string },
  { size, root }: Checkpoint
): Promise<LostLeaves> {
  const lost: LostLeaves = { from: Number(size), leaves: [] }
  let tree = emptyTree
  while (tree.size < Number(size)) {
    const from = tree.size
    const published = await readBundle(files, log.id, from, Number(size))
    const stored = await readLeaves(tx, log.log_no, from, from + published.length)
    for (const [at, leaf] of published.entries()) {
      tree = appendLeaf(tree, leaf.hash)
      if (lost.leaves.length === 0 && stored[at]?.leaf === leaf.leaf) continue
      if (lost.leaves.length === 0) lost.from = from + at
      lost.leaves.push(leaf)
    }
  }
  if (!areEqualBytes(rootOf(tree), root))
    throw new LogRefusal(
      `The entries in log/${log.id} are not those that were signed. Restore them, or retire the log.`
    )
  return lost
}

async function readBundle(
  files: LogFiles,
  id: string,
  from: number,
  size: number
): Promise<(StoredLeaf & { hash: Bytes })[]> {
  const bundle = from / tileWidth
  try {
    const entries = await files.readEntries(id, bundle)
    if (!entries) throw new Error('there is no such file')
    return parseEntries(cutEntries(entries, Math.min(tileWidth, size - from))).map(readLeaf)
  } catch (error) {
    if (error instanceof LogRefusal) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new LogRefusal(
      `The file of entries ${bundle} in log/${id} cannot be read: ${reason}. Restore it, or retire the log.`
    )
  }
}

function readLeaf(leaf: string): StoredLeaf & { hash: Bytes } {
  const parsed = parseLeaf(leaf)
  if (parsed.type === 'unknown')
    throw new LogRefusal('The log has leaves of a newer version. Resync it with that version.')
  return { leaf_id: parsed.id, leaf, hash: leafHash(leaf) }
}

async function restoreLeaves(
  tx: Tx,
  log: LockedLog,
  size: number,
  lost: LostLeaves
): Promise<{ restored: number; moved: number }> {
  if (lost.from < log.published_size)
    throw new LogRefusal(
      'The database has signed other leaves than the published files hold: the log is forked. Retire it.'
    )
  await lockHead(tx)
  const known = new Set(lost.leaves.map(({ leaf_id }) => leaf_id))
  const present = await readLeaves(tx, log.log_no, lost.from)
  const moved = present.filter(({ leaf_id }) => !known.has(leaf_id))
  await deleteLeaves(tx, log.log_no, lost.from)
  await insertLeaves(tx, log.log_no, lost.from, [...lost.leaves, ...moved])
  await tx
    .updateTable('log_head')
    .set({ leaf_seq: size + moved.length - 1 })
    .where('company_id', '=', tx.companyId)
    .execute()
  await noteNewLeaves(tx, size, moved)
  await setState(tx, log, size)
  return { restored: lost.leaves.length, moved: moved.length }
}

async function setState(tx: Tx, { log_no }: LockedLog, published_size: number): Promise<void> {
  await tx
    .updateTable('log_state')
    .set({ state: 'running', published_size, monitored_at: null, fault: null })
    .where('company_id', '=', tx.companyId)
    .where('log_no', '=', log_no)
    .execute()
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

function readNewestNote(
  tx: Tx,
  log_no: number
): Promise<{ size: number; note: string } | undefined> {
  return selectInCompany(tx, 'log_checkpoint')
    .where('log_no', '=', log_no)
    .orderBy('size', 'desc')
    .limit(1)
    .select(['size', 'note'])
    .executeTakeFirst()
}

async function insertSuccessor(
  tx: Tx,
  { settings, logFiles }: Pick<Deps, 'settings' | 'logFiles'>,
  log: LockedLog
): Promise<{ log_no: number; origin: string; key_version: number }> {
  const domain = await selectInCompany(tx, 'domain')
    .where('verified_at', 'is not', null)
    .where('host', 'not like', '*%')
    .orderBy('is_primary', 'desc')
    .orderBy('created_at')
    .select('host')
    .limit(1)
    .executeTakeFirst()
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

// a history entry says which leaf it has, and where
async function noteNewLeaves(tx: Tx, first: number, leaves: readonly StoredLeaf[]): Promise<void> {
  const given = sql`unnest(
    ${leaves.map(({ leaf_id }) => leaf_id)}::text[],
    ${leaves.map(({ hash }) => Buffer.from(hash).toString('hex'))}::text[]
  ) with ordinality as given (leaf_id, leaf_hash, nth)`
  const company = tx.companyId
  await sql`
    update request set facts = facts || jsonb_build_object('leaf_hash', leaf_hash)
    from deposit, ${given}
    where deposit.company_id = ${company} and deposit.id = leaf_id
      and request.company_id = ${company} and request.id = deposit.request_id`.execute(tx)
  await sql`
    update event set payload = payload || jsonb_build_object('leaf_hash', leaf_hash, 'leaf_index', ${first}::bigint + nth - 1)
    from deposit, ${given}
    where deposit.company_id = ${company} and deposit.id = leaf_id
      and event.company_id = ${company} and event.request_id = deposit.request_id
      and event.payload ? 'leaf_hash'`.execute(tx)
}

function isDeposit({ leaf }: StoredLeaf): boolean {
  return parseLeaf(leaf).type === 'deposit'
}

function readLeaves(
  tx: Tx,
  log_no: number,
  from: number,
  to = Number.MAX_SAFE_INTEGER
): Promise<StoredLeaf[]> {
  return selectInCompany(tx, 'log_leaf')
    .where('log_no', '=', log_no)
    .where('idx', '>=', from)
    .where('idx', '<', to)
    .orderBy('idx')
    .select(['leaf_id', 'leaf', 'hash'])
    .execute()
}

async function deleteLeaves(tx: Tx, log_no: number, from: number): Promise<void> {
  await tx
    .deleteFrom('log_leaf')
    .where('company_id', '=', tx.companyId)
    .where('log_no', '=', log_no)
    .where('idx', '>=', from)
    .execute()
}

async function insertLeaves(
  tx: Tx,
  log_no: number,
  from: number,
  leaves: readonly StoredLeaf[]
): Promise<void> {
  await sql`
    insert into log_leaf (company_id, log_no, idx, leaf_id, leaf, hash)
    select ${tx.companyId}::uuid, ${log_no}::int, ${from}::bigint + nth - 1, leaf_id, leaf, hash
    from unnest(
      ${leaves.map(({ leaf_id }) => leaf_id)}::text[], ${leaves.map(({ leaf }) => leaf)}::text[],
      ${leaves.map(({ hash }) => Buffer.from(hash))}::bytea[]
    ) with ordinality as given (leaf_id, leaf, hash, nth)`.execute(tx)
}
