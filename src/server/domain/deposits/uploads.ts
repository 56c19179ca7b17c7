import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import type { RequestState } from '../../../contract/requests.ts'
import { selectById, updateById } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { finishWithLogs, type RequestStateToRecord } from '../finish-with-logs.ts'
import {
  addFailedDepositToStatistics,
  releaseReservation,
  reserveReleasedStorage
} from '../limits/quotas.ts'
import { encryptDigest } from './upload-digests.ts'

/** With `request_…` columns of its request (entry of the history). */
export interface Upload {
  company_id: CompanyId
  id: string
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

export async function getUpload(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<Upload> {
  const upload = await inCompany(deps.db, input.company_id, tx => findUpload(tx, input.id))
  if (upload?.user_id !== input.user_id) throw new AppError('not_found', 'No such upload')
  return upload
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
 * that. `sha256` is the digest of the file, if none was announced.
 */
export async function completeUpload(deps: Deps, upload: Upload, sha256?: Buffer): Promise<void> {
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
    const sealed = sha256 && encryptDigest(deps.keys, upload, sha256)
    await updateById(tx, 'upload', upload.id)
      .set({ ...noWriter, state: 'received', ...(sealed && { original: sealed, stored: sealed }) })
      .execute()
    await finishWithLogs(tx, deps, { states: [buildRequestStateToRecord(current, 'queued')] })
    tx.afterCommit(() => deps.signals.uploads.send(upload.company_id))
  })
  if (failure?.isFlush) throw failure.error
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
  const held = reservedQuotaOf(upload)
  await releaseReservation(tx, held)
  if (state === 'failed') await addFailedDepositToStatistics(tx, held)
  await markUploadSettled(tx, upload)
  await finishWithLogs(tx, deps, {
    states: [{ ...buildRequestStateToRecord(upload, state), code }]
  })
}

const noWriter = { writer: null, writer_until: null }

export async function markUploadSettled(tx: Tx, { id }: Upload): Promise<void> {
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

export async function findUpload(tx: Tx, id: string): Promise<Upload | undefined> {
  const row = await selectById(tx, 'upload', id)
    .innerJoin('request', join => joinInCompany(join, 'request.id', 'upload.request_id'))
    .selectAll('upload')
    .select([
      'request.state as request_state',
      'request.created_at as request_created',
      'request.facts as request_facts'
    ])
    .executeTakeFirst()
  // as: the tables check the state columns, and finishWithLogs() writes the facts
  return row ? ({ ...row, company_id: tx.companyId } as Upload) : undefined
}
