import { inNoCompany, type Tx } from '../../db/scope.ts'
import type { Deps, LogFiles } from '../deps.ts'

/**
 * Whether logs were signed last in this very folder. A copy of the folder has the same files, and was
 * made at another time. True where nobody can tell.
 */
export async function isFolderOfLogs(tx: Tx, files: LogFiles): Promise<boolean> {
  const madeAt = await files.readFolderTime()
  if (!madeAt) return true
  const { log_folder_made_at } = await tx
    .selectFrom('installation')
    .select('log_folder_made_at')
    .executeTakeFirstOrThrow()
  const known = log_folder_made_at ?? (await noteFirstFolder(tx, madeAt))
  return known.getTime() === madeAt.getTime()
}

async function noteFirstFolder(tx: Tx, madeAt: Date): Promise<Date> {
  const { log_folder_made_at } = await tx
    .updateTable('installation')
    // another process may have been first
    .set(row => ({ log_folder_made_at: row.fn.coalesce('log_folder_made_at', row.val(madeAt)) }))
    .returning('log_folder_made_at')
    .executeTakeFirstOrThrow()
  return log_folder_made_at ?? madeAt
}

/** From now on, logs are signed in this folder. Returns false if they were already, or nobody can tell. */
export async function moveLogs({ db, logFiles }: Pick<Deps, 'db' | 'logFiles'>): Promise<boolean> {
  const madeAt = await logFiles.readFolderTime()
  if (!madeAt) return false
  const { numUpdatedRows } = await inNoCompany(db, tx =>
    tx
      .updateTable('installation')
      .set({ log_folder_made_at: madeAt })
      .where('log_folder_made_at', '!=', madeAt)
      .executeTakeFirstOrThrow()
  )
  return numUpdatedRows > 0n
}
