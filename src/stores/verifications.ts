import { AppError, asAppError } from '../contract/kit/errors.ts'
import { maxFingerprintsSignedOut } from '../contract/kit/limits.ts'
import type { VerificationResult } from '../contract/verifications.ts'
import {
  findFingerprints,
  type NamedFingerprint,
  type PastedFingerprints
} from '../core/input/pasted-fingerprints.ts'
import { retryDelayMs } from '../core/retry-delay.ts'
import { withoutDirectionControls } from '../core/text/visible-text.ts'
import { browserEnvironment } from './environment.ts'
import { personalAtom } from './personal-atoms.ts'
import { $session, addSessionEndListener, addSessionStartListener, api } from './sessions.ts'
import { rememberFileNames } from './verified-file-names.ts'

export type VerificationState =
  | { step: 'waiting' }
  | { step: 'hashing'; percent: number }
  | { step: 'asking' }
  | { step: 'stopped' }
  | { step: 'done'; answer: VerificationResult }
  | { step: 'failed'; error: AppError }

/** The verification of one file or fingerprint. */
export interface Verification {
  id: number
  /** Number of the batch. Files that were dropped or pasted together have the same number. */
  batch: number
  /**
   * What is verified: a file, or a pasted fingerprint. The `name` of a fingerprint is the file name
   * in the pasted list, if any.
   */
  subject: 'file' | 'fingerprint'
  name: string | undefined
  size: number | undefined
  sha256: string | undefined
  state: VerificationState
}

/** Why the verifications are paused, and when they continue automatically. */
export interface VerificationPause {
  error: AppError
  /** Time at which the pause ends, in milliseconds since the epoch. */
  until: number
}

/**
 * The verifications since the page was loaded, newest batch first. Within a batch, they are in the
 * order of the chosen files or of the pasted list.
 */
export const $verifications = personalAtom<readonly Verification[]>([], 'person')

/**
 * Number of the batch whose results are shown in place of the drop zone. Undefined while the drop
 * zone is shown.
 */
export const $shownBatch = personalAtom<number | undefined>(undefined, 'person')

export const $verificationRetryPause = personalAtom<VerificationPause | undefined>(
  undefined,
  'person'
)

/**
 * The files of the verifications that have no result yet, by the id of the verification. Only the
 * fingerprints of the files leave the device.
 */
const files = new Map<number, File>()
const running = new Map<number, AbortController>()
/**
 * Maximum number of fingerprints that a signed-in person sends in one call. The server accepts
 * more, but larger groups would delay the first results.
 */
const groupSize = 100
/**
 * Maximum pause in seconds. If a quota would require a longer pause, the verifications fail
 * instead, because nobody keeps the page open for so long.
 */
const maxPauseSeconds = 86_400
/**
 * Milliseconds between two tries while the network or the service is unreachable, after the delays
 * of `retryDelayMs()` are used up.
 */
const steadyRetryMs = 20_000
let lastId = 0
let lastBatch = 0
/**
 * Promise of the last call. Each call waits for the one before it, so a pause between two tries
 * delays the calls of all batches.
 */
let lastCall: Promise<unknown> = Promise.resolve()
let endPause: () => void = () => {}

// when the session merely expires, the checks stay
addSessionEndListener(end => {
  if (end === 'signed-out') clearVerifications()
})
addSessionStartListener(() => {
  // other limits apply to signed-in people, and checks that stopped with the session can continue
  endPause()
  void restartChecks(
    ({ state }) => state.step === 'failed' && state.error.code === 'unauthenticated'
  )
})

/**
 * Loads the code that verifications need, so that files can be chosen without a network. The
 * verifications continue when it returns.
 */
export async function prepareVerifications(): Promise<void> {
  await browserEnvironment()
    .prepareHashing()
    .catch(() => {
      // the first verification tries again, and reports the error
    })
}

