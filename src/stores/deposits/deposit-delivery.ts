import type * as z from 'zod/mini'
import type { createDeposit } from '../../contract/deposits.ts'
import { AppError, type ErrorCode, errorCodes } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import { createSpeedMeter } from '../../core/files/transfer-speed.ts'
import type { ReducedPictureWithTransform } from '../../workers/image-client.ts'
import type { WorkerTaskOptions } from '../../workers/pool.ts'
import type { CallRetrier } from '../retries.ts'
import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import type { TusClient } from '../uploads/tus-client.ts'
import type { SendBatch } from './batch-client.ts'
import { createDepositBatchQueue } from './deposit-batches.ts'
import {
  type DepositEntry,
  type DepositList,
  type PreparedFile,
  resetForNewReservation,
  restoreDepositEntry,
  toRememberedUpload
} from './deposit-list.ts'

const checkMs = 2000
const maxChecks = 4

export interface DeliveryDependencies extends Pick<TusClient, 'send' | 'getOffset'> {
  hash: (file: Blob, options: WorkerTaskOptions) => Promise<string>
  reduce: (
    file: Blob,
    options: WorkerTaskOptions
  ) => Promise<ReducedPictureWithTransform | undefined>
  reserve: (
    input: z.input<typeof createDeposit.input>,
    idempotencyKey: string
  ) => Promise<z.output<typeof createDeposit.output>>
  cancelUpload: TusClient['cancel']
  maxBatchedBytes: number
  sendBatch: SendBatch
  getRequest: (id: string) => Promise<ProcessedRequest>
  remember: (upload: Omit<RememberedUpload, 'person' | 'owner'>) => void
  forget: (id: string) => void
  now: () => number
  after: (ms: number, run: () => void) => () => void
}

interface DeliveryContext {
  list: DepositList
  retries: CallRetrier
  /**
   * Returns the error with which the server would probably refuse a file of `bytes` bytes, because
   * it has reported a limit for the category of `entry`. Returns undefined if none is expected.
   */
  findLimit: (entry: DepositEntry, bytes: number) => AppError | undefined
  isSuspended: () => boolean
  onSignedOut: () => void
  onSettled: (entry: DepositEntry) => void
}

/**
 * Creates the functions for the steps of a deposit, from preparing the file to its record on the
 * server.
 */
