import { areEqualBytes, type Bytes } from '../../../core/bytes.ts'
import { leafHash } from '../../../core/evidence/deposit-leaf.ts'
import { checkpointText, signNote } from '../../../core/evidence/log-signing.ts'
import { formatEntries, growTiles, rootFromTiles, tileWidth } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, LogFiles } from '../deps.ts'
import { isFolderOfLogs } from './log-folder.ts'
import { type GuardFinding, guardLog, type PublishedTree } from './log-guard.ts'
import { beginLog, hasPolicy, type LogKey, openLogKey, readPlatformKey } from './log-keys.ts'
import { freezeReasons, type LockedLog, lockLog, logIdOf, tileReaderOf } from './logs.ts'
import { isFrozen } from './seals.ts'

type PublishingDeps = Pick<
  Deps,
  'db' | 'keys' | 'random' | 'clock' | 'settings' | 'logFiles' | 'signals' | 'log'
>

// Of one checkpoint. They are read, written and signed while the log's row is locked, and a statement
// follows the one before within the ten seconds that a transaction may be idle.
const leavesAtOnce = 4096

/**
 * Signs the current log of a company with its new leaves. Returns true if there are more. The row of
 * the log stays locked from the look at the published file to the commit, so of several processes one
 * publishes at a time.
 */
export async function publishLog(deps: PublishingDeps, company: CompanyId): Promise<boolean> {
  await beginLogWithoutPolicy(deps, company)
  return inCompany(deps.db, company, async tx => {
    const log = await lockLog(tx)
    if (!log) return false
    const key = await openLogKey(tx, deps, log)
    const id = logIdOf(log.origin)
    const file = await deps.logFiles.readCheckpoint(id)
    const finding = await findState(tx, deps.logFiles, { ...log, id, key }, file)
    if (finding.state !== log.state) await noteState(tx, deps, log, finding.state)
    if (finding.state !== 'running') return false
    const { published } = finding
    const size = nextSize(published.size, log)
    if (size === published.size && size === log.published_size) return false
    const root = await writeTiles(tx, deps.logFiles, { ...log, id }, published, size)
    await sign(tx, deps, { ...log, id, key, file }, { size, root })
    return size < log.leaves
  })
}

async function findState(
  tx: Tx,
  files: LogFiles,
  log: WrittenLog & { key: LogKey },
  file: string | undefined
): Promise<GuardFinding> {
  // a database from before the retirement does not know of it
  const isRetired = (await files.readSuccessor(log.id)) !== undefined
  if (isRetired) return { state: 'behind' }
  const finding = await guardLog(tx, log, file)
  const isCopied = finding.state === 'running' && !(await isFolderOfLogs(tx, files))
  return isCopied ? { state: 'copied' } : finding
}

/** Whether a log has leaves that no checkpoint covers, and whether it signs nothing. */
export async function readPublishingState(
  deps: Pick<Deps, 'db'>,
  company: CompanyId
): Promise<{ hasNew: boolean; isFrozen: boolean }> {
  const row = await inCompany(deps.db, company, tx =>
    selectInCompany(tx, 'log_head')
      .innerJoin('log_state', join => joinInCompany(join, 'log_state.log_no', 'log_head.log_no'))
      .select(['leaf_seq', 'published_size', 'state'])
      .executeTakeFirst()
  )
  if (!row) return { hasNew: false, isFrozen: false }
  return { hasNew: row.published_size <= row.leaf_seq, isFrozen: isFrozen(row.state) }
}

/** Notes that signing the current log of a company failed, for as long as it fails. */
export async function noteFailure(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  company: CompanyId,
  { error, isNew }: { error: unknown; isNew: boolean }
): Promise<void> {
  if (isNew)
    log.error(
      { company, err: error },
      'the log cannot be signed, which is tried again until it succeeds: see docs/operations.md'
    )
  await setFault(db, company, `it cannot be signed: ${reasonOf(error)}`)
}

/** Notes that signing it succeeded again. The monitor soon looks for other faults. */
export async function noteSuccess(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  company: CompanyId
): Promise<void> {
  await setFault(db, company, null)
  log.info({ company }, 'the log can be signed again')
}

async function setFault(db: Deps['db'], company: CompanyId, fault: string | null): Promise<void> {
  await inCompany(db, company, tx =>
    tx
      .updateTable('log_state')
      .set({ fault, monitored_at: null })
      .where('company_id', '=', company)
      .where('log_no', '=', selectInCompany(tx, 'log_head').select('log_no'))
      .execute()
  )
}

// without the path of a file: `EROFS: read-only file system, open '/…'`
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'syscall' in error ? error.message.replace(/, .*/s, '') : error.message
}

async function beginLogWithoutPolicy(deps: PublishingDeps, company: CompanyId): Promise<void> {
  const isMissing = (tx: Tx, log: { log_no: number } | undefined) =>
    log ? hasPolicy(tx, log.log_no).then(has => !has) : false
  const mustBegin = await inCompany(deps.db, company, async tx =>
    isMissing(tx, await selectInCompany(tx, 'log_head').select('log_no').executeTakeFirst())
  )
  if (!mustBegin) return
  const platform = await readPlatformKey(deps)
  await inCompany(deps.db, company, async tx => {
    const log = await lockLog(tx)
    if (log && (await isMissing(tx, log))) await beginLog(tx, deps, log, platform)
  })
}