/** Verifies files as one batch. Returns when each has a result or an error, or was stopped. */
export async function verifyFiles(chosen: readonly File[]): Promise<void> {
  const batch = addBatch(
    chosen.map(file => ({
      subject: 'file',
      name: withoutDirectionControls(file.name),
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
 * Starts to verify the fingerprints in a text, and returns what the text contains. If it contains
 * no fingerprint, hides the results that are shown.
 */
export function startVerifyingFingerprintsIn(text: string): PastedFingerprints {
  const read = findFingerprints(text)
  const known = ({ sha256, name }: NamedFingerprint) =>
    ({ subject: 'fingerprint', name, size: undefined, sha256 }) as const
  if (read.found.length === 0) $shownBatch.set(undefined)
  else void run(addBatch(read.found.map(known)))
  return read
}

function addBatch(given: readonly Omit<Verification, 'id' | 'batch' | 'state'>[]): Verification[] {
  lastBatch += 1
  const batch = given.map((known): Verification => {
    lastId += 1
    return { ...known, id: lastId, batch: lastBatch, state: { step: 'waiting' } }
  })
  $verifications.set([...batch, ...$verifications.get()])
  $shownBatch.set(lastBatch)
  return batch
}

/** Hides the results and shows the drop zone again. The results stay in `$verifications`. */
export function hideVerificationResults(): void {
  $shownBatch.set(undefined)
}

/**
 * Returns whether a verification was stopped, or has failed and may succeed when it is repeated.
 * Empty and unreadable files would fail again.
 */
export function canRetry({ state }: Verification): boolean {
  if (state.step === 'stopped') return true
  if (state.step !== 'failed') return false
  return state.error.code !== 'file_empty' && state.error.code !== 'file_unreadable'
}

/** Returns whether a verification still waits for its result. */
export function isAwaitingResult({ state }: Verification): boolean {
  return state.step === 'waiting' || state.step === 'hashing' || state.step === 'asking'
}

/**
 * Retries, as one batch, all verifications that were stopped, and those that failed but may succeed
 * now.
 */
export async function retryVerifications(): Promise<void> {
  await restartChecks(canRetry)
}

async function restartChecks(isMeant: (check: Verification) => boolean): Promise<void> {
  const meant = $verifications.get().filter(isMeant)
  for (const { id } of meant) change(id, { state: { step: 'waiting' } })
  await run(meant)
}

/** Stops all verifications that have no result yet. They can be retried. */
export function stopVerifications(): void {
  for (const { id } of $verifications.get().filter(isAwaitingResult)) {
    running.get(id)?.abort()
    change(id, { state: { step: 'stopped' } })
  }
  endPause()
}

/** Stops a verification and removes it from the list. */
export function removeVerification(id: number): void {
  running.get(id)?.abort()
  drop(id)
  if (!$verifications.get().some(isAwaitingResult)) endPause()
}

/** Stops all verifications and empties the list. */
export function clearVerifications(): void {
  for (const { id } of $verifications.get()) removeVerification(id)
}

/**
 * Hashes all files of a batch. Sends the fingerprints in groups, each as soon as it is full, so
 * that a batch takes few calls.
 */
async function run(batch: readonly Verification[]): Promise<void> {
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
    const turn = lastCall.then(() => askAll(full))
    lastCall = turn
    refusal = await turn
  }
}

function itemLimit(): number {
  return $session.get().status === 'in' ? groupSize : maxFingerprintsSignedOut
}

interface Question {
  id: number
  sha256: string
}

/**
 * Returns the id of the verification and the fingerprint of its file. Hashes the file if the
 * fingerprint is not known yet. If the file is empty or hashing fails, records the error and
 * returns undefined. If the verification is stopped or removed, returns undefined and records no
 * error.
 */
async function fingerprint({ id, sha256 }: Verification): Promise<Question | undefined> {
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
    const sha256 = await browserEnvironment().hashFile(file, {
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

/**
 * Calls the server until all fingerprints of the group have results, with pauses between tries. If
 * an error cannot be resolved by waiting, records it for the remaining fingerprints. Returns the
 * error only if other groups would also get it (401 or 429), otherwise undefined.
 */
async function askAll(group: readonly Question[]): Promise<AppError | undefined> {
  let failures = 0
  for (;;) {
    const open = new Set(
      $verifications.get().flatMap(check => (isAwaitingResult(check) ? check.id : []))
    )
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

/**
 * Returns the milliseconds until the next try, or undefined for an error that waiting does not
 * resolve.
 */
function pauseAfter(error: AppError, failures: number): number | undefined {
  const { code, status, retryAfter } = error
  if (status === 429) {
    const isSoon = retryAfter !== undefined && retryAfter <= maxPauseSeconds
    return isSoon ? retryAfter * 1000 : undefined
  }
  const ms = retryDelayMs(failures, browserEnvironment().random())
  if (code === 'internal' || code === 'unexpected_answer') return ms
  if (code !== 'offline' && code !== 'unavailable') return undefined
  return Math.max(ms ?? steadyRetryMs, (retryAfter ?? 0) * 1000)
}

/**
 * Waits `ms` milliseconds. Returns earlier when the verifications are stopped or the person signs
 * in. After the error `offline`, also returns when the network returns or the page becomes visible.
 */
function pause(error: AppError, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { after, now, onWake } = browserEnvironment()
  const cancelTimer = after(ms, () => endPause())
  const stopListening = error.code === 'offline' ? onWake(() => endPause()) : () => {}
  endPause = () => {
    endPause = () => {}
    cancelTimer()
    stopListening()
    $verificationRetryPause.set(undefined)
    resolve()
  }
  $verificationRetryPause.set({ error, until: now() + ms })
  return promise
}

/** Sends the group in one call. Returns undefined on success, or the error if the call failed. */
async function ask(group: readonly Question[]): Promise<AppError | undefined> {
  for (const { id } of group) change(id, { state: { step: 'asking' } })
  try {
    const asked = group.map(({ sha256 }) => ({ sha256 }))
    const { items, request_id } = await api('verify', { items: asked })
    if (request_id) rememberFileNames(request_id, namesOf(group))
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
  const names = new Map($verifications.get().map(({ id, name }) => [id, name]))
  return group.flatMap(({ id }) => names.get(id) ?? [])
}

function settle(id: number, answer: VerificationResult): void {
  files.delete(id)
  change(id, { state: { step: 'done', answer } })
}

/** Records the error of a verification, unless it was stopped meanwhile. */
function fail(id: number, error: AppError): void {
  if (stateOf(id)?.step !== 'stopped') change(id, { state: { step: 'failed', error } })
}

/**
 * Shows how many percent of a file have been hashed, unless the verification was stopped. Does
 * nothing if this number is shown already, because a large file reports thousands of times.
 */
function progress(id: number, percent: number): void {
  const state = stateOf(id)
  if (state?.step === 'stopped') return
  if (state?.step === 'hashing' && state.percent === percent) return
  change(id, { state: { step: 'hashing', percent } })
}

function stateOf(id: number): VerificationState | undefined {
  return $verifications.get().find(check => check.id === id)?.state
}

function change(id: number, changes: Partial<Verification>): void {
  $verifications.set(
    $verifications.get().map(check => (check.id === id ? { ...check, ...changes } : check))
  )
}

function drop(id: number): void {
  files.delete(id)
  $verifications.set($verifications.get().filter(check => check.id !== id))
}
