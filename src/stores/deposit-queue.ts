import { atom, type ReadableAtom } from 'nanostores'
import type * as z from 'zod/mini'
import type { createDeposit } from '../contract/deposits.ts'
import { AppError, asAppError } from '../contract/errors.ts'
import type { ProcessedRequest } from '../contract/requests.ts'
import { createPace } from '../core/pace.ts'
import type { Reduction } from '../workers/image-client.ts'
import type { AskOptions } from '../workers/pool.ts'
import {
  type Act,
  codeOf,
  createAct,
  type DepositCategory,
  isLasting,
  isLimit,
  isOutdating,
  mayReduce,
  mediaTypeOf,
  memoryOf,
  type Prepared,
  type QueuedDeposit,
  recallAct,
  refusalOf
} from './deposit-acts.ts'
import {
  type DepositState,
  type DepositSummary,
  emptySummary,
  hasEnded,
  isInterruptible,
  summarize
} from './deposit-states.ts'
import { createRetrying, isPassing } from './retrying.ts'
import type { RememberedUpload } from './upload-memory.ts'
import type { Uploads } from './uploads.ts'

/** As many files may be on their way at once. */
export const maxQueued = 1000
const maxPreparing = 2
const maxSending = 2
const progressMs = 100
/** As many files are put on the list in one go. */
const sliceFiles = 20
const lookMs = 2000
const maxLooks = 4

/** All that the queue needs of the world. */
export interface DepositParts extends Uploads {
  hash: (file: Blob, options: AskOptions) => Promise<string>
  reduce: (file: Blob, options: AskOptions) => Promise<Reduction | undefined>
  reserve: (
    input: z.input<typeof createDeposit.input>,
    idempotencyKey: string
  ) => Promise<z.output<typeof createDeposit.output>>
  look: (requestId: string) => Promise<ProcessedRequest>
  /** What survives a reload of the page. */
  remember: (upload: Omit<RememberedUpload, 'person' | 'owner'>) => void
  forget: (id: string) => void
  /** The lasting way to a file, where there is one. */
  handleOf: (file: File) => FileSystemFileHandle | undefined
  /** The file behind it; `ask` may ask the person, who has just pressed a button. */
  reopen: (handle: FileSystemFileHandle, ask: boolean) => Promise<File | undefined>
  now: () => number
  random: () => number
  after: (ms: number, run: () => void) => () => void
}

