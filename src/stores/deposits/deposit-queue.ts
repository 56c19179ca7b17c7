import type { ReadableAtom } from 'nanostores'
import { type AppError, asAppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import { createRetrying, isPassing } from '../retrying.ts'
import { createDepositDelivery, type DeliveryParts } from './deposit-delivery.ts'
import { createDepositTwins } from './deposit-duplicates.ts'
import { createDepositLimits } from './deposit-limits.ts'
import { createDepositList } from './deposit-list.ts'
import {
  type Act,
  createAct,
  type DepositCategory,
  isLimit,
  isOutdating,
  isUndecided,
  keepAsItIs,
  type PictureChoice,
  type QueuedDeposit,
  refusalOf,
  startAnew
} from './deposit-mutations.ts'
import { createDepositRecords } from './deposit-records.ts'
import {
  type DepositState,
  type DepositSummary,
  hasEnded,
  isInterruptible,
  maxQueued,
  openOf
} from './deposit-states.ts'
import { createDepositRecall, type RecallParts } from './resume-uploads.ts'

const maxPreparing = 2
const maxSending = 2
/** As many files are put on the list in one go. */
const sliceFiles = 20

/** All that the queue needs of the world. */
export interface DepositParts extends DeliveryParts, RecallParts {
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
  const twins = createDepositTwins()
  const retrying = createRetrying(parts)
  const records = createDepositRecords({
    ...parts,
    list,
    isSuspended: () => suspended,
    onSignedOut: suspend,
    onSettled: letTwinsGo
  })
  const delivery = createDepositDelivery(parts, { list, limits, records, retrying })
  const recall = createDepositRecall(parts, { list, records, retrying, goOn: enqueue })
  const toAdd: { file: File; category: DepositCategory }[] = []
  const toPrepare = new Set<Act>()
  const toSend = new Set<Act>()
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
      const waiting = recall.find(file)
      if (waiting) recall.attach(waiting, file, false)
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
    const act = createAct(file, category, given)
    list.put(act)
    const refusal = refusalOf(act)
    const limit = limits.against(category, 0)
    if (refusal) list.fail(act, refusal)
    else if (limit) list.change(act, { status: 'paused', by: 'limit', ratio: 0, error: limit })
    else toPrepare.add(act)
  }

  function pump(): void {
    while (!suspended && preparing < maxPreparing) {
      const act = shift(toPrepare)
      if (!act) break
      preparing += 1
      void work(act, prepare).finally(() => {
        preparing -= 1
        pump()
      })
    }
    while (!suspended && sending < maxSending) {
      const act = shift(toSend, twins.mayGo)
      if (!act) break
      sending += 1
      twins.hold(act)
      if (twins.isOvertaken(act)) {
        delivery.release(act)
        startAnew(act)
      }
      void work(act, delivery.deliver).finally(() => {
        sending -= 1
        if (act.$state.get().status === 'recording') pump()
        else letTwinsGo(act)
      })
    }
  }

  function letTwinsGo(act: Act): void {
    twins.letGo(act, act.$state.get().status === 'done')
    pump()
  }

  async function work(
    act: Act,
    step: (act: Act, signal: AbortSignal) => Promise<void>
  ): Promise<void> {
    act.stop = new AbortController()
    const { signal } = act.stop
    try {
      await step(act, signal)
    } catch (thrown) {
      if (signal.aborted) return // whoever aborted has set the state that follows
      const error = asAppError(thrown, 'A deposit failed in the browser')
      if (error.code === 'unauthenticated') suspend()
      else if (isLimit(error)) limit(act, error)
      else list.fail(act, error)
    }
  }

  async function prepare(act: Act, signal: AbortSignal): Promise<void> {
    const { file, category, isAssigned } = act
    if (await delivery.prepare(act, signal)) return goOn(act)
    recall.detach(act)
    if (!file || isAssigned) return
    // a deposit of its own, because nobody meant it for this row
    add(file, category)
    list.show()
    pump()
  }

  function goOn(act: Act): void {
    if (act.choice === 'original') keepAsItIs(act)
    if (isUndecided(act)) list.change(act, { status: 'choosing' })
    else enqueue(act)
  }

  function choosePicture(act: Act, choice: PictureChoice): void {
    if (act.$state.get().status !== 'choosing') return
    act.choice = choice
    goOn(act)
  }

  function limit(act: Act, error: AppError): void {
    const isFull = limits.meet(act, error)
    // what has arrived of it stays, and the upload goes on when there is room
    if (!act.reserved) {
      parts.forget(act.id)
      startAnew(act)
    }
    const paused: DepositState = { status: 'paused', by: 'limit', ratio: 0, error }
    list.change(act, paused)
    if (!isFull) return
    for (const other of list) {
      const isOpen = isInterruptible(other.$state.get()) && !other.reserved
      if (isOpen && other.category.id === act.category.id) interrupt(other, paused)
    }
  }

  function enqueue(act: Act): void {
    list.change(act, { status: 'waiting' })
    if (act.prepared) toSend.add(act)
    else toPrepare.add(act)
    pump()
  }

  function interrupt(act: Act, next: DepositState): void {
    act.stop.abort()
    toPrepare.delete(act)
    toSend.delete(act)
    list.change(act, next)
  }

  function pause(act: Act, by: 'person' | 'session'): void {
    const state = act.$state.get()
    if (!isInterruptible(state)) return
    const ratio = state.status === 'uploading' ? state.ratio : 0
    interrupt(act, { status: 'paused', by, ratio })
  }

  function resume(act: Act): void {
    const state = act.$state.get()
    if (state.status !== 'paused') return
    limits.lift(act.category)
    if (suspended) list.change(act, { status: 'paused', by: 'session', ratio: state.ratio })
    else enqueue(act)
  }

  function cancel(act: Act): void {
    const state = act.$state.get()
    const isWaiting = ['paused', 'choosing', 'missing'].includes(state.status)
    if (!isInterruptible(state) && !isWaiting) return
    interrupt(act, { status: 'cancelled' })
    parts.forget(act.id)
    delivery.release(act)
  }

  function retry(act: Act): void {
    const state = act.$state.get()
    if (state.status !== 'failed' || !state.retryable) return
    if (!isPassing(state.error)) startAnew(act)
    if (isOutdating(state.error)) act.prepared = undefined
    if (state.error.code === 'transform_not_allowed') {
      act.choice = 'original'
      act.reduction = undefined
    }
    enqueue(act)
  }

  function depositAgain(act: Act): void {
    if (act.$state.get().status !== 'duplicate') return
    startAnew(act)
    act.again = true
    enqueue(act)
  }

  function suspend(): void {
    suspended = true
    for (const act of list) pause(act, 'session')
  }

  function endSuspension(): void {
    suspended = false
    for (const act of list) {
      const state = act.$state.get()
      if (state.status === 'paused' && state.by === 'session') enqueue(act)
    }
    pump()
    records.look()
  }

  function remove(act: Act): void {
    list.remove(act)
    records.drop(act)
  }

  const one = (verb: (act: Act) => void) => (id: string) => {
    const act = list.get(id)
    if (act) verb(act)
  }
  const every = (verb: (act: Act) => void) => () => {
    for (const act of list) verb(act)
  }

  return {
    $deposits: list.$deposits,
    $summary: list.$summary,
    sum: list.sum,
    addFiles,
    pause: one(act => pause(act, 'person')),
    resume: one(resume),
    cancel: one(cancel),
    retry: one(retry),
    choosePicture: (id, choice) => one(act => choosePicture(act, choice))(id),
    chooseAllPictures(choice) {
      for (const act of list) {
        if (act.$state.get().status === 'choosing') choosePicture(act, choice)
        else if (!act.prepared) act.choice ??= choice
      }
    },
    pauseAll: every(act => pause(act, 'person')),
    resumeAll: every(resume),
    cancelAll: every(cancel),
    retryAll: every(retry),
    restore: recall.restore,
    choose: (id, file) => one(act => recall.attach(act, file, true))(id),
    async reopen(id) {
      const act = list.get(id)
      if (act) await recall.reopen(act)
    },
    depositAgain: one(depositAgain),
    idOf(requestId) {
      for (const { id, reserved } of list) if (reserved?.request.id === requestId) return id
      return undefined
    },
    dismiss() {
      for (const act of list) if (hasEnded(act.$state.get())) remove(act)
      list.show()
      list.sum()
    },
    hear: records.hear,
    networkIsBack() {
      retrying.hurry()
      for (const act of list) {
        const state = act.$state.get()
        if (state.status === 'failed' && state.error.code === 'offline') retry(act)
      }
    },
    suspend,
    endSuspension,
    clear() {
      for (const act of list) {
        act.stop.abort()
        parts.forget(act.id)
        remove(act)
      }
      limits.clear()
      toAdd.length = 0
      toPrepare.clear()
      toSend.clear()
      twins.clear()
      suspended = false
      list.show()
      list.sum()
    }
  }
}

function shift(acts: Set<Act>, isReady: (act: Act) => boolean = () => true): Act | undefined {
  for (const act of acts) {
    if (!isReady(act)) continue
    acts.delete(act)
    return act
  }
  return undefined
}
