import { type RawBuilder, sql } from 'kysely'
import { deleteById, selectInCompany, updateById } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps, StagedFileId } from '../deps.ts'

// The file of an import travels as that of a deposit does. It is charged to nobody, and the history
// has no entry of it.

/** What the company's files that are not yet read take, and whether one of them is to be fetched. */
export async function stagedBytesOf(tx: Tx): Promise<{ arriving: number; isFetching: boolean }> {
  const { bytes, fetches } = await selectInCompany(tx, 'register_import')
    .where('state', 'in', ['uploading', 'reading'])
    .select(({ fn }) => [
      fn.sum<number | null>('bytes').as('bytes'),
      sql<boolean | null>`bool_or(bytes is null)`.as('fetches')
    ])
    .executeTakeFirstOrThrow()
  return { arriving: Number(bytes), isFetching: fetches ?? false }
}

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
export async function settleUpload(tx: Tx, id: string | null): Promise<StagedFileId | undefined> {
  return (await settle(tx, sql`id = ${id}`))[0]
}

/** Of all imports of a register. Returns what `settleUpload` does. */
export function settleUploadsOfSource(tx: Tx, source_id: string): Promise<StagedFileId[]> {
  return settle(
    tx,
    sql`id in (select upload_id from register_import
         where company_id = ${tx.companyId} and source_id = ${source_id})`
  )
}

async function settle(tx: Tx, which: RawBuilder<unknown>): Promise<StagedFileId[]> {
  const { rows } = await sql<Omit<StagedFileId, 'company_id'>>`
    update upload set state = 'settled', writer = null, writer_until = null
     where company_id = ${tx.companyId} and state <> 'settled' and ${which}
    returning id, generation`.execute(tx)
  return rows.map(row => ({ ...row, company_id: tx.companyId }))
}