// The first checkpoint covers the policy alone. A file that is ahead gets its row first, because the
// commit after its signature failed.
function nextSize(published: number, { leaves, published_size }: LockedLog): number {
  if (published > published_size) return published
  return published === 0 ? 1 : Math.min(leaves, published + leavesAtOnce)
}

async function noteState(
  tx: Tx,
  { log: service }: PublishingDeps,
  { log_no, origin, state }: LockedLog,
  found: Exclude<LockedLog['state'], 'retired'>
): Promise<void> {
  await tx
    .updateTable('log_state')
    // a fault that the monitor has found may be gone, too
    .set({ state: found, monitored_at: null })
    .where('company_id', '=', tx.companyId)
    .where('log_no', '=', log_no)
    .execute()
  const facts = { company: tx.companyId, log: origin, state: found, before: state }
  if (found === 'running') service.info(facts, 'the log is signed again')
  else
    service.error(
      facts,
      `sealing is paused, because the log is frozen: ${freezeReasons[found]} See docs/operations.md`
    )
}

type WrittenLog = LockedLog & { id: string }

/** Returns the root at `size`. */
async function writeTiles(
  tx: Tx,
  files: LogFiles,
  log: WrittenLog,
  published: PublishedTree,
  size: number
): Promise<Bytes> {
  if (size === published.size) return published.root
  // a process that was stopped while it published may have written older files when it woke up
  if (!(await haveTilesRoot(files, log.id, published)))
    await rewriteFiles(tx, files, log, published.size)
  const hashes = await writeEntries(tx, files, log, published.size, size)
  return growFiles(files, log.id, published.size, hashes)
}

async function haveTilesRoot(
  files: LogFiles,
  id: string,
  { size, root }: PublishedTree
): Promise<boolean> {
  if (size === 0) return true
  const found = await rootFromTiles(size, tileReaderOf(files, id)).catch(() => undefined)
  return found !== undefined && areEqualBytes(found, root)
}

/** Writes the bundles of these leaves, and returns their hashes. */
async function writeEntries(
  tx: Tx,
  files: LogFiles,
  { id, log_no }: Pick<WrittenLog, 'id' | 'log_no'>,
  from: number,
  to: number
): Promise<Bytes[]> {
  const first = Math.floor(from / tileWidth)
  const rows = await selectInCompany(tx, 'log_leaf')
    .where('log_no', '=', log_no)
    .where('idx', '>=', first * tileWidth)
    .where('idx', '<', to)
    .orderBy('idx')
    .select('leaf')
    .execute()
  if (rows.length !== to - first * tileWidth) throw new Error(`log ${id} lacks leaves below ${to}`)
  const leaves = rows.map(({ leaf }) => leaf)
  for (let at = 0; at < leaves.length; at += tileWidth) {
    const bundle = formatEntries(leaves.slice(at, at + tileWidth))
    await files.writeEntries(id, first + at / tileWidth, bundle)
  }
  return leaves.slice(from - first * tileWidth).map(leafHash)
}

/** Writes the files of the first `size` leaves anew, but for the checkpoint. */
export async function rewriteFiles(
  tx: Tx,
  files: LogFiles,
  log: Pick<WrittenLog, 'id' | 'log_no'>,
  size: number
): Promise<void> {
  for (let from = 0; from < size; from += leavesAtOnce) {
    const hashes = await writeEntries(tx, files, log, from, Math.min(size, from + leavesAtOnce))
    await growFiles(files, log.id, from, hashes)
  }
}

/** Returns the new root. */
async function growFiles(
  files: LogFiles,
  id: string,
  size: number,
  hashes: readonly Bytes[]
): Promise<Bytes> {
  const { tiles, root } = await growTiles(size, hashes, tileReaderOf(files, id))
  for (const { place, hashes: bytes } of tiles) await files.writeTile(id, place, bytes)
  return root
}

async function sign(
  tx: Tx,
  deps: PublishingDeps,
  {
    id,
    log_no,
    origin,
    key,
    published_size,
    file
  }: WrittenLog & { key: LogKey; file: string | undefined },
  { size, root }: PublishedTree
): Promise<void> {
  const note = signNote(checkpointText({ origin, size, root }), key)
  const company_id = tx.companyId
  const published_at = deps.clock()
  await tx
    .insertInto('log_checkpoint')
    .values({ company_id, log_no, size, root: Buffer.from(root), note, published_at })
    .onConflict(checkpoint => checkpoint.doNothing())
    .execute()
  // the row may be that of an earlier signature of this size
  const signed = await selectInCompany(tx, 'log_checkpoint')
    .where('log_no', '=', log_no)
    .where('size', '=', size)
    .select('note')
    .executeTakeFirst()
  if (signed?.note !== note) throw new Error(`log ${origin} has signed another root at ${size}`)
  await tx
    .updateTable('log_state')
    .set({ published_size: Math.max(size, published_size) })
    .where('company_id', '=', company_id)
    .where('log_no', '=', log_no)
    .execute()
  await deps.logFiles.writeCheckpoint(id, note, file)
  tx.afterCommit(() => deps.signals.seals.send(company_id))
}
