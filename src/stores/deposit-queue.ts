import { atom, type ReadableAtom } from 'nanostores'
import type * as z from 'zod/mini'
import type { createDeposit } from '../contract/deposits.ts'
import { AppError } from '../contract/errors.ts'
import type { ProcessedRequest } from '../contract/requests.ts'
import { createPace } from '../core/pace.ts'
import type { Reduction } from '../workers/image-client.ts'
import type { AskOptions } from '../workers/pool.ts'
import {
  type Act,
  appErrorOf,
  codeOf,
  createAct,
  isLasting,
  isOutdating,
  mediaTypeOf,
  type Prepared,
  type QueuedDeposit,
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
import type { Uploads } from './uploads.ts'

/** As many files may be on their way at once. */
export const maxQueued = 1000
const maxPreparing = 2
const maxSending = 2
const progressMs = 100
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
  now: () => number
  random: () => number
  after: (ms: number, run: () => void) => () => void
}

export interface DepositQueue {
  $deposits: ReadableAtom<readonly QueuedDeposit[]>
  $summary: ReadableAtom<DepositSummary>
  /** Answers how many of the files found no place. */
  addFiles: (files: readonly File[], category: string) => number
  pause: (id: string) => void
  resume: (id: string) => void
  cancel: (id: string) => void
  retry: (id: string) => void
  pauseAll: () => void
  resumeAll: () => void
  cancelAll: () => void
  retryAll: () => void
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
  let preparing = 0
  let sending = 0
  let suspended = false
  let summaryDue = false
  let looking = false

  function addFiles(files: readonly File[], category: string): number {
    const { active, paused } = count()
    if (active + paused === 0) for (const act of acts.values()) earlier.add(act)
    const taken = files.slice(0, Math.max(0, maxQueued - active - paused))
    for (const file of taken) {
      const act = createAct(file, category)
      acts.set(act.id, act)
      const refusal = refusalOf(act)
      if (refusal) fail(act, refusal)
      else toPrepare.add(act)
    }
    publish()
    pump()
    return files.length - taken.length
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
      const error = appErrorOf(thrown)
      if (error.code === 'unauthenticated') suspend()
      else fail(act, error)
    }
  }

  async function prepare(act: Act, signal: AbortSignal): Promise<void> {
    const { file } = act
    change(act, { status: 'hashing', ratio: 0 })
    const onProgress = (done: number) => {
      if (!signal.aborted) progress(act, { status: 'hashing', ratio: done / file.size })
    }
    const original = await parts.hash(file, { onProgress, signal })
    signal.throwIfAborted()
    change(act, { status: 'preparing' })
    const reduction = await parts.reduce(file, { signal })
    const stored = reduction ? await parts.hash(reduction.blob, { signal }) : original
    signal.throwIfAborted()
    act.prepared = { original, stored, bytes: reduction?.blob ?? file, reduction }
    enqueue(act)
  }

  async function deliver(act: Act, signal: AbortSignal): Promise<void> {
    if (!act.prepared) throw new Error('A deposit must be prepared before it is delivered')
    const { prepared } = act
    if (!act.reserved) {
      change(act, { status: 'reserving' })
      act.reserved = await retrying.run(() => reserve(act, prepared), { signal })
      byRequest.set(act.reserved.request.id, act)
      // a reservation on its way cannot be called back: whoever cancelled meanwhile gives it back
      if (act.$state.get().status === 'cancelled') release(act)
      signal.throwIfAborted()
    }
    await upload(act, prepared.bytes, act.reserved.upload, signal)
    signal.throwIfAborted()
    change(act, { status: 'recording' })
    recording.add(act)
    settle(act)
    look()
  }

  function reserve(act: Act, { original, stored, bytes, reduction }: Prepared) {
    const media_type = mediaTypeOf(bytes)
    const transform = reduction ? { transform: reduction.transform } : {}
    const { name, category } = act
    const input = { name, size: bytes.size, media_type, original, stored, category, ...transform }
    return parts.reserve(input, act.key)
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
        change(act, { status: 'recording' })
        recording.add(act)
        settle(act)
        look()
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
    if (suspended) change(act, { ...state, by: 'session' })
    else enqueue(act)
  }

  function cancel(act: Act): void {
    const state = act.$state.get()
    if (!isInterruptible(state) && state.status !== 'paused') return
    interrupt(act, { status: 'cancelled' })
    release(act)
  }

  function retry(act: Act): void {
    const state = act.$state.get()
    if (state.status !== 'failed' || !state.retryable) return
    if (!isPassing(state.error)) startAnew(act)
    if (isOutdating(state.error)) act.prepared = undefined
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
        return { file: act.file, state: act.$state.get(), isEarlier: earlier.has(act) }
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
        remove(act)
      }
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
