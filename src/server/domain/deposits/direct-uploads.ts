import { AppError } from '../../../contract/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { chooseCategory } from '../companies/categories.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { getRequest } from '../history/requests.ts'
import { deleteAnswer, type IdempotentCall, runOnce } from '../idempotency.ts'
import { findRules } from './category-rules.ts'
import { getDeposit } from './deposits.ts'
import { createDeposit, openUpload } from './new-deposits.ts'
import { sealDigest } from './upload-digests.ts'
import { endUpload, findUpload, receiveUpload, type Upload } from './uploads.ts'

/** An upload that nobody has touched for this long has lost its caller. */
const deadMs = 60_000
const lookMs = 1000

/** A file that comes in one call: its length is known beforehand, its fingerprint only with its last byte. */
export interface DirectFile {
  company_id: CompanyId
  user_id: string
  /** `Idempotency-Key`, where the caller gave one. */
  key: string | undefined
  name: string
  /** As the caller named it. */
  category: string | undefined
  media_type: string
  size: number
}

/** What to do with the bytes of a call. */
export type DirectUpload =
  | { kind: 'new'; upload: Upload }
  /** They are only fingerprinted: the category keeps none. */
  | { kind: 'fingerprint' }
  /** They came before, in a call with the same key: only compared. */
  | { kind: 'repeated'; request_id: string }

/** Refuses what cannot be deposited, and reserves quota for the rest before a byte is read. */
export async function beginDirectUpload(deps: Deps, file: DirectFile): Promise<DirectUpload> {
  const { store } = await inCompany(deps.db, file.company_id, async tx => {
    return findRules(tx, deps, await withCategory(tx, file))
  })
  if (store === 'fingerprint') return { kind: 'fingerprint' }
  for (;;) {
    const { upload, replayed } = await reserve(deps, file)
    if (!replayed) return { kind: 'new', upload }
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

/** Takes over bytes that have all come; from here the service owes the deposit. */
export async function finishDirectUpload(
  deps: Deps,
  upload: Upload,
  sha256: Buffer
): Promise<void> {
  const sealed = sealDigest(deps.keys, upload, sha256)
  await inCompany(deps.db, upload.company_id, tx =>
    tx
      .updateTable('upload')
      .set({ original: sealed, stored: sealed })
      .where('company_id', '=', upload.company_id)
      .where('id', '=', upload.id)
      .where('state', '=', 'uploading')
      .execute()
  )
  await receiveUpload(deps, upload)
}

/**
 * The caller has gone, or a fault of ours came between: nothing is kept, nothing is charged, and the key
 * may be used again, all at once. Does nothing where the last bytes had come after all, or somebody else has ended the upload.
 */
export async function abandonDirectUpload(
  deps: Deps,
  file: DirectFile,
  upload: Upload,
  state: 'cancelled' | 'failed'
): Promise<void> {
  await endUpload(deps, upload, state, tx => forget(tx, file, upload))
}

/** Makes the deposit of a fingerprint whose bytes are not kept. */
export async function depositFingerprint(
  deps: Deps,
  file: DirectFile,
  sha256: Buffer
): Promise<{ request: ProcessedRequest; replayed: boolean }> {
  const digest = sha256.toString('hex')
  const { company_id, user_id, name, category, media_type, size } = file
  const { body, replayed } = await createDeposit(deps, {
    company_id,
    user_id,
    act: actOf(file, { name, category, media_type, size, digest }),
    deposit: { name, size, media_type, original: digest, stored: digest, category, again: true }
  })
  if ('duplicate' in body) throw new Error('a duplicate was answered to one who did not ask')
  return { request: body.request, replayed }
}

/** Refuses a repeated call whose bytes are not those of the first one. */
export async function compareRepeated(
  deps: Deps,
  file: DirectFile,
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

/** The request once it has ended, or as it stands after `patienceMs`. */
export async function awaitRequest(
  deps: Deps,
  who: { company_id: CompanyId; user_id: string; id: string },
  patienceMs: number
): Promise<ProcessedRequest> {
  const end = performance.now() + patienceMs
  for (;;) {
    // listening before asking, so that no change falls between the two
    const change = nextChange(deps, who)
    const request = await getRequest(deps, who)
    const isOpen = ['uploading', 'queued', 'processing'].includes(request.state)
    if (!isOpen || performance.now() > end || deps.stopping.aborted) {
      change.stop()
      return request
    }
    await change.come
  }
}

/** A signal is a hint: another process may do the work, so it is asked now and then in any case. */
function nextChange(deps: Deps, who: { company_id: CompanyId; user_id: string }) {
  let stop = () => {}
  const come = new Promise<void>(resolve => {
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
  return { come, stop: () => stop() }
}

async function reserve(
  deps: Deps,
  file: DirectFile
): Promise<{ upload: Upload; replayed: boolean }> {
  const { company_id, name, category, media_type, size } = file
  const now = deps.clock()
  return inCompany(deps.db, company_id, async tx => {
    const open = async () => {
      const placed = await withCategory(tx, file)
      const rules = await findRules(tx, deps, placed)
      const { upload_id } = await openUpload(tx, deps, {
        ...placed,
        digests: undefined,
        rules,
        now
      })
      return { upload_id }
    }
    const act = actOf(file, { name, category, media_type, size })
    const { body, replayed } = act
      ? await runOnce(tx, deps, { company_id, now, act }, open)
      : { body: await open(), replayed: false }
    // in this transaction: a place that was reserved always has somebody who gives it back
    const upload = await findUpload(tx, company_id, body.upload_id)
    if (!upload) throw new AppError('not_found', 'No such upload')
    return { upload, replayed }
  })
}

async function withCategory(tx: Tx, file: DirectFile): Promise<DirectFile & { category: string }> {
  return { ...file, category: file.category ?? (await chooseCategory(tx, file)) }
}

/** Frees the key of an upload that came to nothing, unless a later call holds it by now. */
async function forget(tx: Tx, file: DirectFile, upload: Upload): Promise<void> {
  const act = actOf(file, undefined)
  if (act) await deleteAnswer(tx, { ...file, act, body: { upload_id: upload.id } })
}

function actOf({ user_id, key }: DirectFile, input: unknown): IdempotentCall | undefined {
  return key === undefined ? undefined : { actor: user_id, route: 'PUT /deposit', key, input }
}
