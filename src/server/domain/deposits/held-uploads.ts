import { countRows, selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { finishWithLogs } from '../finish-with-logs.ts'
import { buildRequestStateToRecord, findUpload } from './uploads.ts'

/** All its bytes have arrived, but every attempt to create its deposit has failed. */
export interface HeldUpload {
  company_id: CompanyId
  request_id: string
  size: number
  held_at: Date
  attempts: number
  /** The message of the error in the last attempt. */
  failure: string | null
}

export async function listHeldUploads(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<HeldUpload[]> {
  const rows = await inCompany(deps.db, company_id, tx =>
    selectInCompany(tx, 'upload')
      .where('state', '=', 'held')
      .select(['request_id', 'size', 'held_at', 'attempts', 'failure'])
      .orderBy('held_at')
      .execute()
  )
  return rows.map(({ held_at, ...row }) => ({
    ...row,
    company_id,
    held_at: held_at ?? new Date(0)
  }))
}

export async function countHeldUploads(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<number> {
  return inCompany(deps.db, company_id, tx =>
    countRows(selectInCompany(tx, 'upload').where('state', '=', 'held'))
  )
}

/** Returns false if the company has no held upload with this request. */
export async function scheduleHeldUploadRetry(
  deps: Deps,
  { company_id, request_id }: { company_id: CompanyId; request_id: string }
): Promise<boolean> {
  return inCompany(deps.db, company_id, async tx => {
    const row = await updateInCompany(tx, 'upload')
      .set({ state: 'received', attempts: 0, leased_until: null, held_at: null, failure: null })
      .where('request_id', '=', request_id)
      .where('state', '=', 'held')
      .returning('id')
      .executeTakeFirst()
    const upload = row && (await findUpload(tx, row.id))
    if (!upload) return false
    await finishWithLogs(tx, deps, { states: [buildRequestStateToRecord(upload, 'processing')] })
    tx.afterCommit(() => deps.signals.uploads.send(company_id))
    return true
  })
}
