import { inNoCompany, type Tx, type TxWithoutCompany } from '../../db/scope.ts'
import type { Deps, LogFiles } from '../deps.ts'
import { LogRefusal } from './log-recovery.ts'

/**
 * Whether logs were signed last in this very folder. A copy of the folder has the same files, and was
 * made at another time, or lies where nobody can tell. True if nobody ever could.
 */
export async function isFolderOfLogs(tx: Tx, files: LogFiles): Promise<boolean> {
  const madeAt = await files.readFolderTime()
  const known = (await readKnownTime(tx)) ?? (madeAt && (await noteFirstFolder(tx, madeAt)))
  return known?.getTime() === madeAt?.getTime()
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

/**
 * From now on, logs are signed in this folder. Returns false if they were already, or nobody ever
 * could tell. Refuses an empty folder, which may be the place where the right one is to be mounted.
 */
export async function moveLogs({ db, logFiles }: Pick<Deps, 'db' | 'logFiles'>): Promise<boolean> {
  const madeAt = await logFiles.readFolderTime()
  return inNoCompany(db, async tx => {
    const known = await readKnownTime(tx)
    if (!known || known.getTime() === madeAt?.getTime()) return false
    if (await logFiles.isFolderEmpty())
      throw new LogRefusal(
        'The folder log in the data folder is empty. Mount or restore it, or retire the logs.'
      )
    await tx
      .updateTable('installation')
      .set({ log_folder_made_at: madeAt ?? null })
      .execute()
    return true
  })
}

async function readKnownTime(tx: Tx | TxWithoutCompany): Promise<Date | null> {
  const { log_folder_made_at } = await tx
    .selectFrom('installation')
    .select('log_folder_made_at')
    .executeTakeFirstOrThrow()
  return log_folder_made_at
}
