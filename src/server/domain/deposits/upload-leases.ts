import { type SqlBool, sql } from 'kysely'
import { inCompanyOnce, type Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { getUpload, requireOpen, requireUploading, type Upload } from './uploads.ts'

/** How long a process may write an upload without renewing its lease. */
const leaseMs = 10_000
/** How often a lease is renewed while bytes come. */
export const renewMs = leaseMs / 3

/** The right of one process to write an upload's bytes. It alone writes the file of this generation. */
export interface WriteLease {
  /** Names the process. */
  writer: string
  upload: Upload
  /** The process before went silent, so the bytes are still in the file of an earlier generation. */
  isTakenOver: boolean
}

/**
 * Gives a process the right to write an upload's bytes, or returns until when another one has it. A
 * lease that was given back leads to the same file. One that ran out leads to the next generation and
 * so to another file, because its writer may still have the old one open. An end of the other lease
 * that equals `ignored` does not count.
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
    const isFree = sql<SqlBool>`(writer is null or writer = ${writer}::uuid
      or writer_until <= ${now} or writer_until = ${ignored ?? null}::timestamptz)`
    const [row] = await inCompanyOnce(deps.db, upload.company_id, tx =>
      update(tx, upload)
        .set({
          generation: sql<number>`generation + (writer is not null and writer <> ${writer}::uuid)::int`,
          writer,
          writer_until: new Date(now.getTime() + leaseMs)
        })
        .where(isFree)
        .returning('generation')
        .execute()
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

/** Notes that a call still writes, and whether it has brought bytes. Returns whether the lease was still held. */
export async function renewWriting(
  deps: Pick<Deps, 'db' | 'clock'>,
  { upload, writer }: WriteLease,
  hasProgress: boolean
): Promise<boolean> {
  const now = deps.clock()
  const rows = await inCompanyOnce(deps.db, upload.company_id, tx =>
    update(tx, upload)
      .set({
        writer_until: new Date(now.getTime() + leaseMs),
        ...(hasProgress && { active_at: now })
      })
      .where('writer', '=', writer)
      .returning('id')
      .execute()
  )
  return rows.length > 0
}

/**
 * Gives a lease back, with the file closed. Bytes that came keep the upload from lapsing, also those of a
 * connection that broke; a call without any does not. Removes the file of an upload that has ended meanwhile.
 */
export async function endWriting(
  deps: Pick<Deps, 'db' | 'clock' | 'blobs'>,
  { upload, writer }: WriteLease,
  hasProgress: boolean
): Promise<void> {
  const rows = await inCompanyOnce(deps.db, upload.company_id, tx =>
    update(tx, upload)
      .set({ writer: null, writer_until: null, ...(hasProgress && { active_at: deps.clock() }) })
      .where('writer', '=', writer)
      .returning('id')
      .execute()
  )
  if (rows.length > 0) return
  const { state } = await getUpload(deps, upload)
  if (state === 'settled') await deps.blobs.discardStaged(upload)
}

function update(tx: Tx, { company_id, id, generation }: Upload) {
  return tx
    .updateTable('upload')
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .where('generation', '=', generation)
    .where('state', '=', 'uploading')
}
