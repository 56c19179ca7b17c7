import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { getRequest } from '../history/requests.ts'
import { type IdempotentCall, releaseIdempotencyKeys, runOnce } from '../idempotency/idempotency.ts'
import { admitFiles } from './category-rules.ts'
import { getDeposit } from './deposits.ts'
import { createDeposit } from './intake.ts'
import { openUpload } from './new-uploads.ts'
import { discardIncompleteUpload, findUpload, type Upload } from './uploads.ts'

// a caller without a byte for this long counts as disconnected, and a repeated call may start anew
const deadMs = 60_000
// a waiting call looks this often even if no signal arrives
const lookMs = 1000

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
  /** An earlier call with the same idempotency key has sent the whole file: compare the digests. */
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
    if (['queued', 'processing', 'done'].includes(upload.request_state)) {
      return { kind: 'repeated', request_id: upload.request_id }
    }
    if (upload.request_state === 'uploading') {
      if (deps.clock().getTime() - upload.active_at.getTime() < deadMs) {
        throw new AppError('idempotency_in_flight', 'The same call is still running', {
          retryAfter: 5
        })
      }
      await abandonDirectUpload(deps, file, upload, 'cancelled')
    } else {
      await inCompany(deps.db, file.company_id, tx => forget(tx, file, upload))
    }
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

/**
 * Nothing is stored or charged, and the idempotency key can be used again. Does nothing if the
 * upload was completed or ended in the meantime.
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

/**
 * `request` is the history entry of the first call. Checks nothing if its deposit is not recorded,
 * because there is nothing to compare with.
 */
export async function requireSameBytesAsFirstCall(
  deps: Deps,
  file: DirectUploadFile,
  request: ProcessedRequest,
  sha256: Buffer
): Promise<void> {
  if (request.deposit_id === undefined || request.state !== 'done') return
  const { company_id, user_id } = file
  const { original } = await getDeposit(deps, { company_id, user_id, id: request.deposit_id })
  if (original !== sha256.toString('hex')) {
    throw new AppError('idempotency_key_reused', 'The key was used for another file')
  }
}

/**
 * The returned request may still be in progress after about `patienceMs` milliseconds. Waits in
 * `outside`, which lends the call's place to others.
 */
export async function waitForFinalState(
  deps: Deps,
  who: { company_id: CompanyId; user_id: string; id: string },
  {
    patienceMs,
    outside
  }: { patienceMs: number; outside: (wait: () => Promise<void>) => Promise<void> }
): Promise<ProcessedRequest> {
  const end = performance.now() + patienceMs
  for (;;) {
    // start listening before reading, so that no change is missed
    const change = nextChange(deps, who)
    const request = await getRequest(deps, who)
    const isOpen = ['uploading', 'queued', 'processing'].includes(request.state)
    if (!isOpen || performance.now() > end || deps.stopping.aborted) {
      change.stop()
      return request
    }
    await outside(() => change.changed)
  }
}

// also resolves after `lookMs`, because the signal of another process may get lost
function nextChange(deps: Deps, who: { company_id: CompanyId; user_id: string }) {
  let stop = () => {}
  const changed = new Promise<void>(resolve => {
    const timer = setTimeout(() => stop(), lookMs)
    const ignore = deps.signals.events.on(({ company, user }) => {
      if (company === who.company_id && user === who.user_id) stop()
    })
    stop = () => {
      clearTimeout(timer)
      ignore()
      resolve()
    }
  })
  return { changed, stop: () => stop() }
}

// does nothing if the key already belongs to another upload
async function forget(tx: Tx, file: DirectUploadFile, upload: Upload): Promise<void> {
  const { key, ...call } = callOf(file, undefined)
  if (key !== undefined) await releaseIdempotencyKeys(tx, call, [key], { upload_id: upload.id })
}

function callOf({ actor, key }: DirectUploadFile, input: unknown): IdempotentCall {
  return { actor, route: 'PUT /deposit', key, input }
}
