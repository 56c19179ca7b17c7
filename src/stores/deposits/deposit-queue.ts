import type { ReadableAtom } from 'nanostores'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import { createRetrying, isPassing } from '../retrying.ts'
import { createDepositDelivery, type DeliveryParts } from './deposit-delivery.ts'
import { createDepositDuplicates } from './deposit-duplicates.ts'
import {
  createEntry,
  type DepositCategory,
  type DepositEntry,
  findRefusal,
  isLimit,
  isPreparationStale,
  isUndecided,
  keepAsItIs,
  type PictureChoice,
  type QueuedDeposit,
  resetAttempt
} from './deposit-entry.ts'
import { createDepositLimits } from './deposit-limits.ts'
import { createDepositList } from './deposit-list.ts'
import {
  type DepositState,
  type DepositSummary,
  hasEnded,
  isInterruptible,
  maxQueued,
  openOf
} from './deposit-states.ts'
import { createPendingRecords } from './pending-records.ts'
import { createResumableUploads, type ResumeParts } from './resume-uploads.ts'

const maxPreparing = 2
const maxSending = 2
/** As many files are put on the list in one go. */
const sliceFiles = 20

/** All that the queue needs of the world. */
export interface DepositParts extends DeliveryParts, ResumeParts {
  random: () => number
  after: (ms: number, run: () => void) => () => void
}

export interface DepositQueue {
  $deposits: ReadableAtom<readonly QueuedDeposit[]>
  /** Follows a change after a moment. */
  $summary: ReadableAtom<DepositSummary>
  /** What `$summary` will be, now. */
  sum: () => DepositSummary
  /** Answers how many of the files found no place. */
  addFiles: (files: readonly File[], category: DepositCategory) => number
  pause: (id: string) => void
  resume: (id: string) => void
  cancel: (id: string) => void
  retry: (id: string) => void
  /** What is kept of a picture that waits for it. */
  choosePicture: (id: string, choice: PictureChoice) => void
  /** The same for all of them, and for those that are still being prepared. */
  chooseAllPictures: (choice: PictureChoice) => void
  pauseAll: () => void
  resumeAll: () => void
  cancelAll: () => void
  retryAll: () => void
  /** Takes up uploads from before a reload; those whose file is at hand go on at once. */
  restore: (remembered: readonly RememberedUpload[]) => Promise<void>
  /** The file of an upload from before a reload. */
  choose: (id: string, file: File) => void
  reopen: (id: string) => Promise<void>
  depositAgain: (id: string) => void
  /** The deposit of this document that belongs to a request. */
  idOf: (requestId: string) => string | undefined
  /** Takes what has ended off the list. */
  dismiss: () => void
  /** A change told by the history stream. */
  hear: (request: ProcessedRequest) => void
  networkIsBack: () => void
  /** The session ended without the person's doing: all waits for the same person. */
  suspend: () => void
  endSuspension: () => void
  /** Drops everything, unfinished uploads too: another person must not see it. */
  clear: () => void
}

