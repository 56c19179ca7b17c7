import { FileName } from '../../contract/deposits.ts'
import { AppError, asAppError, type ErrorCode } from '../../contract/kit/errors.ts'
import { fieldErrors } from '../../contract/kit/field-errors.ts'
import { maxFileBytes } from '../../contract/kit/limits.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import { acceptsMediaType } from '../../core/media-types.ts'
import { createCallRetrier, isTransient } from '../retries.ts'
import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import { createDepositSteps, type DeliveryDependencies } from './deposit-delivery.ts'
import {
  createDepositEntry,
  createDepositList,
  type DepositEntry,
  resetForNewReservation
} from './deposit-list.ts'
import {
  canBePaused,
  countUnfinished,
  type DepositCategory,
  hasEnded,
  maxUnfinishedDeposits,
  type PictureChoice
} from './deposit-states.ts'

const maxPreparing = 2
/**
 * Maximum number of small files that are prepared at the same time. It is higher than
 * `maxPreparing`, because the fingerprints of small files are computed in groups.
 */
const maxPreparingSmall = 32
const maxSending = 2
/**
 * Maximum number of small files that wait for a batch call or are being sent in one. Two calls of
 * at most fifty files run at the same time.
 */
const maxInBatches = 100
/**
 * Number of files that are added to the queue in one task of the browser. Adding a thousand files
 * in one task would block the page.
 */
const sliceFiles = 20

/** The functions with which the queue opens and locks files, calls the API and measures time. */
export interface DepositQueueDependencies extends DeliveryDependencies {
  random: () => number
  /** Returns the name of a file, including the folders that it was dropped or chosen with. */
  nameOf: (file: File) => string
  handleOf: (file: File) => FileSystemFileHandle | undefined
  /**
   * Opens a file again. With `ask`, the browser may ask the person for permission; this works only
   * right after a click.
   */
  openHandle: (handle: FileSystemFileHandle, ask: boolean) => Promise<File | undefined>
  /**
   * Waits until no other tab sends the file with the fingerprint `original`, then locks it for this
   * tab. Returns the function that releases the lock. Aborting `signal` releases it, too.
   */
  lockFile: (original: string, signal: AbortSignal) => Promise<() => void>
}

