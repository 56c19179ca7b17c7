import { createHash } from 'node:crypto'
import type { TileReader } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { LogState } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, LogFiles } from '../deps.ts'

/** The current log of a company. */
export interface LockedLog {
  log_no: number
  origin: string
  key_version: number
  state: LogState
  published_size: number
  /** How many leaves are committed, the policy included. */
  leaves: number
}

/** Locks the row of the company's current log. Undefined if the company has been removed. */
export async function lockLog(tx: Tx): Promise<LockedLog | undefined> {
  const log = await selectInCompany(tx, 'log_state')
    .orderBy('log_no', 'desc')
    .limit(1)
    .forUpdate()
    .select(['log_no', 'origin', 'key_version', 'state', 'published_size'])
    .executeTakeFirst()
  // read after the lock, because leaves go on being committed
  const head = await selectInCompany(tx, 'log_head')
    .select(['log_no', 'leaf_seq'])
    .executeTakeFirst()
  if (!log || head?.log_no !== log.log_no) return undefined
  return { ...log, leaves: head.leaf_seq + 1 }
}

/** What has happened to a log that signs nothing, for operators. */
export const freezeReasons = {
  behind: 'its published files are newer than the database. Was a backup restored?',
  no_checkpoint:
    'its published checkpoint is missing, damaged or of another log. Is the folder log the right one?',
  forked:
    'its published files hold another history than the database. Does a copy of this installation run?',
  copied:
    'the folder log is not the one in which logs were signed last. Was it moved, copied or restored?'
} as const satisfies Record<Exclude<LogState, 'running' | 'retired'>, string>

export interface LogSummary {
  company: CompanyId
  origin: string
  state: LogState
  leaves: number
  published: number
  /** What the monitor found last, or why it cannot be signed. */
  fault: string | null
}

/** Of a company, the current one last. */
export function listLogsOf(deps: Pick<Deps, 'db'>, company: CompanyId): Promise<LogSummary[]> {
  return inCompany(deps.db, company, async tx => {
    const head = await selectInCompany(tx, 'log_head')
      .select(['log_no', 'leaf_seq'])
      .executeTakeFirst()
    const logs = await selectInCompany(tx, 'log_state')
      .orderBy('log_no')
      .select(['log_no', 'origin', 'state', 'published_size as published', 'fault'])
      .execute()
    return logs.map(({ log_no, ...log }) => ({
      company,
      ...log,
      leaves: log_no === head?.log_no ? head.leaf_seq + 1 : log.published
    }))
  })
}

/** Names the published files of a log: SHA-256 of its origin, in hex digits. */
export function logIdOf(origin: string): string {
  return createHash('sha256').update(origin).digest('hex')
}

/** Returns the id of the log that the company's new leaves belong to. */
export function readCurrentLog(db: Deps['db'], company: CompanyId): Promise<string> {
  return inCompany(db, company, async tx => {
    const head = await selectInCompany(tx, 'log_head').select('origin').executeTakeFirstOrThrow()
    return logIdOf(head.origin)
  })
}

/** Reads the published tiles of a log. */
export function tileReaderOf(files: Pick<LogFiles, 'readTile'>, log: string): TileReader {
  return async (tile, width) => {
    const hashes = await files.readTile(log, tile)
    if (!hashes || hashes.length < width * 32)
      throw new Error(`log ${log} lacks hashes of tile ${tile.level}/${tile.index}`)
    return hashes
  }
}