/** Files on their way, a few at a time; a retry goes on from what has been reached. */
export function createDepositQueue(parts: DepositParts): DepositQueue {
  const list = createDepositList(parts)
  const limits = createDepositLimits()
  const duplicates = createDepositDuplicates()
  const retrying = createRetrying(parts)
  const records = createPendingRecords({
    ...parts,
    list,
    isSuspended: () => suspended,
    onSignedOut: suspend,
    onSettled: releaseDuplicates
  })
  const delivery = createDepositDelivery(parts, { list, limits, records, retrying })
  const resumable = createResumableUploads(parts, { list, records, retrying, goOn: enqueue })
  const toAdd: { file: File; category: DepositCategory }[] = []
  const toPrepare = new Set<DepositEntry>()
  const toSend = new Set<DepositEntry>()
  let adding = false
  let preparing = 0
  let sending = 0
  let suspended = false

  function addFiles(files: readonly File[], category: DepositCategory): number {
    const sum = list.sum()
    const open = openOf(sum)
    if (open - sum.missing + toAdd.length === 0) list.beginBatch()
    limits.lift(category) // whoever adds more may know that there is room again
    let places = Math.max(0, maxQueued - open - toAdd.length)
    let turnedAway = 0
    for (const file of files) {
      const waiting = resumable.find(file)
      if (waiting) resumable.attach(waiting, file, false)
      else if (places === 0) turnedAway += 1
      else {
        places -= 1
        toAdd.push({ file, category })
      }
    }
    // the browser has just made as many files of the choice, which is work enough for one task
    if (!adding && toAdd.length > sliceFiles) parts.after(0, addSlice)
    else if (!adding) addSlice()
    adding = toAdd.length > 0
    list.sum()
    return turnedAway
  }

  /** A thousand at once would hold up the page. */
  function addSlice(): void {
    for (const { file, category } of toAdd.splice(0, sliceFiles)) add(file, category)
    list.show()
    pump()
    adding = toAdd.length > 0
    if (adding) parts.after(0, addSlice)
  }

  function add(file: File, category: DepositCategory): void {
    const given = { name: parts.nameOf(file), handle: parts.handleOf(file) }
    const entry = createEntry(file, category, given)
    list.put(entry)
    const refusal = findRefusal(entry)
    const limit = limits.against(category, 0)
    if (refusal) list.fail(entry, refusal)
    else if (limit) list.change(entry, { status: 'paused', by: 'limit', ratio: 0, error: limit })
    else toPrepare.add(entry)
  }

  function pump(): void {
    while (!suspended && preparing < maxPreparing) {
      const entry = shift(toPrepare)
      if (!entry) break
      preparing += 1
      void work(entry, prepare).finally(() => {
        preparing -= 1
        pump()
      })
    }
    while (!suspended && sending < maxSending) {
      const entry = shift(toSend, duplicates.mayGo)
      if (!entry) break
      sending += 1
      duplicates.hold(entry)
      if (duplicates.isOvertaken(entry)) {
        delivery.release(entry)
        resetAttempt(entry)
      }
      void work(entry, delivery.deliver).finally(() => {
        sending -= 1
        if (entry.$state.get().status === 'recording') pump()
        else releaseDuplicates(entry)
      })
    }
  }

  function releaseDuplicates(entry: DepositEntry): void {
    duplicates.letGo(entry, entry.$state.get().status === 'done')
    pump()
  }

  async function work(
    entry: DepositEntry,
    step: (entry: DepositEntry, signal: AbortSignal) => Promise<void>
  ): Promise<void> {
    entry.stop = new AbortController()
    const { signal } = entry.stop
    try {
      await step(entry, signal)
    } catch (thrown) {
      if (signal.aborted) return // whoever aborted has set the state that follows
      const error = asAppError(thrown, 'A deposit failed in the browser')
      if (error.code === 'unauthenticated') suspend()
      else if (isLimit(error)) limit(entry, error)
      else list.fail(entry, error)
    }
  }

  async function prepare(entry: DepositEntry, signal: AbortSignal): Promise<void> {
    const { file, category, isAssigned } = entry
    if (await delivery.prepare(entry, signal)) return goOn(entry)
    resumable.detach(entry)
    if (!file || isAssigned) return
    // a deposit of its own, because nobody meant it for this row
    add(file, category)
    list.show()
    pump()
  }

  function goOn(entry: DepositEntry): void {
    if (entry.choice === 'original') keepAsItIs(entry)
    if (isUndecided(entry)) list.change(entry, { status: 'choosing' })
    else enqueue(entry)
  }

  function choosePicture(entry: DepositEntry, choice: PictureChoice): void {
    if (entry.$state.get().status !== 'choosing') return
    entry.choice = choice
    goOn(entry)
  }

  function limit(entry: DepositEntry, error: AppError): void {
    const isFull = limits.meet(entry, error)
    // what has arrived of it stays, and the upload goes on when there is room
    if (!entry.reserved) {
      parts.forget(entry.id)
      resetAttempt(entry)
    }
    const paused: DepositState = { status: 'paused', by: 'limit', ratio: 0, error }
    list.change(entry, paused)
    if (!isFull) return
    for (const other of list) {
      const isOpen = isInterruptible(other.$state.get()) && !other.reserved
      if (isOpen && other.category.id === entry.category.id) interrupt(other, paused)
    }
  }

  function enqueue(entry: DepositEntry): void {
    list.change(entry, { status: 'waiting' })
    if (entry.prepared) toSend.add(entry)
    else toPrepare.add(entry)
    pump()
  }

  function interrupt(entry: DepositEntry, next: DepositState): void {
    entry.stop.abort()
    toPrepare.delete(entry)
    toSend.delete(entry)
    list.change(entry, next)
  }

  function pause(entry: DepositEntry, by: 'person' | 'session'): void {
    const state = entry.$state.get()
    if (!isInterruptible(state)) return
    const ratio = state.status === 'uploading' ? state.ratio : 0
    interrupt(entry, { status: 'paused', by, ratio })
  }

  function resume(entry: DepositEntry): void {
    const state = entry.$state.get()
    if (state.status !== 'paused') return
    limits.lift(entry.category)
    if (suspended) list.change(entry, { status: 'paused', by: 'session', ratio: state.ratio })
    else enqueue(entry)
  }

  function cancel(entry: DepositEntry): void {
    const state = entry.$state.get()
    const isWaiting = ['paused', 'choosing', 'missing'].includes(state.status)
    if (!isInterruptible(state) && !isWaiting) return
    interrupt(entry, { status: 'cancelled' })
    parts.forget(entry.id)
    delivery.release(entry)
  }

  function retry(entry: DepositEntry): void {
    const state = entry.$state.get()
    if (state.status !== 'failed' || !state.retryable) return
    if (!isPassing(state.error)) resetAttempt(entry)
    if (isPreparationStale(state.error)) entry.prepared = undefined
    if (state.error.code === 'transform_not_allowed') {
      entry.choice = 'original'
      entry.reduction = undefined
    }
    enqueue(entry)
  }

  function depositAgain(entry: DepositEntry): void {
    if (entry.$state.get().status !== 'duplicate') return
    resetAttempt(entry)
    entry.again = true
    enqueue(entry)
  }

  function suspend(): void {
    suspended = true
    for (const entry of list) pause(entry, 'session')
  }

  function endSuspension(): void {
    suspended = false
    for (const entry of list) {
      const state = entry.$state.get()
      if (state.status === 'paused' && state.by === 'session') enqueue(entry)
    }
    pump()
    records.look()
  }

  function remove(entry: DepositEntry): void {
    list.remove(entry)
    records.drop(entry)
  }

  const one = (verb: (entry: DepositEntry) => void) => (id: string) => {
    const entry = list.get(id)
    if (entry) verb(entry)
  }
  const every = (verb: (entry: DepositEntry) => void) => () => {
    for (const entry of list) verb(entry)
  }

  return {
    $deposits: list.$deposits,
    $summary: list.$summary,
    sum: list.sum,
    addFiles,
    pause: one(entry => pause(entry, 'person')),
    resume: one(resume),
    cancel: one(cancel),
    retry: one(retry),
    choosePicture: (id, choice) => one(entry => choosePicture(entry, choice))(id),
    chooseAllPictures(choice) {
      for (const entry of list) {
        if (entry.$state.get().status === 'choosing') choosePicture(entry, choice)
        else if (!entry.prepared) entry.choice ??= choice
      }
    },
    pauseAll: every(entry => pause(entry, 'person')),
    resumeAll: every(resume),
    cancelAll: every(cancel),
    retryAll: every(retry),
    restore: resumable.restore,
    choose: (id, file) => one(entry => resumable.attach(entry, file, true))(id),
    async reopen(id) {
      const entry = list.get(id)
      if (entry) await resumable.reopen(entry)
    },
    depositAgain: one(depositAgain),
    idOf(requestId) {
      for (const { id, reserved } of list) if (reserved?.request.id === requestId) return id
      return undefined
    },
    dismiss() {
      for (const entry of list) if (hasEnded(entry.$state.get())) remove(entry)
      list.show()
      list.sum()
    },
    hear: records.hear,
    networkIsBack() {
      retrying.hurry()
      for (const entry of list) {
        const state = entry.$state.get()
        if (state.status === 'failed' && state.error.code === 'offline') retry(entry)
      }
    },
    suspend,
    endSuspension,
    clear() {
      for (const entry of list) {
        entry.stop.abort()
        parts.forget(entry.id)
        remove(entry)
      }
      limits.clear()
      toAdd.length = 0
      toPrepare.clear()
      toSend.clear()
      duplicates.clear()
      suspended = false
      list.show()
      list.sum()
    }
  }
}

function shift(
  entries: Set<DepositEntry>,
  isReady: (entry: DepositEntry) => boolean = () => true
): DepositEntry | undefined {
  for (const entry of entries) {
    if (!isReady(entry)) continue
    entries.delete(entry)
    return entry
  }
  return undefined
}
