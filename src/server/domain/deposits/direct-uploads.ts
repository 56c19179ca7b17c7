import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { getRequest } from '../history/requests.ts'
import {
  type IdempotentCall,
  idempotencyKeyReusedError,
  releaseIdempotencyKeys,
  runOnce
} from '../idempotency/idempotency.ts'
import { admitFiles } from './category-rules.ts'
import { getDeposit } from './deposits.ts'
import { createDeposit } from './intake.ts'
import type { KeptPlace } from './kept-files.ts'
import {
  discardIncompleteUpload,
  findUpload,
  isArriving,
  lockUpload,
  openUpload,
  recordUpload,
  refuseCancelledOrLapsedUpload,
  requireIncompleteUpload,
  type Upload
} from './uploads.ts'

/** Its size is known at the start, its fingerprint only at the end. */
export interface DirectUploadFile {
  company_id: CompanyId
  user_id: string
  /** A person or an API key. Each has idempotency keys of its own. */
  actor: string
  key: string | undefined
  name: string
  category: string | undefined
  media_type: string
  size: number
}

export type DirectUploadPlan =
  | { kind: 'new'; upload: Upload }
  /** The category stores no bytes. */
  | { kind: 'fingerprint' }
  /** An earlier call with the same idempotency key has deposited a file: compare the digests. */
  | { kind: 'repeated'; request_id: string }

/** Called before the bytes are read. Reserves quota if they will be stored. */
export async function beginDirectUpload(
  deps: Deps,
  file: DirectUploadFile
): Promise<DirectUploadPlan> {
  for (;;) {
    const begun = await inCompany(deps.db, file.company_id, tx => begin(tx, deps, file))
    if (begun.kind !== 'known') return begun
    const { upload } = begun
    const { request_id, request_state: state } = upload
    if (state === 'done') return { kind: 'repeated', request_id }
    // an earlier release left the record to a job, which may still be at it
    const isRunning =
      state === 'queued' ||
      state === 'processing' ||
      (state === 'uploading' && isArriving(deps, upload))
    if (isRunning) {
      const retry = { retryAfter: 5 }
      throw new AppError('idempotency_in_flight', 'The same call is still running', retry)
    }
    if (state === 'uploading') await abandonDirectUpload(deps, file, upload, 'cancelled')
    else await inCompany(deps.db, file.company_id, tx => forget(tx, file, upload))
  }
}

async function begin(
  tx: Tx,
  deps: Deps,
  file: DirectUploadFile
): Promise<DirectUploadPlan | { kind: 'known'; upload: Upload }> {
  const [admission] = await admitFiles(tx, deps, file, [file])
  if (!admission || admission instanceof AppError) throw admission
  if (admission.rules.store === 'fingerprint') return { kind: 'fingerprint' }
  const { name, category, media_type, size } = file
  const call = callOf(file, { name, category, media_type, size })
  const awaited = { ...file, category: admission.category, digests: undefined }
  const { body, replayed } = await runOnce(tx, deps, call, async () => {
    const { upload_id } = await openUpload(tx, deps, awaited)
    return { upload_id }
  })
  // in the same transaction, so that every reservation belongs to an upload that can release it
  const upload = await findUpload(tx, body.upload_id)
  if (!upload) throw new AppError('not_found', 'No such upload')
  return { kind: replayed ? 'known' : 'new', upload }
}

/** The bytes are on disk and flushed. `kept` is where the file of the digest `sha256` is kept. */
export async function recordDirectUpload(
  deps: Deps,
  upload: Upload,
  sha256: Buffer,
  kept: KeptPlace
): Promise<ProcessedRequest> {
  return inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (!current) throw new AppError('not_found', 'No such upload')
    refuseCancelledOrLapsedUpload(current)
    requireIncompleteUpload(current)
    return recordUpload(tx, deps, current, { original: sha256, stored: sha256, place: kept })
  })
}

/**
 * Nothing is stored or charged, and the idempotency key can be used again. Does nothing if the
 * upload was recorded or ended in the meantime.
 */
export async function abandonDirectUpload(
  deps: Deps,
  file: DirectUploadFile,
  upload: Upload,
  state: 'cancelled' | 'failed'
): Promise<void> {
  await discardIncompleteUpload(deps, upload, state, tx => forget(tx, file, upload))
}

export async function createFingerprintOnlyDeposit(
  deps: Deps,
  file: DirectUploadFile,
  sha256: Buffer
): Promise<{ request: ProcessedRequest; replayed: boolean }> {
  const digest = sha256.toString('hex')
  const { name, category, media_type, size } = file
  const { route, key, input } = callOf(file, { name, category, media_type, size, digest })
  const deposit = {
    name,
    size,
    media_type,
    original: digest,
    stored: digest,
    category,
    again: true
  }
  const { body, replayed } = await createDeposit(deps, { ...file, route }, { key, input, deposit })
  if ('duplicate' in body) throw new Error('a duplicate was answered to one who did not ask')
  return { request: body.request, replayed }
}

/** Throws `idempotency_key_reused` unless the deposit of the first call has the same bytes. */
export async function getRepeatedDirectUpload(
  deps: Deps,
  { company_id, user_id }: DirectUploadFile,
  request_id: string,
  sha256: Buffer
): Promise<ProcessedRequest> {
  const request = await getRequest(deps, { company_id, user_id, id: request_id })
  const { deposit_id = '' } = request
  const { original } = await getDeposit(deps, { company_id, user_id, id: deposit_id })
  if (original !== sha256.toString('hex')) throw idempotencyKeyReusedError()
  return request
}

// does nothing if the key already belongs to another upload
async function forget(tx: Tx, file: DirectUploadFile, upload: Upload): Promise<void> {
  const { key, ...call } = callOf(file, undefined)
  if (key !== undefined) await releaseIdempotencyKeys(tx, call, [key], { upload_id: upload.id })
}

function callOf({ actor, key }: DirectUploadFile, input: unknown): IdempotentCall {
  return { actor, route: 'PUT /deposit', key, input }
}
