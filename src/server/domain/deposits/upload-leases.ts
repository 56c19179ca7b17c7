import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { inCompanyOnce } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { claim, isFree, type Lease, release, renew } from '../leases.ts'
import { getUpload, requireOpen, requireUploading, type Upload } from './uploads.ts'

const writing: Lease<'upload'> = { table: 'upload', until: 'writer_until', ms: 10_000 }
/** How often a lease is renewed while bytes arrive, in milliseconds. */
export const renewMs = writing.ms / 3

/**
 * The right of one process to write the bytes of an upload. Only this process writes the file of
 * the upload's current generation.
 */
export interface WriteLease {
  /** The id of the process. */
  writer: string
  upload: Upload
  /**
   * Whether the lease of another process has expired. Then the bytes are in the file of an earlier
   * generation.
   */
  isTakenOver: boolean
}

/**
 * Gives the process `writer` the right to write an upload's bytes, or returns until when another
 * process has this right. If the last lease was released, the process continues the same file. If
 * it expired, the process gets the next generation and thus a new file, because the other process
 * may still have the old file open. A lease of another process that ends exactly at `ignored`
 * counts as expired.
 */
export async function leaseWriting(
  deps: Pick<Deps, 'db' | 'clock'>,
  known: Upload,
  writer: string,
  ignored?: Date
): Promise<WriteLease | { heldUntil: Date }> {
  for (let upload = known; ; ) {
    const { generation } = upload
    const now = deps.clock()
    const row = await inCompanyOnce(deps.db, upload.company_id, tx =>
      claim(tx, writing, now, {
        id: upload.id,
        free: sql`${isFree(writing, now)} or writer = ${writer}::uuid
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
    requireOpen(upload)
    requireUploading(upload)
    if (upload.generation === generation && upload.writer_until) {
      return { heldUntil: upload.writer_until }
    }
  }
}

/**
 * Renews a lease. With `hasProgress` it also notes the time of the last progress. Returns false if
 * the process no longer had the lease.
 */
export async function renewWriting(
  deps: Pick<Deps, 'db' | 'clock'>,
  { upload, writer }: WriteLease,
  hasProgress: boolean
): Promise<boolean> {
  const now = deps.clock()
  return inCompanyOnce(deps.db, upload.company_id, tx =>
    renew(tx, writing, now, {
      id: upload.id,
      where: isHeldBy(writer, upload),
      set: hasProgress ? { active_at: now } : {}
    })
  )
}

/**
 * Releases a lease. Call this after the upload's file is closed. With `hasProgress` it also notes
 * the time of the last progress, so that the upload does not lapse. If the upload ended in the
 * meantime, deletes its file.
 */
export async function endWriting(
  deps: Pick<Deps, 'db' | 'clock' | 'blobs'>,
  { upload, writer }: WriteLease,
  hasProgress: boolean
): Promise<void> {
  const isReleased = await inCompanyOnce(deps.db, upload.company_id, tx =>
    release(tx, writing, {
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
 * Returns the SQL condition that the upload is incomplete and still has this generation, so that an
 * earlier writer changes nothing.
 */
function isCurrent({ generation }: Upload): RawBuilder<SqlBool> {
  return sql`state = 'uploading' and generation = ${generation}`
}

function isHeldBy(writer: string, upload: Upload): RawBuilder<SqlBool> {
  return sql`${isCurrent(upload)} and writer = ${writer}::uuid`
}
