import { createHash } from 'node:crypto'
import type { TileReader } from '../../../core/evidence/tiles.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps, LogFiles } from '../deps.ts'

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
