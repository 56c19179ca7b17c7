import { sql } from 'kysely'
import type { PictureTransform } from '../../../contract/deposits.ts'
import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest, RequestState } from '../../../contract/requests.ts'
import { selectById, updateById } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { finishWithLogs, type RequestStateToRecord } from '../finish-with-logs.ts'
import { newId, newRandomId } from '../ids.ts'
import {
  addFailedDepositToStatistics,
  releaseReservation,
  reserveQuota,
  reserveReleasedStorage,
  turnReservationIntoUsage
} from '../limits/quotas.ts'
import { beginReading, endImportWithoutFile } from '../registers/register-uploads.ts'
import { historyFactsOf, recordDeposits } from './deposit-records.ts'
import { type KeptPlace, keepFiles } from './kept-files.ts'
import { encryptDigest } from './upload-digests.ts'

/** With `request_…` columns of its request (entry of the history). */
export interface Upload {
  company_id: CompanyId
  id: string
  purpose: 'deposit' | 'register'
  /** Set for a register. Such an upload has no request, record, category and group. */
  import_id: string | null
  request_id: string
  user_id: string
  category_id: string
  record_id: string
  size: number
  media_type: string
  name: string
  /**
   * The encrypted digest of the chosen file. Null for `PUT /deposit` until its last byte has
   * arrived, and once settled.
   */
  original: Buffer | null
  /** The encrypted digest of the file to store, null whenever `original` is. */
  stored: Buffer | null
  transform: Record<string, unknown> | null
  /**
   * `received`: the bytes have arrived. `held`: no attempt to create the deposit succeeded.
   * `settled`: the deposit exists, or the upload ended without one.
   */
  state: 'uploading' | 'received' | 'held' | 'settled'
  /** How many missing bytes have no reserved storage, because none arrived for some time. */
  released: number
  attempts: number
  group_id: string
  period_start: Date
  /** When bytes last arrived. After ten minutes (`PUT /deposit`) or a day, the upload lapses. */
  active_at: Date
  /** Counts takeovers by other processes. Each begins a new file, named with this number. */
  generation: number
  /** The id of the process that has the right to write the upload's bytes until `writer_until`. */
  writer: string | null
  writer_until: Date | null
  request_state: RequestState
  request_created: Date
  request_facts: RequestStateToRecord['facts']
}

interface AwaitedFile {
  company_id: CompanyId
  user_id: string
  name: string
  size: number
  media_type: string
  category: string
  transform?: PictureTransform | undefined
  /** Undefined if the service computes them later from the bytes. */
  digests: { original: Buffer; stored: Buffer } | undefined
}

const maxOpenUploads = 2000

export async function openUpload(
  tx: Tx,
  deps: Deps,
  file: AwaitedFile
): Promise<{ request: ProcessedRequest; upload_id: string }> {
  const { company_id, user_id, category, size, media_type, name, digests } = file
  const now = deps.clock()
  // the reservation locks the group's usage, so that parallel calls of a person are counted one
  // after the other
  const need = { category_id: category, requests: 1, bytes: size }
  const held = await reserveQuota(tx, { company_id, user_id, now, ...need })
  await requireFewOpenUploads(tx, user_id)
  const request_id = newId(deps)
  const record_id = newRandomId(deps)
  const upload_id = newRandomId(deps)
  await tx
    .insertInto('upload')
    .values({
      company_id,
      id: upload_id,
      request_id,
      user_id,
      category_id: category,
      record_id,
      size,
      media_type,
      name,
      original: digests ? encryptDigest(deps.keys, file, digests.original) : null,
      stored: digests ? encryptDigest(deps.keys, file, digests.stored) : null,
      kek_id: digests ? deps.keys.rootSecretId : null,
      transform: file.transform ? JSON.stringify(file.transform) : null,
      state: 'uploading',
      group_id: held.group_id,
      period_start: held.period_start,
      leased_until: null,
      created_at: now,
      active_at: now
    })
    .execute()
  const state: RequestStateToRecord = {
    id: request_id,
    user_id,
    kind: 'deposit',
    state: 'uploading',
    created: now,
    facts: historyFactsOf(file, record_id)
  }
  const [request] = await finishWithLogs(tx, deps, { states: [state] })
  return { request, upload_id }
}

