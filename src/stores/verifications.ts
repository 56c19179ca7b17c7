import { atom } from 'nanostores'
import { AppError, asAppError } from '../contract/errors.ts'
import { maxItemsSignedOut } from '../contract/limits.ts'
import type { Answer } from '../contract/verifications.ts'
import { type NamedFingerprint, parseFingerprints } from '../core/input/pasted-fingerprints.ts'
import { retryDelay } from '../core/retry-delay.ts'
import { shownName } from '../core/text/visible-text.ts'
import { rememberNames } from './checked-names.ts'
import { environment } from './environment.ts'
import { $session, api, onSignIn, onSignOut, signedInUser } from './sessions.ts'

export type CheckState =
  | { step: 'waiting' }
  | { step: 'hashing'; percent: number }
  | { step: 'asking' }
  | { step: 'stopped' }
  | { step: 'done'; answer: Answer }
  | { step: 'failed'; error: AppError }

/** One question of this visit. */
export interface Check {
  id: number
  /** What was dropped or pasted together. */
  batch: number
  /** What was compared. A fingerprint may have the name that stood beside it. */
  subject: 'file' | 'fingerprint'
  name: string | undefined
  size: number | undefined
  sha256: string | undefined
  state: CheckState
}

/** Why nothing is asked at the moment, and when the checks go on by themselves. */
export interface Pause {
  error: AppError
  /** Milliseconds since the epoch. */
  until: number
}

/** The checks of this visit, newest first. A batch keeps its order. */
export const $checks = atom<readonly Check[]>([])

/** The batch whose answers are shown in place of the zone. */
export const $shownBatch = atom<number | undefined>(undefined)

export const $pause = atom<Pause | undefined>(undefined)

/** Files by check, held until they are answered; only their fingerprints ever leave the device. */
const files = new Map<number, File>()
const running = new Map<number, AbortController>()
/** Fewer than may be asked at once, so that the first answers of many files come early. */
const groupSize = 100
/** Nobody waits for longer with a page open. */
const maxPauseSeconds = 86_400
/** Between two tries where the network or the service is away. */
const steadyRetryMs = 20_000
let lastId = 0
let lastBatch = 0
/** Who was signed in last: a session that ended by itself leaves the checks to the same person. */
let owner: string | undefined
/** Calls go out one after another, so that a pause holds for all batches. */
let line: Promise<unknown> = Promise.resolve()
let endPause: () => void = () => {}

onSignOut(departure => {
  if (departure === 'signed-out') forgetChecks()
})
onSignIn(() => {
  const person = signedInUser()
  if (owner !== undefined && owner !== person) forgetChecks()
  owner = person
  // other limits hold for people, and what a session's end had interrupted goes on
  endPause()
  void restart(({ state }) => state.step === 'failed' && state.error.code === 'unauthenticated')
})

export async function checkFiles(chosen: readonly File[]): Promise<void> {
  const batch = begin(
    chosen.map(file => ({
      subject: 'file',
      name: shownName(file.name),
      size: file.size,
      sha256: undefined
    }))
  )
  for (const [index, { id }] of batch.entries()) {
    const file = chosen[index]
    if (file) files.set(id, file)
  }
  await run(batch)
}

/**
 * Says whether the text is a fingerprint or a list of them; if so, they are being checked. If not, no
 * earlier answer stays in view, because it would be taken for the answer to this text.
 */
export function checkFingerprints(text: string): boolean {
  const found = parseFingerprints(text)
  if (!found) {
    $shownBatch.set(undefined)
    return false
  }
  const known = ({ sha256, name }: NamedFingerprint) =>
    ({ subject: 'fingerprint', name, size: undefined, sha256 }) as const
  void run(begin(found.map(known)))
  return true
}

function begin(given: readonly Omit<Check, 'id' | 'batch' | 'state'>[]): Check[] {
  lastBatch += 1
  const batch = given.map((known): Check => {
    lastId += 1
    return { ...known, id: lastId, batch: lastBatch, state: { step: 'waiting' } }
  })
  $checks.set([...batch, ...$checks.get()])
  $shownBatch.set(lastBatch)
  return batch
}

/** Brings the zone back; the answers stay in the list of this visit. */
export function closeAnswers(): void {
  $shownBatch.set(undefined)
}

/** Files that are empty or unreadable stay so. */
export function mayRetry({ state }: Check): boolean {
  if (state.step === 'stopped') return true
  if (state.step !== 'failed') return false
  return state.error.code !== 'file_empty' && state.error.code !== 'file_unreadable'
}

/** Whether the check still waits for its answer. */
export function isOpen({ state }: Check): boolean {
  return state.step === 'waiting' || state.step === 'hashing' || state.step === 'asking'
}

/** Tries all that failed or was stopped and may succeed, as one batch. */
export async function retryChecks(): Promise<void> {
  await restart(mayRetry)
}

async function restart(isMeant: (check: Check) => boolean): Promise<void> {
  const meant = $checks.get().filter(isMeant)
  for (const { id } of meant) change(id, { state: { step: 'waiting' } })
  await run(meant)
}

/** Stops all that has no answer yet; it can be taken up again. */
export function stopChecks(): void {
  for (const { id } of $checks.get().filter(isOpen)) {
    running.get(id)?.abort()
    change(id, { state: { step: 'stopped' } })
  }
  endPause()
}

export function cancelCheck(id: number): void {
  running.get(id)?.abort()
  drop(id)
  if (!$checks.get().some(isOpen)) endPause()
}

export function forgetChecks(): void {
  for (const { id } of $checks.get()) cancelCheck(id)
}