export interface DepositQueue {
  $deposits: ReadableAtom<readonly QueuedDeposit[]>
  $summary: ReadableAtom<DepositSummary>
  /** Answers how many of the files found no place. */
  addFiles: (files: readonly File[], category: DepositCategory) => number
  pause: (id: string) => void
  resume: (id: string) => void
  cancel: (id: string) => void
  retry: (id: string) => void
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

export function createDepositQueue(parts: DepositParts): DepositQueue {
  const $deposits = atom<readonly QueuedDeposit[]>([])
  const $summary = atom<DepositSummary>(emptySummary)
  const acts = new Map<string, Act>()
  const byRequest = new Map<string, Act>()
  const recording = new Set<Act>()
  const toPrepare = new Set<Act>()
  const toSend = new Set<Act>()
  const earlier = new WeakSet<Act>()
  const retrying = createRetrying(parts)
  /** By category: why, and from how many bytes on, nothing more goes for now. */
  const limits = new Map<string, { error: AppError; fits: number }>()
  const toAdd: { file: File; category: DepositCategory }[] = []
  let adding = false
  let preparing = 0
  let sending = 0
  let suspended = false
  let summaryDue = false
  let looking = false

  function addFiles(files: readonly File[], category: DepositCategory): number {
    const { active, paused, missing } = count()
    if (active + paused + toAdd.length === 0) for (const act of acts.values()) earlier.add(act)
    limits.delete(category.id) // whoever adds more may know that there is room again
    let places = Math.max(0, maxQueued - active - paused - missing - toAdd.length)
    let turnedAway = 0
    for (const file of files) {
      const waiting = findMissing(file)
      if (waiting) attach(waiting, file, false)
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
    $summary.set(count())
    return turnedAway
  }

  /** A thousand at once would hold up the page. */
  function addSlice(): void {
    for (const { file, category } of toAdd.splice(0, sliceFiles)) add(file, category)
    $deposits.set([...acts.values()])
    summarizeSoon()
    pump()
    adding = toAdd.length > 0
    if (adding) parts.after(0, addSlice)
  }

  function add(file: File, category: DepositCategory): void {
    const act = createAct(file, category, parts.handleOf(file))
    acts.set(act.id, act)
    const refusal = refusalOf(act)
    const limit = limits.get(category.id)
    if (refusal) fail(act, refusal)
    else if (limit?.fits === 0) {
      change(act, { status: 'paused', by: 'limit', ratio: 0, error: limit.error })
    } else toPrepare.add(act)
  }

  async function restore(remembered: readonly RememberedUpload[]): Promise<void> {
    await Promise.all(remembered.map(recall))
  }

  async function recall(upload: RememberedUpload): Promise<void> {
    const { id, address, request_id, bytes } = upload
    if (acts.has(id)) return
    const act = recallAct(upload)
    try {
      if (address !== undefined && request_id !== undefined) {
        const { signal } = act.stop
        const request = await retrying.run(() => parts.look(request_id), { signal })
        act.reserved = { request, upload: address }
        if (request.state === 'uploading') {
          act.held = (await retrying.run(() => parts.held(address), { signal })) / bytes
          act.$state.set({ status: 'missing', ratio: act.held, wrong: false })
        }
      }
    } catch {
      // it has lapsed, or the history will tell; without a connection it stays for the next visit
      return
    }
    const state = act.reserved?.request.state
    if (state === 'cancelled' || state === 'lapsed') {
      parts.forget(id)
      return
    }
    acts.set(id, act)
    if (act.reserved) byRequest.set(act.reserved.request.id, act)
    if (act.reserved && state !== 'uploading') record(act)
    publish()
    const file = act.handle && (await parts.reopen(act.handle, false))
    if (file) attach(act, file, false)
  }

  function findMissing(file: File): Act | undefined {
    const name = file.name.normalize('NFC')
    for (const act of acts.values()) {
      const isMissing = act.$state.get().status === 'missing'
      if (isMissing && act.size === file.size && act.name === name) return act
    }
    return undefined
  }

  /** Its fingerprint will tell whether it is the file. */
  function attach(act: Act, file: File, isAssigned: boolean): void {
    const state = act.$state.get()
    if (state.status !== 'missing') return
    if (file.size !== act.size) {
      change(act, { ...state, wrong: true })
      return
    }
    act.file = file
    act.isAssigned = isAssigned
    act.handle = parts.handleOf(file) ?? act.handle
    enqueue(act)
  }

  /** Another file of the same name and size: a deposit of its own, unless it was meant for this row. */
  function detach(act: Act, file: File): void {
    const { isAssigned, category, held } = act
    act.file = undefined
    change(act, { status: 'missing', ratio: held, wrong: isAssigned })
    if (isAssigned) return
    add(file, category)
    publish()
    pump()
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
      const act = shift(toSend)
      if (!act) break
      sending += 1
      void work(act, deliver).finally(() => {
        sending -= 1
        pump()
      })
    }
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
      else fail(act, error)
    }
  }

  /** Nothing more goes where no request is left; where the room is short, smaller files still do. */
  function limit(act: Act, error: AppError): void {
    const { id } = act.category
    const isFull = error.code === 'request_limit_reached'
    const size = act.prepared?.bytes.size ?? 0
    const fits = isFull ? 0 : Math.min(size, limits.get(id)?.fits ?? size)
    limits.set(id, { error, fits })
    parts.forget(act.id)
    startAnew(act)
    const paused: DepositState = { status: 'paused', by: 'limit', ratio: 0, error }
    change(act, paused)
    if (!isFull) return
    for (const other of acts.values()) {
      const isOpen = isInterruptible(other.$state.get()) && !other.reserved
      if (isOpen && other.category.id === id) interrupt(other, paused)
    }
  }

  async function prepare(act: Act, signal: AbortSignal): Promise<void> {
    const { file, category } = act
    if (!file) throw new Error('A deposit without its file cannot be prepared')
    change(act, { status: 'hashing', ratio: 0 })
    const onProgress = (done: number) => {
      if (!signal.aborted) progress(act, { status: 'hashing', ratio: done / file.size })
    }
    const original = await parts.hash(file, { onProgress, signal })
    signal.throwIfAborted()
    if (act.expected && act.expected.original !== original) return detach(act, file)
    change(act, { status: 'preparing' })
    const reduction = mayReduce(category) ? await parts.reduce(file, { signal }) : undefined
    const stored = reduction ? await parts.hash(reduction.blob, { signal }) : original
    signal.throwIfAborted()
    if (act.expected && act.expected.stored !== stored) {
      // another browser version reduces otherwise: the bytes that were sent do not fit these
      release(act)
      startAnew(act)
    }
    act.expected = undefined
    act.prepared = { original, stored, bytes: reduction?.blob ?? file, reduction }
    enqueue(act)
  }