async function requireFewOpenUploads(tx: Tx, user_id: string): Promise<void> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from (
      select from upload
      where company_id = ${tx.companyId}::uuid and user_id = ${user_id}::uuid
        and state = 'uploading'
      limit ${maxOpenUploads}::int
    ) as uploads`.execute(tx)
  const open = rows[0]?.open ?? 0
  if (open < maxOpenUploads) return
  throw new AppError(
    'upload_limit_reached',
    `A person has at most ${maxOpenUploads} open uploads`,
    {
      figures: { used: open, limit: maxOpenUploads, resets_at: null }
    }
  )
}

export async function getUpload(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<Upload> {
  const upload = await inCompany(deps.db, input.company_id, tx => findUpload(tx, input.id))
  if (upload?.user_id !== input.user_id) throw new AppError('not_found', 'No such upload')
  return upload
}

const deadMs = 60_000

/** A caller of whom nothing was recorded for a minute counts as disconnected. */
export function isArriving({ clock }: Pick<Deps, 'clock'>, { active_at }: Upload): boolean {
  return clock().getTime() - active_at.getTime() < deadMs
}

/** Notes that bytes have arrived, so that the upload does not lapse. */
export async function recordUploadActivity(
  deps: Pick<Deps, 'db' | 'clock'>,
  upload: Upload
): Promise<void> {
  await inCompany(deps.db, upload.company_id, tx =>
    updateById(tx, 'upload', upload.id)
      .set({ active_at: deps.clock() })
      .where('state', '=', 'uploading')
      .execute()
  )
}

export function refuseCancelledOrLapsedUpload({ request_state: state }: Upload): void {
  if (state === 'lapsed' || state === 'cancelled') {
    throw new AppError(state, `The upload has been ${state}`)
  }
}

/** The client should ask for the current offset and try again. */
export function uploadBusyError(): AppError {
  return new AppError('upload_busy', 'Another call writes this upload', { retryAfter: 1 })
}

export function requireIncompleteUpload({ state }: Upload): void {
  if (state !== 'uploading') throw new AppError('upload_state', 'The upload is complete')
}

/**
 * After this, the deposit will be created even if the service crashes. If the flush to disk fails,
 * the upload fails for good: the system may have dropped bytes, and a second flush would not report
 * that.
 */
export async function completeUpload(deps: Deps, upload: Upload): Promise<void> {
  const failure = await deps.blobs.syncStaged(upload).then(
    () => undefined,
    (error: unknown) => ({ error, isFlush: Object(error).syscall === 'fsync' })
  )
  // before the transaction, so that no later flush of the same bytes succeeds, even if the
  // transaction fails
  if (failure?.isFlush) await deps.blobs.discardStaged(upload)
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (!current) throw new AppError('not_found', 'No such upload')
    refuseCancelledOrLapsedUpload(current)
    // another process has taken over the upload, so this file no longer belongs to it
    if (current.generation !== upload.generation) {
      throw uploadBusyError()
    }
    if (current.state !== 'uploading') return
    if (failure?.isFlush) return endUploadWithoutDeposit(tx, deps, current, 'failed', 'not_stored')
    if (failure) throw failure.error
    // bytes may have been released before the PATCH began or while it was silent
    await reserveReleased(tx, current)
    if (current.import_id !== null) {
      await updateById(tx, 'upload', upload.id)
        .set({ ...noWriter, state: 'received' })
        .execute()
      return beginReading(tx, deps, current.import_id)
    }
    await updateById(tx, 'upload', upload.id)
      .set({ ...noWriter, state: 'received' })
      .execute()
    await finishWithLogs(tx, deps, { states: [buildRequestStateToRecord(current, 'queued')] })
    tx.afterCommit(() => deps.signals.uploads.send(upload.company_id))
  })
  if (failure?.isFlush) throw failure.error
}

/**
 * Turns the upload into a deposit. The caller must have locked it. `place` is where the file of the
 * digest `stored` is kept.
 */
export async function recordUpload(
  tx: Tx,
  deps: Deps,
  upload: Upload,
  { original, stored, place }: { original: Buffer; stored: Buffer; place: KeptPlace }
): Promise<ProcessedRequest> {
  const { size, group_id } = upload
  await keepFiles(tx, deps, [{ ...place, staged: upload, size }])
  await turnReservationIntoUsage(tx, reservedQuotaOf(upload))
  await markUploadSettled(tx, upload)
  const kept = { stored, blobTag: place.tag, group_id }
  const record = { ...upload, original, kept, now: deps.clock() }
  const [request] = await recordDeposits(tx, deps, [record])
  if (!request) throw new Error('a deposit was left without an entry in the history')
  return request
}

export async function cancelUpload(deps: Deps, upload: Upload): Promise<void> {
  if (await discardIncompleteUpload(deps, upload, 'cancelled', async () => {})) return
  throw new AppError('upload_state', 'The upload is complete and can no longer be cancelled')
}

// `also` makes further changes in the same transaction; false if the upload was already complete or
// ended
export async function discardIncompleteUpload(
  deps: Deps,
  upload: Upload,
  state: 'cancelled' | 'failed',
  also: (tx: Tx) => Promise<void>
): Promise<boolean> {
  const ended = await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'uploading') return undefined
    await also(tx)
    await endUploadWithoutDeposit(
      tx,
      deps,
      current,
      state,
      state === 'failed' ? 'not_stored' : state
    )
    return current
  })
  if (!ended) return false
  await deps.blobs.discardStaged(ended)
  return true
}

/**
 * Does nothing unless storage was released while no bytes arrived. Even if the group does not have
 * enough left, the received bytes are kept, and the upload can continue later.
 */
export async function reserveUploadStorageAgain(
  deps: Pick<Deps, 'db'>,
  upload: Upload
): Promise<void> {
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state === 'uploading') await reserveReleased(tx, current)
  })
}

async function reserveReleased(tx: Tx, { id, group_id, released }: Upload) {
  if (released === 0) return
  await reserveReleasedStorage(tx, { group_id, bytes: released })
  await storeReleasedBytes(tx, id, 0)
}

export async function storeReleasedBytes(tx: Tx, id: string, released: number): Promise<void> {
  await updateById(tx, 'upload', id).set({ released }).execute()
}

// with `failed`, also counts a failed deposit in the group's daily statistics
export async function endUploadWithoutDeposit(
  tx: Tx,
  deps: Deps,
  upload: Upload,
  state: 'cancelled' | 'lapsed' | 'failed' | 'rejected',
  code: ErrorCode
): Promise<void> {
  if (upload.import_id !== null) {
    await markUploadSettled(tx, upload)
    return endImportWithoutFile(tx, upload.import_id, { isFailure: state === 'failed' })
  }
  const held = reservedQuotaOf(upload)
  await releaseReservation(tx, held)
  if (state === 'failed') await addFailedDepositToStatistics(tx, held)
  await markUploadSettled(tx, upload)
  await finishWithLogs(tx, deps, {
    states: [{ ...buildRequestStateToRecord(upload, state), code }]
  })
}

const noWriter = { writer: null, writer_until: null }

async function markUploadSettled(tx: Tx, { id }: Upload): Promise<void> {
  const forgotten = { original: null, stored: null, transform: null }
  await updateById(tx, 'upload', id)
    .set({ ...noWriter, ...forgotten, state: 'settled', leased_until: null })
    .execute()
}

export function reservedQuotaOf(upload: Upload) {
  const { user_id, group_id, period_start, size, released, request_created } = upload
  const place = { user_id, group_id, period_start, made_at: request_created }
  return { ...place, requests: 1, bytes: size - released }
}

// stores nothing: the caller passes the result to `finishWithLogs`
export function buildRequestStateToRecord(
  upload: Upload,
  state: RequestState
): RequestStateToRecord {
  return {
    id: upload.request_id,
    user_id: upload.user_id,
    kind: 'deposit',
    state,
    created: upload.request_created,
    facts: upload.request_facts
  }
}

export async function lockUpload(tx: Tx, upload: Upload): Promise<Upload | undefined> {
  await selectById(tx, 'upload', upload.id).select('id').forUpdate().execute()
  return findUpload(tx, upload.id)
}

// the bytes of a file that was read are gone, and a client need not send it again
const stateOfRegisterUpload = sql`case upload.state
  when 'uploading' then 'uploading' when 'received' then 'queued'
  else case when exists (
    select from register_import as import
     where import.company_id = upload.company_id and import.id = upload.import_id
  ) then 'done' else 'cancelled' end end`

export async function findUpload(tx: Tx, id: string): Promise<Upload | undefined> {
  const row = await selectById(tx, 'upload', id)
    .leftJoin('request', join => joinInCompany(join, 'request.id', 'upload.request_id'))
    .selectAll('upload')
    .select([
      sql`coalesce(request.state, ${stateOfRegisterUpload})`.as('request_state'),
      'request.created_at as request_created',
      'request.facts as request_facts'
    ])
    .executeTakeFirst()
  // as: the tables check the state columns, and finishWithLogs() writes the facts
  return row ? ({ ...row, company_id: tx.companyId } as Upload) : undefined
}
