import { areEqualBytes, type Bytes } from '../../../core/bytes.ts'
import { type Checkpoint, parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import { leafHash } from '../../../core/evidence/deposit-leaf.ts'
import { parseLeaf } from '../../../core/evidence/leaves.ts'
import { appendLeaf, emptyTree, rootOf } from '../../../core/evidence/merkle-tree.ts'
import { cutEntries, parseEntries, tileWidth } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, LogFiles } from '../deps.ts'
import { guardLog } from './log-guard.ts'
import { isSignedBy, openLogKey } from './log-keys.ts'
import { rewriteFiles } from './log-publishing.ts'
import {
  allowLongWork,
  deleteLeaves,
  inLockedLog,
  insertLeaves,
  LogRefusal,
  lockHead,
  noteNewLeaves,
  type RecoveryDeps,
  readLeaves,
  readNewestNote,
  type StoredLeaf
} from './log-recovery.ts'
import { type LockedLog, logIdOf } from './logs.ts'

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