  async function deliver(act: Act, signal: AbortSignal): Promise<void> {
    if (!act.prepared) throw new Error('A deposit must be prepared before it is delivered')
    const { prepared } = act
    if (!act.reserved) {
      const limit = limits.get(act.category.id)
      if (limit && prepared.bytes.size >= limit.fits) {
        change(act, { status: 'paused', by: 'limit', ratio: 0, error: limit.error })
        return
      }
      change(act, { status: 'reserving' })
      remember(act)
      const answer = await retrying.run(() => reserve(act, prepared), { signal })
      if ('duplicate' in answer) {
        signal.throwIfAborted()
        parts.forget(act.id)
        change(act, { status: 'duplicate', request: answer.duplicate })
        return
      }
      act.reserved = { request: answer.request, upload: answer.upload }
      byRequest.set(answer.request.id, act)
      // a reservation on its way cannot be called back: whoever cancelled meanwhile gives it back
      if (act.$state.get().status === 'cancelled') release(act)
      signal.throwIfAborted()
      remember(act)
    }
    const { upload: address } = act.reserved
    if (address !== undefined) await upload(act, prepared.bytes, address, signal)
    signal.throwIfAborted()
    record(act)
  }

  /** The service owes the deposit from here on. */
  function record(act: Act): void {
    parts.forget(act.id)
    change(act, { status: 'recording' })
    recording.add(act)
    settle(act)
    look()
  }

  function remember(act: Act): void {
    const memory = memoryOf(act)
    if (memory) parts.remember(memory)
  }

  function reserve(act: Act, { original, stored, bytes, reduction }: Prepared) {
    const media_type = mediaTypeOf(bytes)
    const transform = reduction ? { transform: reduction.transform } : {}
    const again = act.again ? { again: true } : {}
    const { name, category } = act
    const same = { name, size: bytes.size, media_type, original, stored, category: category.id }
    return parts.reserve({ ...same, ...transform, ...again }, act.key)
  }

  async function upload(act: Act, bytes: Blob, url: string, signal: AbortSignal): Promise<void> {
    let reached = 0
    let ratio = 0
    change(act, { status: 'uploading', ratio, cut: false })
    const step = (advanced: () => void) => {
      const paceAt = createPace() // the time without a connection says nothing about its speed
      const onProgress = (sent: number) => {
        if (signal.aborted) return
        if (sent > reached) advanced()
        reached = Math.max(reached, sent)
        ratio = sent / bytes.size
        const pace = paceAt(parts.now(), sent, bytes.size)
        progress(act, { status: 'uploading', ratio, cut: false, ...pace })
      }
      return parts.send(url, bytes, { onProgress, signal })
    }
    const onPause = () => change(act, { status: 'uploading', ratio, cut: true })
    await retrying.run(step, { signal, onPause })
  }

  function hear(request: ProcessedRequest): void {
    const act = byRequest.get(request.id)
    if (!act?.reserved || request.seq < act.reserved.request.seq) return
    act.reserved.request = request
    if (act.$state.get().status === 'recording') settle(act)
  }

  function settle(act: Act): void {
    const request = act.reserved?.request
    if (!request || ['uploading', 'queued', 'processing'].includes(request.state)) return
    recording.delete(act)
    if (request.state === 'done') {
      change(act, { status: 'done', request })
      return
    }
    startAnew(act)
    fail(act, new AppError(codeOf(request), `The deposit ended as ${request.state}`))
  }

  /** Asks for itself in case the stream is silent; the stream usually answers first. */
  function look(): void {
    if (looking || suspended || recording.size === 0) return
    looking = true
    parts.after(lookMs, () => {
      void Promise.all([...recording].slice(0, maxLooks).map(lookAt)).finally(() => {
        looking = false
        look()
      })
    })
  }

  async function lookAt(act: Act): Promise<void> {
    if (!act.reserved) return
    recording.delete(act)
    recording.add(act) // to the end, so that each gets its turn
    try {
      hear(await parts.look(act.reserved.request.id))
    } catch (error) {
      if (error instanceof AppError && error.code === 'unauthenticated') suspend()
      // anything else: the next look, or the stream, will tell
    }
  }

  function release(act: Act): void {
    const url = act.reserved?.upload
    if (!url) return
    const signal = new AbortController().signal
    retrying
      .run(() => parts.release(url), { signal })
      .catch((error: unknown) => {
        // an upload that could not be released lapses by itself; one that was complete goes on
        if (!(error instanceof AppError) || error.code !== 'upload_state') return
        record(act)
      })
  }

