import { sql } from 'kysely'
import { deleteById, updateById } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'

// The file of an import travels as that of a deposit does. It is charged to nobody, and the history
// has no entry of it.

/** The last byte of the file has arrived. */
export async function beginReading(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
  import_id: string
): Promise<void> {
  await updateById(tx, 'register_import', import_id)
    .set({ state: 'reading', requested_at: deps.clock() })
    .where('state', '=', 'uploading')
    .execute()
  tx.afterCommit(() => deps.signals.registers.send(tx.companyId))
}

/** Nothing has been read. Without a failure, the import is forgotten. */
export async function endImportWithoutFile(
  tx: Tx,
  import_id: string,
  { isFailure }: { isFailure: boolean }
): Promise<void> {
  if (isFailure) {
    await updateById(tx, 'register_import', import_id)
      .set({ state: 'failed', failure: 'interrupted' })
      .where('state', '=', 'uploading')
      .execute()
  } else {
    await deleteById(tx, 'register_import', import_id).where('state', '=', 'uploading').execute()
  }
}

/** Returns the staged file, which the caller deletes after the commit. */
export async function settleUpload(tx: Tx, id: string | null) {
  const { rows } = await sql<{ id: string; generation: number }>`
    update upload set state = 'settled', writer = null, writer_until = null
     where company_id = ${tx.companyId} and id = ${id} and state <> 'settled'
    returning id, generation`.execute(tx)
  return rows[0] && { ...rows[0], company_id: tx.companyId }
}
