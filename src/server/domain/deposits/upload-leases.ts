import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { inCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import {
  type LeaseSettings,
  releaseLease,
  renewLease,
  takeLease,
  unleasedCondition
} from '../leases/leases.ts'
import {
  getUpload,
  refuseCancelledOrLapsedUpload,
  requireIncompleteUpload,
  type Upload
} from './uploads.ts'

const writing: LeaseSettings<'upload'> = { table: 'upload', until: 'writer_until', ms: 10_000 }
/** How often a process renews its write lease while bytes arrive, in milliseconds. */
export const writeLeaseRenewalMs = writing.ms / 3

/**
 * The right of one process to write the bytes of an upload. It lasts ten seconds unless it is
 * renewed.
 */
export interface WriteLease {
  /** The id of the process that has the lease. */
  writer: string
  upload: Upload
  /**
   * Whether this process has taken over the upload, because the lease of another process had
   * expired. The bytes so far are then in the file of that process and must be copied.
   */
  isTakenOver: boolean
}

/**
 * Gives the process `writer` a lease on an upload: the right to write its bytes.
 * - If another process has a lease that has not expired, `writer` gets none. Returns `heldUntil`,
 *   the time at which the other lease expires.
 * - If the previous process has ended its lease, `writer` continues the existing file.
 * - If the lease of the previous process has expired, that process may still have the file open.
 *   `writer` then gets a new file, and the number `generation` of the upload grows by one.
 *
 * A process that has died does not end its lease. So a caller that got no lease keeps the `heldUntil`
 * of its first try, waits, and passes it as `ignored` on its last try. A lease that still expires at
 * exactly that time was not renewed meanwhile, and is treated as expired.
 */
export async function takeWriteLease(
  deps: Pick<Deps, 'db' | 'clock'>,
  known: Upload,
  writer: string,
  ignored?: Date
): Promise<WriteLease | { heldUntil: Date }> {
  for (let upload = known; ; ) {
    const { generation } = upload
    const now = deps.clock()
    const row = await inCompany(deps.db, upload.company_id, tx =>
      takeLease(tx, writing, now, {
        id: upload.id,
        free: sql`${unleasedCondition(writing, now)} or writer = ${writer}::uuid
          or writer_until = ${ignored ?? null}::timestamptz`,
        where: isCurrent(upload),
        set: {
          generation: sql`generation + (writer is not null and writer <> ${writer}::uuid)::int`,
          writer
        }
      })
    )
    if (row) {
      const isTakenOver = row.generation !== generation
      return { writer, upload: { ...upload, generation: row.generation }, isTakenOver }
    }
    upload = await getUpload(deps, upload)
    refuseCancelledOrLapsedUpload(upload)
    requireIncompleteUpload(upload)
    if (upload.generation === generation && upload.writer_until) {
      return { heldUntil: upload.writer_until }
    }
  }
}

/**
 * Extends a write lease. With `hasProgress`, also notes that bytes have arrived, so that the upload
 * does not lapse. Returns false if the process no longer has the lease.
 */
export async function renewWriteLease(
  deps: Pick<Deps, 'db' | 'clock'>,
  { upload, writer }: WriteLease,
  hasProgress: boolean
): Promise<boolean> {
  const now = deps.clock()
  return inCompany(deps.db, upload.company_id, tx =>
    renewLease(tx, writing, now, {
      id: upload.id,
      where: isHeldBy(writer, upload),
      set: hasProgress ? { active_at: now } : {}
    })
  )
}

/**
 * Ends a write lease. The caller must have closed the upload's file. With `hasProgress`, also notes
 * that bytes have arrived, so that the upload does not lapse. If the upload has ended in the
 * meantime, deletes its file.
 */
export async function endWriteLease(
  deps: Pick<Deps, 'db' | 'clock' | 'blobs'>,
  { upload, writer }: WriteLease,
  hasProgress: boolean
): Promise<void> {
  const isReleased = await inCompany(deps.db, upload.company_id, tx =>
    releaseLease(tx, writing, {
      id: upload.id,
      where: isHeldBy(writer, upload),
      set: { writer: null, ...(hasProgress && { active_at: deps.clock() }) }
    })
  )
  if (isReleased) return
  const { state } = await getUpload(deps, upload)
  if (state === 'settled') await deps.blobs.discardStaged(upload)
}

/**
 * Returns the SQL condition that an upload still lacks bytes and that no other process has taken it
 * over. With this condition, a process that has lost the upload cannot change the upload's row.
 */
function isCurrent({ generation }: Upload): RawBuilder<SqlBool> {
  return sql`state = 'uploading' and generation = ${generation}`
}

function isHeldBy(writer: string, upload: Upload): RawBuilder<SqlBool> {
  return sql`${isCurrent(upload)} and writer = ${writer}::uuid`
}