/** Hashes all, and asks as soon as a group is full, so that one batch is as few calls as can be. */
async function run(batch: readonly Check[]): Promise<void> {
  const hashing = batch.map(fingerprint)
  let group: Question[] = []
  let refusal: AppError | undefined
  for (const [index, hashed] of hashing.entries()) {
    const question = await hashed
    if (question && refusal) fail(question.id, refusal)
    else if (question) group.push(question)
    const isLast = index === hashing.length - 1
    if (group.length === 0 || (group.length < itemLimit() && !isLast)) continue
    const full = group
    group = []
    const turn = line.then(() => askAll(full))
    line = turn
    refusal = await turn
  }
}

function itemLimit(): number {
  return $session.get().status === 'in' ? groupSize : maxItemsSignedOut
}

interface Question {
  id: number
  sha256: string
}

/** Nothing where the file cannot be asked about; the check then says why. */
async function fingerprint({ id, sha256 }: Check): Promise<Question | undefined> {
  if (sha256) return { id, sha256 }
  const file = files.get(id)
  if (!file) return undefined
  if (file.size === 0) {
    fail(id, new AppError('file_empty', 'No bytes, no fingerprint'))
    return undefined
  }
  const stop = new AbortController()
  running.set(id, stop)
  try {
    const sha256 = await environment().hashFile(file, {
      signal: stop.signal,
      onProgress: done => progress(id, Math.floor((100 * done) / file.size))
    })
    if (stop.signal.aborted) return undefined
    change(id, { sha256, state: { step: 'waiting' } })
    return { id, sha256 }
  } catch (error) {
    if (!stop.signal.aborted) fail(id, asAppError(error, 'A check failed'))
    return undefined
  } finally {
    if (running.get(id) === stop) running.delete(id)
  }
}

/** Asks until all is answered, pausing where it may go on later. Answers what would refuse others too. */
async function askAll(group: readonly Question[]): Promise<AppError | undefined> {
  let failures = 0
  for (;;) {
    const open = new Set($checks.get().flatMap(check => (isOpen(check) ? check.id : [])))
    const left = group.filter(({ id }) => open.has(id))
    if (left.length === 0) return undefined
    const error = await ask(left.slice(0, itemLimit()))
    if (!error) {
      failures = 0
      continue
    }
    failures += 1
    const ms = pauseAfter(error, failures)
    if (ms !== undefined) {
      await pause(error, ms)
      continue
    }
    for (const { id } of left) fail(id, error)
    return error.status === 429 || error.status === 401 ? error : undefined
  }
}

/** Milliseconds until another try; nothing where only the person can help. */
function pauseAfter(error: AppError, failures: number): number | undefined {
  const { code, status, retryAfter } = error
  if (status === 429) {
    const isSoon = retryAfter !== undefined && retryAfter <= maxPauseSeconds
    return isSoon ? retryAfter * 1000 : undefined
  }
  const ms = retryDelay(failures, environment().random())
  if (code === 'internal' || code === 'unexpected_answer') return ms
  if (code !== 'offline' && code !== 'unavailable') return undefined
  return Math.max(ms ?? steadyRetryMs, (retryAfter ?? 0) * 1000)
}

/** Ends by itself, by a stop or a sign-in, and when the network that was missing is back. */
function pause(error: AppError, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { after, now, onWake } = environment()
  const callOff = after(ms, () => endPause())
  const unhear = error.code === 'offline' ? onWake(() => endPause()) : () => {}
  endPause = () => {
    endPause = () => {}
    callOff()
    unhear()
    $pause.set(undefined)
    resolve()
  }
  $pause.set({ error, until: now() + ms })
  return promise
}

/** Answers the error that left the group without answers. */
async function ask(group: readonly Question[]): Promise<AppError | undefined> {
  for (const { id } of group) change(id, { state: { step: 'asking' } })
  try {
    const asked = group.map(({ sha256 }) => ({ sha256 }))
    const { items, request_id } = await api('verify', { items: asked })
    if (request_id) rememberNames(request_id, namesOf(group))
    for (const { id, sha256 } of group) {
      const answer = items.find(item => item.sha256 === sha256)
      if (answer) settle(id, answer)
      else fail(id, new AppError('unexpected_answer', 'A fingerprint without an answer'))
    }
    return undefined
  } catch (cause) {
    for (const { id } of group) {
      if (stateOf(id)?.step === 'asking') change(id, { state: { step: 'waiting' } })
    }
    return asAppError(cause, 'A check failed')
  }
}

function namesOf(group: readonly Question[]): string[] {
  const names = new Map($checks.get().map(({ id, name }) => [id, name]))
  return group.flatMap(({ id }) => names.get(id) ?? [])
}

function settle(id: number, answer: Answer): void {
  files.delete(id)
  change(id, { state: { step: 'done', answer } })
}

/** What was stopped meanwhile says so. */
function fail(id: number, error: AppError): void {
  if (stateOf(id)?.step !== 'stopped') change(id, { state: { step: 'failed', error } })
}

/** Whole percents only: a large file reports thousands of times. */
function progress(id: number, percent: number): void {
  const state = stateOf(id)
  if (state?.step === 'stopped') return
  if (state?.step === 'hashing' && state.percent === percent) return
  change(id, { state: { step: 'hashing', percent } })
}

function stateOf(id: number): CheckState | undefined {
  return $checks.get().find(check => check.id === id)?.state
}

function change(id: number, changes: Partial<Check>): void {
  $checks.set($checks.get().map(check => (check.id === id ? { ...check, ...changes } : check)))
}

function drop(id: number): void {
  files.delete(id)
  $checks.set($checks.get().filter(check => check.id !== id))
}
