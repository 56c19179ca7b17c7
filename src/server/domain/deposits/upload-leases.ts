import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { inCompanyOnce } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { claim, isFree, type Lease, release, renew } from '../leases.ts'
import { getUpload, requireOpen, requireUploading, type Upload } from './uploads.ts'

const writing: Lease<'upload'> = { table: 'upload', until: 'writer_until', ms: 10_000 }
/** How often a lease is renewed while bytes come. */
export const renewMs = writing.ms / 3

/**
 * The right of one process to write an upload's bytes. Only this process writes the file of this
 * generation.
 */
export interface WriteLease {
  /** Id of the process. */
  writer: string
  upload: Upload
  /** The process before stopped renewing, so the bytes are in the file of an earlier generation. */
  isTakenOver: boolean
}

/**
 * Gives a process the right to write an upload's bytes, or returns until when another process has
 * it. After a released lease the process continues the same file. After an expired lease it gets
 * the next generation and a new file, because the other process may still have the old one open. A
 * lease of another process that ends at `ignored` counts as free.
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

/** Renews a lease, with or without progress. Returns whether it was still held. */
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
 * Releases a lease after its file is closed. Progress keeps the upload from lapsing, also where the
 * connection broke. Deletes the file of an upload that has ended meanwhile.
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

/** Returns the condition that fences off writers of earlier generations. */
function isCurrent({ generation }: Upload): RawBuilder<SqlBool> {
  return sql`state = 'uploading' and generation = ${generation}`
}

function isHeldBy(writer: string, upload: Upload): RawBuilder<SqlBool> {
  return sql`${isCurrent(upload)} and writer = ${writer}::uuid`
}