export function createDepositSteps(parts: DeliveryDependencies, context: DeliveryContext) {
  const { list, retries } = context
  const batches = createDepositBatchQueue(parts.sendBatch)
  /** Deposits of which the server has received all bytes, but which it has not recorded yet. */
  const recording = new Set<DepositEntry>()
  let isCheckDue = false

  /**
   * Hashes a file. Also makes the reduced copy of a picture, if the category and the person's
   * choice allow one. Returns false if the file differs from the one that was sent before a reload.
   * If only the reduced copy differs, cancels the earlier upload, so that the new copy is sent from
   * the start.
   */
  async function prepare(entry: DepositEntry, signal: AbortSignal): Promise<boolean> {
    const { file, sent, expected } = entry
    if (!file) throw new Error('A deposit without its file cannot be prepared')
    list.change(entry, { status: 'hashing', ratio: 0, sent })
    const onProgress = (done: number) => {
      if (signal.aborted) return
      list.showProgress(entry, { status: 'hashing', ratio: done / file.size, sent })
    }
    const original = await parts.hash(file, { onProgress, signal })
    signal.throwIfAborted()
    if (expected && expected.original !== original) return false
    list.change(entry, { status: 'preparing' })
    const reduction = mayReduce(entry) ? await parts.reduce(file, { signal }) : undefined
    const stored = reduction ? await parts.hash(reduction.blob, { signal }) : original
    signal.throwIfAborted()
    if (expected && expected.stored !== stored) {
      // another version of the browser makes other bytes of the same picture, so the upload cannot
      // continue
      release(entry)
      resetForNewReservation(entry)
    }
    entry.expected = undefined
    entry.prepared = { original, stored, bytes: reduction?.blob ?? file, reduction }
    entry.reduction = reduction?.transform
    return true
  }

  async function deliver(entry: DepositEntry, signal: AbortSignal): Promise<void> {
    const { prepared } = entry
    if (!prepared) throw new Error('A deposit must be prepared before it is delivered')
    const begin = isBatched(entry) ? sendInBatch : reserve
    if (!entry.reserved && !(await begin(entry, prepared, signal))) return
    const url = entry.reserved?.upload
    if (url !== undefined) await upload(entry, prepared.bytes, url, signal)
    signal.throwIfAborted()
    expectRecord(entry)
  }

  /**
   * Reserves storage for a deposit on the server. Returns false for a duplicate or a reached limit;
   * the deposit's state then shows which.
   */
  async function reserve(
    entry: DepositEntry,
    prepared: PreparedFile,
    signal: AbortSignal
  ): Promise<boolean> {
    if (isLimited(entry, prepared)) return false
    list.change(entry, { status: 'reserving' })
    remember(entry)
    const input = inputOf(entry, prepared)
    const answer = await retries.run(() => parts.reserve(input, entry.key), { signal })
    if ('duplicate' in answer) return showDuplicate(entry, answer.duplicate, signal)
    entry.reserved = { request: answer.request, upload: answer.upload }
    // a call in progress cannot be undone: if the person has cancelled, releases the new
    // reservation
    if (entry.$state.get().status === 'cancelled') release(entry)
    signal.throwIfAborted()
    remember(entry)
    return true
  }

  /** Pauses a deposit that exceeds a known limit. Returns whether it has paused the deposit. */
  function isLimited(entry: DepositEntry, { bytes }: PreparedFile): boolean {
    const error = context.findLimit(entry, bytes.size)
    if (error) list.change(entry, { status: 'paused', by: 'limit', ratio: 0, error })
    return error !== undefined
  }

  function showDuplicate(
    entry: DepositEntry,
    request: ProcessedRequest,
    signal: AbortSignal
  ): false {
    signal.throwIfAborted()
    parts.forget(entry.id)
    list.change(entry, { status: 'duplicate', request })
    return false
  }

  /**
   * Returns whether to send a deposit in a batch: its file is small, its category stores files, and
   * it has no reservation yet. A deposit with a reservation continues its own upload.
   */
  function isBatched({ reserved, category, prepared }: DepositEntry): boolean {
    const size = prepared?.bytes.size ?? Number.POSITIVE_INFINITY
    return !reserved && category.store === 'file' && size <= parts.maxBatchedBytes
  }

  /**
   * Sends a small file together with others. Returns false for a duplicate or a reached limit; the
   * deposit's state then shows which. Every try has the same idempotency key, so that a file is
   * never recorded twice.
   */
  async function sendInBatch(
    entry: DepositEntry,
    prepared: PreparedFile,
    signal: AbortSignal
  ): Promise<boolean> {
    if (isLimited(entry, prepared)) return false
    remember(entry)
    const { bytes } = prepared
    const item = { ...inputOf(entry, prepared), key: entry.key }
    // a call that breaks off leaves no bytes on the server
    const showCut = (cut: boolean) => list.change(entry, { status: 'uploading', ratio: 0, cut })
    const send = async () => {
      try {
        return await batches.send(item, bytes, {
          signal,
          onStart() {
            entry.isInBatch = true
            showCut(false)
          },
          onProgress(sent) {
            const ratio = sent / bytes.size
            list.showProgress(entry, { status: 'uploading', ratio, cut: false })
          },
          onSent: () => list.change(entry, { status: 'recording' }),
          onResult(result) {
            if ('request' in result) {
              entry.reserved = { request: result.request, upload: result.upload }
            }
          }
        })
      } catch (error) {
        if (!signal.aborted) showCut(true) // unlike `recording`, a state that can be paused
        throw error
      } finally {
        entry.isInBatch = false
      }
    }
    const result = await retries.run(send, { signal })
    if ('duplicate' in result) return showDuplicate(entry, result.duplicate, signal)
    signal.throwIfAborted()
    return true
  }

  /**
   * Cancels a deposit that is being sent in a batch, unless the server has already recorded it.
   * Calls `POST /deposit` with the same idempotency key, because the answer shows whether the
   * deposit is recorded. If the answer contains an upload, the deposit is not recorded, and the
   * upload is cancelled. If the answer contains no upload, the deposit is recorded, and its state
   * is updated with `expectRecord`. If the answer is a duplicate, the server has not made a new
   * deposit, and there is nothing to cancel.
   */
  async function recall(entry: DepositEntry): Promise<void> {
    const { prepared, key } = entry
    if (!prepared) return
    const input = inputOf(entry, prepared)
    const answer = await retries.run(() => parts.reserve(input, key))
    if ('duplicate' in answer) return
    entry.reserved = { request: answer.request, upload: answer.upload }
    if (answer.upload) release(entry)
    else expectRecord(entry)
  }

  function remember(entry: DepositEntry): void {
    const remembered = toRememberedUpload(entry)
    if (remembered) parts.remember(remembered)
  }

  async function upload(
    entry: DepositEntry,
    bytes: Blob,
    url: string,
    signal: AbortSignal
  ): Promise<void> {
    let most = 0
    const showCut = (cut: boolean) =>
      list.change(entry, { status: 'uploading', ratio: entry.sent, cut })
    const send = (onNewBytes: () => void) => {
      // a new meter, so that time without a connection does not count
      const paceAt = createSpeedMeter()
      const onProgress = (sent: number) => {
        if (signal.aborted) return
        if (sent > most) onNewBytes()
        most = Math.max(most, sent)
        entry.sent = sent / bytes.size
        const pace = paceAt(parts.now(), sent, bytes.size)
        list.showProgress(entry, { status: 'uploading', ratio: entry.sent, cut: false, ...pace })
      }
      return parts.send(url, bytes, { onProgress, signal })
    }
    showCut(false)
    await retries.run(send, { signal, onPause: () => showCut(true) })
  }

  /**
   * Cancels the upload of a deposit on the server. This releases the deposit's reservation. A
   * deposit that is being sent in a batch is cancelled with `recall`.
   */
  function release(entry: DepositEntry): void {
    if (entry.isInBatch) {
      recall(entry).catch(() => {
        // ignored: a file whose reservation is refused has no record either
      })
    }
    const url = entry.reserved?.upload
    if (!url) return
    retries
      .run(() => parts.cancelUpload(url))
      .catch((error: unknown) => {
        // ignored: the server ends an incomplete upload after a while, and records a complete one
        // anyway
        if (!(error instanceof AppError) || error.code !== 'upload_state') return
        if (entry.reserved?.upload === url) expectRecord(entry)
      })
  }

  /**
   * Makes a deposit wait until the server has recorded it. Called when the server has all bytes of
   * its file.
   */
  function expectRecord(entry: DepositEntry): void {
    parts.forget(entry.id)
    list.change(entry, { status: 'recording' })
    recording.add(entry)
    settle(entry)
    checkRecords()
  }

  /**
   * Updates the deposit to which the history entry `request` belongs. Does nothing if there is no
   * such deposit, or if the deposit already has a newer copy of the history entry.
   */
  function updateRequest(request: ProcessedRequest): void {
    const entry = list.findByRequest(request.id)
    if (!entry?.reserved || request.seq < entry.reserved.request.seq) return
    entry.reserved.request = request
    if (entry.$state.get().status === 'recording') settle(entry)
  }

  function settle(entry: DepositEntry): void {
    const request = entry.reserved?.request
    if (!request || ['uploading', 'queued', 'processing'].includes(request.state)) return
    recording.delete(entry)
    if (request.state === 'done') {
      list.change(entry, { status: 'done', request })
    } else {
      resetForNewReservation(entry)
      list.fail(entry, new AppError(codeOf(request), `The deposit ended as ${request.state}`))
    }
    context.onSettled(entry)
  }

  /**
   * Every two seconds, asks the server whether it has recorded the deposits in `recording`. The
   * event stream usually reports this earlier, but may be interrupted.
   */
  function checkRecords(): void {
    if (isCheckDue || context.isSuspended() || recording.size === 0) return
    isCheckDue = true
    parts.after(checkMs, () => {
      void Promise.all([...recording].slice(0, maxChecks).map(checkRecord)).finally(() => {
        isCheckDue = false
        checkRecords()
      })
    })
  }

  async function checkRecord(entry: DepositEntry): Promise<void> {
    if (!entry.reserved) return
    recording.delete(entry)
    recording.add(entry) // moves the entry to the end, so that all entries are checked in turn
    try {
      updateRequest(await parts.getRequest(entry.reserved.request.id))
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') context.onSignedOut()
      // after any other error the next check loads the request again
    }
  }

  /**
   * Recreates the deposit of an upload that began before a reload, with the upload's progress on
   * the server. Returns undefined if the upload was cancelled or has expired.
   */
  async function restore(upload: RememberedUpload): Promise<DepositEntry | undefined> {
    const { id, address, request_id, bytes } = upload
    const entry = restoreDepositEntry(upload)
    if (address === undefined || request_id === undefined) return entry
    const request = await retries.run(() => parts.getRequest(request_id))
    if (request.state === 'cancelled' || request.state === 'lapsed') {
      parts.forget(id)
      return undefined
    }
    entry.reserved = { request, upload: address }
    if (request.state === 'uploading') {
      entry.sent = (await retries.run(() => parts.getOffset(address))) / bytes
      entry.$state.set({ status: 'missing', ratio: entry.sent, wrong: false })
    }
    return entry
  }

  return {
    prepare,
    deliver,
    isBatched,
    release,
    restore,
    expectRecord,
    updateRequest,
    checkRecords,
    /** Stores what the browser needs to continue the deposit after a reload. */
    remember,
    forgetRecord: (entry: DepositEntry) => void recording.delete(entry)
  }
}

function inputOf(
  { name, type: told, category, again }: DepositEntry,
  { original, stored, bytes, reduction }: PreparedFile
): z.input<typeof createDeposit.input> {
  const type = mediaTypeOfFile(name, told)
  const transform = reduction && {
    ...reduction.transform,
    from: { ...reduction.transform.from, type }
  }
  return {
    ...{ name, original, stored, size: bytes.size },
    media_type: transform?.to.type ?? type,
    category: category.id,
    ...(transform ? { transform } : {}),
    ...(again ? { again } : {})
  }
}

function mayReduce({ category, choice }: DepositEntry): boolean {
  return category.keep_originals !== 'yes' && category.store === 'file' && choice !== 'original'
}

function codeOf({ code }: ProcessedRequest): ErrorCode {
  return code !== undefined && code in errorCodes ? (code as ErrorCode) : 'internal' // as: just checked
}
