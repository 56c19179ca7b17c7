import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { releaseReservation } from '../limits/quotas.ts'
import {
  endUploadWithoutDeposit,
  findUpload,
  reservedQuotaOf,
  storeReleasedBytes
} from './uploads.ts'

const lapseHours = 24
const idleMinutes = 10
const pageRows = 500
// short, because the caller of `PUT /deposit` cannot continue an interrupted upload
const lapseDirectMinutes = 10

/**
 * After ten minutes without a byte. The storage of the received bytes stays reserved until the
 * upload ends.
 */
export async function releaseIdleUploadReservations(
  deps: Deps,
  company_id: CompanyId
): Promise<void> {
  const now = deps.clock()
  const before = new Date(now.getTime() - idleMinutes * 60_000)
  const isIdle = (tx: Tx) =>
    selectInCompany(tx, 'upload')
      .select('id')
      .where('state', '=', 'uploading')
      .where('released', '=', 0)
      // an upload of `PUT /deposit` cannot be continued, so it ends as a whole instead
      .where('stored', 'is not', null)
      .where('active_at', '<', before)
      .where(either => either.or([either('writer', 'is', null), either('writer_until', '<', now)]))
  let last = ''
  for (;;) {
    const page = await inCompany(deps.db, company_id, tx =>
      isIdle(tx).where('id', '>', last).orderBy('id').limit(pageRows).execute()
    )
    for (const { id } of page) {
      await inCompany(deps.db, company_id, async tx => {
        const locked = await isIdle(tx).where('id', '=', id).forUpdate().executeTakeFirst()
        const upload = locked && (await findUpload(tx, id))
        if (!upload) return
        const arrived = (await deps.blobs.sizeStaged(upload)) ?? 0
        const bytes = upload.size - arrived
        if (bytes <= 0) return
        await releaseReservation(tx, { ...reservedQuotaOf(upload), requests: 0, bytes })
        await storeReleasedBytes(tx, id, bytes)
      })
    }
    const end = page.at(-1)
    if (!end || page.length < pageRows) return
    last = end.id
  }
}

/** After a day without a byte. Ends the one that has been idle longest; false if there is none. */
export async function endNextIdleUpload(deps: Deps, company_id: CompanyId): Promise<boolean> {
  const now = deps.clock().getTime()
  const before = new Date(now - lapseHours * 3_600_000)
  const directBefore = new Date(now - lapseDirectMinutes * 60_000)
  const lapsed = await inCompany(deps.db, company_id, async tx => {
    const row = await selectInCompany(tx, 'upload')
      .select('id')
      .where('state', '=', 'uploading')
      .where(either =>
        either.or([
          either('active_at', '<', before),
          either.and([either('stored', 'is', null), either('active_at', '<', directBefore)])
        ])
      )
      .orderBy('active_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    const upload = row && (await findUpload(tx, row.id))
    if (upload) await endUploadWithoutDeposit(tx, deps, upload, 'lapsed', 'lapsed')
    return upload
  })
  if (!lapsed) return false
  await deps.blobs.discardStaged(lapsed)
  return true
}
