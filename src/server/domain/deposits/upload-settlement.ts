import { sql } from 'kysely'
import type { ErrorCode } from '../../../contract/kit/errors.ts'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { finishWithLogs } from '../finish-with-logs.ts'
import { type LeaseSettings, releaseLease, renewLease, takeNextLease } from '../leases/leases.ts'
import { findKeptPlace } from './kept-files.ts'
import { decryptDigest } from './upload-digests.ts'
import {
  buildRequestStateToRecord,
  endUploadWithoutDeposit,
  findUpload,
  lockUpload,
  recordUpload,
  type Upload
} from './uploads.ts'

// short and renewed during the work, so that a crash delays the deposit only briefly
const settling: LeaseSettings<'upload'> = { table: 'upload', until: 'leased_until', ms: 10_000 }

// in seconds; when the attempt after the last pause fails too, the upload is held until an operator
// retries it
const retrySeconds = [5, 20, 60, 300, 900, 1800, 3600]
const maxFailureLength = 300

/**
 * Takes the oldest that is due. Returns whether there was one. After an error the upload waits for
 * its next attempt and does not delay others.
 */
export async function createDepositFromNextUpload(
  deps: Deps,
  company_id: CompanyId
): Promise<boolean> {
  const upload = await claimReceived(deps, company_id)
  if (!upload) return false
  try {
    // the upload may have crashed the process in every attempt, and would crash it again
    if (upload.attempts > retrySeconds.length + 1)
      throw new Error(
        'the last attempt had no result, perhaps because it crashed the process: see the log'
      )
    using _lease = keepLease(deps, upload)
    await createDepositFromUpload(deps, upload)
  } catch (error) {
    await postpone(deps, upload, error)
  }
  return true
}

/**
 * The caller must have the upload's lease. Throws if the file is missing, and does not end the
 * upload: perhaps the disk cannot be reached at the moment.
 */
export async function createDepositFromUpload(deps: Deps, upload: Upload): Promise<void> {
  const declared = upload.stored && decryptDigest(deps.keys, upload, upload.stored)
  const [staged, place] = await Promise.all([
    deps.blobs.digestStaged(upload),
    declared && findKeptPlace(deps, upload.company_id, declared)
  ])
  // without a staged file: a crash happened after the file was moved to its final path
  const found = staged ?? place?.found
  if (!found)
    throw new Error(
      'the file of a received upload is in neither documents/staging nor documents/blobs'
    )
  const isWhole = declared && found.sha256.equals(declared) && found.size === upload.size
  if (!place || !isWhole) {
    return failUpload(deps, upload, 'transfer_corrupt')
  }
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received' || !current.original) return
    const original = decryptDigest(deps.keys, current, current.original)
    await recordUpload(tx, deps, current, { original, stored: declared, place })
  })
}

/**
 * Keeps the job `settle-uploads` away until `until`. Can also be called while the upload is
 * incomplete.
 */
export async function postponeDepositCreation(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: Upload,
  until: Date
): Promise<void> {
  await inCompany(deps.db, company_id, tx =>
    releaseLease(tx, settling, { id, where: sql`state <> 'settled'` }, until)
  )
}

async function claimReceived(deps: Deps, company_id: CompanyId): Promise<Upload | undefined> {
  return inCompany(deps.db, company_id, async tx => {
    const claimed = await takeNextLease(tx, settling, deps.clock(), {
      where: sql`state = 'received' and purpose = 'deposit'`,
      orderBy: sql`created_at`,
      set: { attempts: sql`attempts + 1` }
    })
    const upload = claimed && (await findUpload(tx, claimed.id))
    if (upload && upload.request_state !== 'processing') {
      await finishWithLogs(tx, deps, { states: [buildRequestStateToRecord(upload, 'processing')] })
    }
    return upload
  })
}

async function postpone(deps: Deps, upload: Upload, error: unknown): Promise<void> {
  const { company_id, request_id, attempts } = upload
  const now = deps.clock()
  const seconds = retrySeconds[attempts - 1]
  const failure = String(error instanceof Error ? error.message : error).slice(0, maxFailureLength)
  await inCompany(deps.db, company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received') return
    const next = seconds === undefined ? null : new Date(now.getTime() + seconds * 1000)
    const set = next ? { failure } : { failure, state: 'held', held_at: now }
    await releaseLease(tx, settling, { id: upload.id, set }, next)
    if (seconds !== undefined) return
    const state = buildRequestStateToRecord(current, 'processing')
    await finishWithLogs(tx, deps, { states: [{ ...state, code: 'held' }] })
  })
  const facts = { company: company_id, request: request_id, attempts, err: error }
  if (seconds === undefined)
    deps.log.error(
      facts,
      'deposit held after its last attempt: fix the cause, then run npm run vidimus -- deposit retry'
    )
  else deps.log.warn({ ...facts, seconds }, 'deposit not made, tried again later')
}

function keepLease(deps: Deps, { company_id, id }: Upload): Disposable {
  const renewNow = () =>
    inCompany(deps.db, company_id, tx =>
      renewLease(tx, settling, deps.clock(), { id, where: sql`state = 'received'` })
    )
  const timer = setInterval(() => {
    // if the lease expires, another process repeats the work, which is harmless
    renewNow().catch((error: unknown) =>
      deps.log.warn(
        { company: company_id, upload: id, err: error },
        'the lease of a deposit in progress was not renewed'
      )
    )
  }, settling.ms / 3)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

async function failUpload(deps: Deps, upload: Upload, code: ErrorCode): Promise<void> {
  const ended = await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received') return false
    await endUploadWithoutDeposit(tx, deps, current, 'failed', code)
    return true
  })
  // only if this process ended the upload; otherwise another process may need the bytes
  if (ended) await deps.blobs.discardStaged(upload)
}
