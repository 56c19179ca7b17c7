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
export const writeLeaseRenewalMs = writing.ms / 3

/** The right of one process to write an upload's bytes, for ten seconds unless it is renewed. */
export interface WriteLease {
  writer: string
  upload: Upload
  /** The bytes so far are in the file of a process whose lease has expired: copy them. */
  isTakenOver: boolean
}

/**
 * `writer` gets none while another process has a lease, and may retry with its `heldUntil` as
 * `ignored`: a lease that still expires at exactly that time was not renewed meanwhile, so its
 * process has died. As that process may still have the file open, `writer` then gets a new file
 * (`generation`).
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
 * `hasProgress` notes that bytes have arrived, so that the upload does not lapse. Returns false if
 * the process no longer has the lease.
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
 * The caller must have closed the upload's file. If the upload has ended in the meantime, deletes
 * it.
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

// keeps a process that has lost the upload from changing its row
function isCurrent({ generation }: Upload): RawBuilder<SqlBool> {
  return sql`state = 'uploading' and generation = ${generation}`
}

function isHeldBy(writer: string, upload: Upload): RawBuilder<SqlBool> {
  return sql`${isCurrent(upload)} and writer = ${writer}::uuid`
}
