import { areEqualBytes, type Bytes, concatBytes } from '../../../core/bytes.ts'
import { parseCheckpoint } from '../../../core/evidence/checkpoints.ts'
import { leafHash } from '../../../core/evidence/deposit-leaf.ts'
import { appendLeaf, emptyTree, rootOf } from '../../../core/evidence/merkle-tree.ts'
import { cutEntries, parseEntries, tileWidth } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps, LogFiles } from '../deps.ts'
import { readLeafHashes } from './log-guard.ts'
import { isSignedBy, openLogKey } from './log-keys.ts'
import { logIdOf, tileReaderOf } from './logs.ts'

type MonitoringDeps = Pick<Deps, 'db' | 'keys' | 'logFiles' | 'clock' | 'log'>

interface MonitoredLog {
  log_no: number
  origin: string
  key_version: number
  published_size: number
}

const dayMs = 24 * 60 * 60_000

/**
 * Reads one log of the company again, if it is a day since somebody did, and notes what is wrong.
 * Returns whether there was one to read.
 */
export async function monitorNextLog(
  deps: MonitoringDeps,
  company: CompanyId,
  stopping: () => boolean = () => false
): Promise<boolean> {
  const log = await claimLog(deps, company)
  if (!log) return false
  const fault = await findLogFault(deps, company, log, stopping)
  if (stopping()) return false
  await inCompany(deps.db, company, tx =>
    tx
      .updateTable('log_state')
      .set({ fault: fault ?? null })
      .where('company_id', '=', company)
      .where('log_no', '=', log.log_no)
      .execute()
  )
  if (fault) {
    const facts = { company, log: log.origin, fault }
    deps.log.error(facts, `the published log is damaged: ${fault}. See docs/operations.md`)
  }
  return true
}

async function claimLog(
  deps: Pick<Deps, 'db' | 'clock'>,
  company: CompanyId
): Promise<MonitoredLog | undefined> {
  const now = deps.clock()
  return inCompany(deps.db, company, async tx => {
    const due = await selectInCompany(tx, 'log_state')
      .where('published_size', '>', 0)
      .where(where =>
        where.or([
          where('monitored_at', 'is', null),
          where('monitored_at', '<', new Date(now.getTime() - dayMs))
        ])
      )
      .orderBy('log_no')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .select(['log_no', 'origin', 'key_version', 'published_size'])
      .executeTakeFirst()
    if (!due) return undefined
    await tx
      .updateTable('log_state')
      .set({ monitored_at: now })
      .where('company_id', '=', company)
      .where('log_no', '=', due.log_no)
      .execute()
    return due
  })
}

/** Returns a sentence without a full stop, for operators. Undefined for no fault. */
export async function findLogFault(
  deps: Pick<Deps, 'db' | 'keys' | 'logFiles'>,
  company: CompanyId,
  log: MonitoredLog,
  stopping: () => boolean = () => false
): Promise<string | undefined> {
  const id = logIdOf(log.origin)
  const note = await deps.logFiles.readCheckpoint(id)
  if (note === undefined) return 'its checkpoint is missing'
  const key = await inCompany(deps.db, company, tx => openLogKey(tx, deps, log))
  if (!isSignedBy(key, note)) return 'its checkpoint is not signed with its key'
  const { size, root } = parseCheckpoint(note)
  if (Number(size) < log.published_size)
    return `its checkpoint covers ${size} leaves, and ${log.published_size} were signed`
  const tiles = checkTiles(deps.logFiles, id)
  let tree = emptyTree
  for (let bundle = 0; tree.size < Number(size); bundle++) {
    if (stopping()) return undefined
    const count = Math.min(tileWidth, Number(size) - tree.size)
    const hashes = await readHashes(deps.logFiles, id, bundle, count)
    if (!hashes) return `entries ${bundle} are missing or damaged`
    const stored = await inCompany(deps.db, company, tx =>
      readLeafHashes(tx, log.log_no, tree.size, tree.size + count)
    ).catch(() => [])
    if (!stored.every((hash, at) => areEqualBytes(hash, hashes[at] ?? hash)) || !stored.length)
      return `entries ${bundle} are not those of the database`
    for (const hash of hashes) tree = appendLeaf(tree, hash)
    const damaged = await tiles.add(hashes)
    if (damaged) return damaged
  }
  const damaged = await tiles.end()
  if (damaged) return damaged
  return areEqualBytes(rootOf(tree), root)
    ? undefined
    : 'its entries have another root than was signed'
}

async function readHashes(
  files: LogFiles,
  id: string,
  bundle: number,
  count: number
): Promise<Bytes[] | undefined> {
  try {
    const entries = await files.readEntries(id, bundle)
    return entries && parseEntries(cutEntries(entries, count)).map(leafHash)
  } catch {
    return undefined
  }
}

// Compares each published tile with the hashes that belong there. Holds at most one tile a level.
function checkTiles(files: LogFiles, id: string) {
  const read = tileReaderOf(files, id)
  const levels: { index: number; hashes: Bytes[] }[] = []

  async function add(hashes: readonly Bytes[], level = 0): Promise<string | undefined> {
    for (const hash of hashes) {
      const tile = levels[level] ?? { index: 0, hashes: [] }
      levels[level] = tile
      tile.hashes.push(hash)
      if (tile.hashes.length < tileWidth) continue
      const damaged =
        (await compare(level)) ?? (await add([rootOf(treeOver(tile.hashes))], level + 1))
      if (damaged) return damaged
      levels[level] = { index: tile.index + 1, hashes: [] }
    }
    return undefined
  }

  async function compare(level: number): Promise<string | undefined> {
    const { index = 0, hashes = [] } = levels[level] ?? {}
    const width = hashes.length
    const stored = await read({ level, index }, width).catch(() => new Uint8Array())
    const isSame = areEqualBytes(stored.subarray(0, width * 32), concatBytes(...hashes))
    return isSame ? undefined : `tile ${level}/${index} is missing or damaged`
  }

  async function end(): Promise<string | undefined> {
    for (const [level, { hashes }] of levels.entries()) {
      const damaged = hashes.length > 0 ? await compare(level) : undefined
      if (damaged) return damaged
    }
    return undefined
  }
  return { add: (hashes: readonly Bytes[]) => add(hashes), end }
}

// a subtree of inner nodes has the hashes of its children where a tree has those of its leaves
function treeOver(hashes: readonly Bytes[]) {
  return hashes.reduce(appendLeaf, emptyTree)
}