  function enqueue(act: Act): void {
    change(act, { status: 'waiting' })
    if (act.prepared) toSend.add(act)
    else toPrepare.add(act)
    pump()
  }

  function interrupt(act: Act, next: DepositState): void {
    act.stop.abort()
    toPrepare.delete(act)
    toSend.delete(act)
    change(act, next)
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
    limits.delete(act.category.id)
    if (suspended) change(act, { status: 'paused', by: 'session', ratio: state.ratio })
    else enqueue(act)
  }

  function cancel(act: Act): void {
    const state = act.$state.get()
    const isWaiting = state.status === 'paused' || state.status === 'missing'
    if (!isInterruptible(state) && !isWaiting) return
    interrupt(act, { status: 'cancelled' })
    parts.forget(act.id)
    release(act)
  }

  function retry(act: Act): void {
    const state = act.$state.get()
    if (state.status !== 'failed' || !state.retryable) return
    if (!isPassing(state.error)) startAnew(act)
    if (isOutdating(state.error)) act.prepared = undefined
    if (state.error.code === 'transform_not_allowed') {
      act.category = { ...act.category, keep_originals: true }
      act.isReduced = false
    }
    enqueue(act)
  }

  function suspend(): void {
    suspended = true
    for (const act of acts.values()) pause(act, 'session')
  }

  function endSuspension(): void {
    suspended = false
    for (const act of acts.values()) {
      const state = act.$state.get()
      if (state.status === 'paused' && state.by === 'session') enqueue(act)
    }
    pump()
    look()
  }

  function startAnew(act: Act): void {
    act.key = crypto.randomUUID()
    act.reserved = undefined
  }

  function fail(act: Act, error: AppError): void {
    // what may be decided still goes on with its key after a reload
    if (!isPassing(error)) parts.forget(act.id)
    change(act, { status: 'failed', error, retryable: !isLasting(error) })
  }

  function progress(act: Act, state: DepositState): void {
    const now = parts.now()
    if (now - act.toldAt < progressMs) return
    act.toldAt = now
    change(act, state)
  }

  function change(act: Act, state: DepositState): void {
    act.$state.set(state)
    summarizeSoon()
  }

  function summarizeSoon(): void {
    if (summaryDue) return
    summaryDue = true
    parts.after(progressMs, () => {
      summaryDue = false
      $summary.set(count())
    })
  }

  function count(): DepositSummary {
    return summarize(
      [...acts.values()].map(act => {
        return { size: act.size, state: act.$state.get(), isEarlier: earlier.has(act) }
      })
    )
  }

  function publish(): void {
    $deposits.set([...acts.values()])
    $summary.set(count())
  }

  function remove(act: Act): void {
    acts.delete(act.id)
    recording.delete(act)
    if (act.reserved) byRequest.delete(act.reserved.request.id)
  }

  const one = (verb: (act: Act) => void) => (id: string) => {
    const act = acts.get(id)
    if (act) verb(act)
  }
  const every = (verb: (act: Act) => void) => () => {
    for (const act of acts.values()) verb(act)
  }

  return {
    $deposits,
    $summary,
    addFiles,
    pause: one(act => pause(act, 'person')),
    resume: one(resume),
    cancel: one(cancel),
    retry: one(retry),
    pauseAll: every(act => pause(act, 'person')),
    resumeAll: every(resume),
    cancelAll: every(cancel),
    retryAll: every(retry),
    restore,
    choose(id, file) {
      const act = acts.get(id)
      if (act) attach(act, file, true)
    },
    async reopen(id) {
      const act = acts.get(id)
      const file = act?.handle && (await parts.reopen(act.handle, true))
      if (act && file) attach(act, file, true)
    },
    depositAgain: one(act => {
      if (act.$state.get().status !== 'duplicate') return
      startAnew(act)
      act.again = true
      enqueue(act)
    }),
    dismiss() {
      for (const act of acts.values()) if (hasEnded(act.$state.get())) remove(act)
      publish()
    },
    hear,
    networkIsBack() {
      retrying.hurry()
      for (const act of acts.values()) {
        const state = act.$state.get()
        if (state.status === 'failed' && state.error.code === 'offline') retry(act)
      }
    },
    suspend,
    endSuspension,
    clear() {
      for (const act of acts.values()) {
        act.stop.abort()
        parts.forget(act.id)
        remove(act)
      }
      limits.clear()
      toAdd.length = 0
      toPrepare.clear()
      toSend.clear()
      suspended = false
      publish()
    }
  }
}

function shift(acts: Set<Act>): Act | undefined {
  for (const act of acts) {
    acts.delete(act)
    return act
  }
  return undefined
}