/** Creates the queue of deposits. It sends a few files at a time. */
export function createDepositQueue(parts: DepositQueueDependencies) {
  const list = createDepositList(parts)
  const retries = createCallRetrier(parts)
  const delivery = createDepositSteps(parts, {
    list,
    retries,
    findLimit,
    isSuspended: () => isSuspended,
    onSignedOut: suspend,
    onSettled: releaseFile
  })
  const toAdd: { file: File; category: DepositCategory }[] = []
  const toPrepare = new Set<DepositEntry>()
  const toSend = new Set<DepositEntry>()
  /**
   * The deposits that are being sent, by the fingerprint of their file. Another deposit of the same
   * file waits until the one in this map has ended.
   */
  const sentFiles = new Map<string, DepositEntry>()
  const recordedFiles = new Set<string>()
  /**
   * The limits that the server has reported, by category id. If a further file in the category has
   * at least `fromBytes` bytes, the server will probably refuse it with the same `error`.
   */
  const limits = new Map<string, { error: AppError; fromBytes: number }>()
  let isAdding = false
  const preparing = { small: 0, large: 0 }
  const sending = { single: 0, batched: 0 }
  let isSuspended = false

  function addFiles(files: readonly File[], category: DepositCategory): number {
    const summary = list.updateSummary()
    const open = countUnfinished(summary)
    if (open - summary.missing + toAdd.length === 0) list.beginBatch()
    // adding files may succeed again, for example after a limit was raised
    limits.delete(category.id)
    let places = Math.max(0, maxUnfinishedDeposits - open - toAdd.length)
    let added = 0
    for (const file of files) {
      const missing = findMissing(file)
      if (!missing && places === 0) continue
      added += 1
      if (missing) attach(missing, file, false)
      else {
        places -= 1
        toAdd.push({ file, category })
      }
    }
    // the browser has just created all these files, which is enough work for one task
    if (!isAdding && toAdd.length > sliceFiles) parts.after(0, addSlice)
    else if (!isAdding) addSlice()
    isAdding = toAdd.length > 0
    list.updateSummary()
    return added
  }

  function addSlice(): void {
    for (const { file, category } of toAdd.splice(0, sliceFiles)) add(file, category)
    list.show()
    startWaiting()
    isAdding = toAdd.length > 0
    if (isAdding) parts.after(0, addSlice)
  }

  function add(file: File, category: DepositCategory): void {
    const { size, type } = file
    const [name, handle] = [parts.nameOf(file), parts.handleOf(file)]
    const entry = createDepositEntry({ file, name, size, type, category, handle })
    list.add(entry)
    const refusal = findRefusal(entry)
    const limit = findLimit(entry, 0)
    if (refusal) list.fail(entry, refusal)
    else if (limit) list.change(entry, { status: 'paused', by: 'limit', ratio: 0, error: limit })
    else toPrepare.add(entry)
  }

  /** Starts waiting deposits, up to the number that may run at the same time. */
  function startWaiting(): void {
    startPreparing('large', maxPreparing)
    startPreparing('small', maxPreparingSmall)
    startSending('single', maxSending)
    startSending('batched', maxInBatches)
  }

  function startPreparing(kind: keyof typeof preparing, most: number): void {
    while (!isSuspended && preparing[kind] < most) {
      const isKind = ({ size }: DepositEntry) =>
        size <= parts.maxBatchedBytes === (kind === 'small')
      const entry = takeFirst(toPrepare, isKind)
      if (!entry) break
      preparing[kind] += 1
      void run(entry, prepare).finally(() => {
        preparing[kind] -= 1
        startWaiting()
      })
    }
  }

  function startSending(way: keyof typeof sending, most: number): void {
    while (!isSuspended && sending[way] < most) {
      const entry = takeFirst(toSend, each => {
        const isFree = each.again || !sentFiles.has(each.prepared?.original ?? '')
        return isFree && delivery.isBatched(each) === (way === 'batched')
      })
      if (!entry?.prepared) break
      const { original } = entry.prepared
      sending[way] += 1
      sentFiles.set(original, entry)
      if (!entry.again && entry.reserved && recordedFiles.has(original)) {
        // the same file was recorded while this entry was paused, so the server answers that it is
        // a duplicate
        delivery.release(entry)
        resetForNewReservation(entry)
      }
      void run(entry, send).finally(() => {
        sending[way] -= 1
        if (entry.$state.get().status === 'recording') startWaiting()
        else releaseFile(entry)
      })
    }
  }

  async function run(
    entry: DepositEntry,
    step: (entry: DepositEntry, signal: AbortSignal) => Promise<void>
  ): Promise<void> {
    entry.stop = new AbortController()
    const { signal } = entry.stop
    try {
      await step(entry, signal)
    } catch (thrown) {
      if (signal.aborted) return // `abort` has already set the state
      const error = asAppError(thrown, 'A deposit failed in the browser')
      if (error.code === 'unauthenticated') suspend()
      else if (limitCodes.has(error.code)) pauseAtLimit(entry, error)
      else list.fail(entry, error)
    }
  }

  async function prepare(entry: DepositEntry, signal: AbortSignal): Promise<void> {
    const { file, category, isAssigned } = entry
    if (await delivery.prepare(entry, signal)) return continueWith(entry)
    entry.file = undefined
    list.change(entry, { status: 'missing', ratio: entry.sent, wrong: isAssigned })
    if (!file || isAssigned) return
    // another file with the same name and size, which the person has not chosen for this deposit
    add(file, category)
    list.show()
    startWaiting()
  }

  async function send(entry: DepositEntry, signal: AbortSignal): Promise<void> {
    const { again, prepared } = entry
    if (prepared && !again) entry.unlock = await parts.lockFile(prepared.original, signal)
    signal.throwIfAborted()
    await delivery.deliver(entry, signal)
  }

  /**
   * Allows other deposits of the same file to be sent, in this tab and in others. If the deposit is
   * `done`, also adds its file to `recordedFiles`.
   */
  function releaseFile(entry: DepositEntry): void {
    const original = entry.prepared?.original ?? ''
    if (entry.$state.get().status === 'done') recordedFiles.add(original)
    if (sentFiles.get(original) === entry) sentFiles.delete(original)
    entry.unlock()
    startWaiting()
  }

  function continueWith(entry: DepositEntry): void {
    if (entry.choice === 'original') keepOriginal(entry)
    const { category, choice, prepared } = entry
    if (category.keep_originals === 'person' && !choice && prepared?.reduction) {
      const { original, stored } = prepared
      list.change(entry, { status: 'choosing', original, stored })
      delivery.remember(entry)
    } else enqueue(entry)
  }

  function choosePicture(entry: DepositEntry, choice: PictureChoice): void {
    if (entry.$state.get().status !== 'choosing') return
    entry.choice = choice
    continueWith(entry)
  }

  function findLimit({ category }: DepositEntry, bytes: number): AppError | undefined {
    const limit = limits.get(category.id)
    return limit && bytes >= limit.fromBytes ? limit.error : undefined
  }

  /**
   * Pauses a deposit that exceeds a limit. The code `request_limit_reached` means that the server
   * accepts no further deposits in the same category. In this case, also pauses the other deposits
   * in this category that have no reservation yet.
   */
  function pauseAtLimit(entry: DepositEntry, error: AppError): void {
    const { id } = entry.category
    const isFull = error.code === 'request_limit_reached'
    const size = isFull ? 0 : (entry.prepared?.bytes.size ?? 0)
    limits.set(id, { error, fromBytes: Math.min(size, limits.get(id)?.fromBytes ?? size) })
    // the server keeps the bytes of an upload that has begun
    if (!entry.reserved) {
      parts.forget(entry.id)
      resetForNewReservation(entry)
    }
    list.change(entry, { status: 'paused', by: 'limit', ratio: entry.sent, error })
    if (!isFull) return
    for (const other of list) {
      const isOpen = canBePaused(other.$state.get()) && !other.reserved
      if (isOpen && other.category.id === id) {
        interrupt(other)
        list.change(other, { status: 'paused', by: 'limit', ratio: 0, error })
      }
    }
  }

  function enqueue(entry: DepositEntry): void {
    list.change(entry, { status: 'waiting' })
    if (entry.prepared) toSend.add(entry)
    else toPrepare.add(entry)
    startWaiting()
  }

  function interrupt(entry: DepositEntry): void {
    entry.stop.abort()
    toPrepare.delete(entry)
    toSend.delete(entry)
  }

  function pause(entry: DepositEntry, by: 'person' | 'session'): void {
    if (!canBePaused(entry.$state.get())) return
    interrupt(entry)
    list.change(entry, { status: 'paused', by, ratio: entry.sent })
  }

  function resume(entry: DepositEntry): void {
    const state = entry.$state.get()
    if (state.status !== 'paused') return
    limits.delete(entry.category.id)
    if (isSuspended) list.change(entry, { status: 'paused', by: 'session', ratio: state.ratio })
    else enqueue(entry)
  }

  function cancel(entry: DepositEntry): void {
    const state = entry.$state.get()
    const isWaiting = ['paused', 'choosing', 'missing'].includes(state.status)
    if (!canBePaused(state) && !isWaiting) return
    interrupt(entry)
    list.change(entry, { status: 'cancelled' })
    parts.forget(entry.id)
    delivery.release(entry)
  }

  function retry(entry: DepositEntry): void {
    const state = entry.$state.get()
    if (state.status !== 'failed' || !state.retryable) return
    const { error } = state
    if (!isTransient(error)) resetForNewReservation(entry)
    if (stalePreparation.has(error.code)) entry.prepared = undefined
    if (error.code === 'transform_not_allowed') {
      entry.choice = 'original'
      entry.reduction = undefined
    }
    enqueue(entry)
  }

  function depositAgain(entry: DepositEntry): void {
    if (entry.$state.get().status !== 'duplicate') return
    resetForNewReservation(entry)
    entry.again = true
    enqueue(entry)
  }

  /** Pauses all deposits until the same person signs in again. */
  function suspend(): void {
    isSuspended = true
    for (const entry of list) pause(entry, 'session')
  }

  async function restore(upload: RememberedUpload): Promise<void> {
    if (list.get(upload.id)) return
    // an upload that cannot be loaded now stays stored for the next visit
    const entry = await delivery.restore(upload).catch(() => undefined)
    if (!entry) return
    list.add(entry)
    const { reserved, handle } = entry
    if (reserved && reserved.request.state !== 'uploading') delivery.expectRecord(entry)
    list.show()
    list.updateSummary()
    const file = handle && (await parts.openHandle(handle, false))
    if (file) attach(entry, file, false)
  }

  function findMissing(file: File): DepositEntry | undefined {
    const name = parts.nameOf(file)
    for (const entry of list) {
      const isMissing = entry.$state.get().status === 'missing'
      if (isMissing && entry.size === file.size && entry.name === name) return entry
    }
    return undefined
  }

  /**
   * Gives a deposit the file that it lost when the page was reloaded, and queues the deposit. If
   * `file` has another size than the lost file, sets `wrong` in the deposit's state instead. Other
   * differences are found later, when `file` is hashed. `isAssigned` is true if the person has
   * chosen or reopened `file` for this deposit.
   */
  function attach(entry: DepositEntry, file: File, isAssigned: boolean): void {
    const state = entry.$state.get()
    if (state.status !== 'missing') return
    if (file.size !== entry.size) {
      list.change(entry, { ...state, wrong: true })
      return
    }
    entry.file = file
    entry.isAssigned = isAssigned
    entry.handle = parts.handleOf(file) ?? entry.handle
    enqueue(entry)
  }

  function remove(entry: DepositEntry): void {
    list.remove(entry)
    delivery.forgetRecord(entry)
  }

  function withEntry(id: string, apply: (entry: DepositEntry) => void): void {
    const entry = list.get(id)
    if (entry) apply(entry)
  }

  function forEach(apply: (entry: DepositEntry) => void): void {
    for (const entry of list) apply(entry)
  }

  return {
    $deposits: list.$deposits,
    $summary: list.$summary,
    updateSummary: list.updateSummary,
    addFiles,
    pause: (id: string) => withEntry(id, entry => pause(entry, 'person')),
    resume: (id: string) => withEntry(id, resume),
    cancel: (id: string) => withEntry(id, cancel),
    retry: (id: string) => withEntry(id, retry),
    depositAgain: (id: string) => withEntry(id, depositAgain),
    choosePicture(id: string, choice: PictureChoice): void {
      withEntry(id, entry => choosePicture(entry, choice))
    },
    pauseAll: () => forEach(entry => pause(entry, 'person')),
    resumeAll: () => forEach(resume),
    /** Tries again the deposits that wait because a limit is reached. */
    resumeLimited(): void {
      for (const entry of list) {
        const state = entry.$state.get()
        if (state.status === 'paused' && state.by === 'limit') resume(entry)
      }
    },
    cancelAll: () => forEach(cancel),
    retryAll: () => forEach(retry),
    /**
     * Chooses between the original and the reduced copy for all pictures that wait for this choice.
     * The choice also applies to deposits that are not prepared yet, unless a choice was already
     * made for them.
     */
    choosePictureVersionForAll(choice: PictureChoice): void {
      for (const entry of list) {
        if (entry.$state.get().status === 'choosing') choosePicture(entry, choice)
        else if (!entry.prepared) entry.choice ??= choice
      }
    },
    /**
     * Adds the uploads that a reload has interrupted, and continues those whose file the browser
     * can open.
     */
    async restore(uploads: readonly RememberedUpload[]): Promise<void> {
      await Promise.all(uploads.map(restore))
    },
    /** Continues an upload that a reload has interrupted, with the file that the person chose. */
    chooseFile(id: string, file: File): void {
      withEntry(id, entry => attach(entry, file, true))
    },
    async reopenFile(id: string): Promise<void> {
      const entry = list.get(id)
      const file = entry?.handle && (await parts.openHandle(entry.handle, true))
      if (entry && file) attach(entry, file, true)
    },
    hasRequest: (requestId: string) => list.findByRequest(requestId) !== undefined,
    removeEnded(): void {
      for (const entry of list) if (hasEnded(entry.$state.get())) remove(entry)
      list.show()
      list.updateSummary()
    },
    updateRequest: delivery.updateRequest,
    /**
     * Ends all pauses between retries, and retries deposits that failed offline. Called when the
     * network is back.
     */
    retryNow(): void {
      retries.endPauses()
      for (const entry of list) {
        const state = entry.$state.get()
        if (state.status === 'failed' && state.error.code === 'offline') retry(entry)
      }
    },
    suspend,
    endSuspension(): void {
      isSuspended = false
      for (const entry of list) {
        const state = entry.$state.get()
        if (state.status === 'paused' && state.by === 'session') enqueue(entry)
      }
      startWaiting()
      delivery.checkRecords()
    },
    /**
     * Removes all deposits, and what this browser has stored of them, so that the next person sees
     * none of them.
     */
    clear(): void {
      for (const entry of list) {
        entry.stop.abort()
        parts.forget(entry.id)
        remove(entry)
      }
      toAdd.length = 0
      for (const collection of [toPrepare, toSend, sentFiles, recordedFiles, limits]) {
        collection.clear()
      }
      isSuspended = false
      list.show()
      list.updateSummary()
    }
  }
}

function takeFirst(
  entries: Set<DepositEntry>,
  isReady: (entry: DepositEntry) => boolean
): DepositEntry | undefined {
  for (const entry of entries) {
    if (!isReady(entry)) continue
    entries.delete(entry)
    return entry
  }
  return undefined
}

function keepOriginal(entry: DepositEntry): void {
  const { file, prepared } = entry
  entry.choice = 'original'
  entry.reduction = undefined
  if (!file || !prepared?.reduction) return
  const { original } = prepared
  entry.prepared = { original, stored: original, bytes: file, reduction: undefined }
}

/** Returns the error with which the server would refuse the file, or undefined. */
function findRefusal({ size, name, type, category }: DepositEntry): AppError | undefined {
  if (size === 0) return new AppError('file_empty', 'The file has no bytes')
  if (size > maxFileBytes) return new AppError('too_large', 'The file is over 5 GB')
  const { media_types } = category
  if (!acceptsMediaType(media_types, mediaTypeOfFile(name, type))) {
    return new AppError('type_not_allowed', `The category takes ${media_types?.join(', ')} only`)
  }
  const checked = FileName.safeParse(name)
  if (checked.success) return undefined
  const { '(body)': rule } = fieldErrors(checked.error)
  return new AppError('invalid_input', 'The name cannot be stored', {
    fields: { name: rule ?? { rule: 'format' } }
  })
}

const limitCodes: ReadonlySet<ErrorCode> = new Set([
  'request_limit_reached',
  'storage_limit_reached',
  'upload_limit_reached'
])

/**
 * Error codes after which a retry prepares the file again: hashes it and makes its reduced copy.
 */
const stalePreparation: ReadonlySet<ErrorCode> = new Set([
  'transfer_corrupt',
  'transform_not_allowed',
  'fingerprint_invalid',
  'file_unreadable'
])
