import { AppError, asAppError } from '../contract/kit/errors.ts'
import { maxFingerprintsSignedOut } from '../contract/kit/limits.ts'
import type { AskedSource, OfferedSource, VerificationResult } from '../contract/verifications.ts'
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
  | { step: 'done'; answer: VerificationResult; sources: readonly AskedSource[] }
  | { step: 'failed'; error: AppError }

export interface Verification {
  id: number
  /** Files that were dropped or pasted together have the same number. */
  batch: number
  /** The `name` of a fingerprint is the file name in the pasted list, if any. */
  subject: 'file' | 'fingerprint' | 'reference'
  name: string | undefined
  size: number | undefined
  sha256: string | undefined
  reference?: ReferenceInput
  state: VerificationState
}

export interface ReferenceInput {
  data_source: string
  reference: string
  fields: string[]
}

export interface VerificationPause {
  error: AppError
  until: number
}

/** Newest batch first. Within a batch, in the order of the chosen files or of the pasted list. */
export const $verifications = personalAtom<readonly Verification[]>([], 'person')

/** The batch whose results are shown in place of the drop zone. */
export const $shownBatch = personalAtom<number | undefined>(undefined, 'person')

export const $verificationRetryPause = personalAtom<VerificationPause | undefined>(
  undefined,
  'person'
)

// only the fingerprints of the files leave the device
const files = new Map<number, File>()
const running = new Map<number, AbortController>()
// the server accepts more, but larger groups would delay the first results
const groupSize = 100
// nobody keeps the page open for longer, so a longer pause is an error
const maxPauseSeconds = 86_400
// after the delays of `retryDelayMs()` are used up
const steadyRetryMs = 20_000
let lastId = 0
let lastBatch = 0
// each call waits for the one before it, so a pause delays the calls of all batches
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

/** Loads the code that verifications need, so that files can be chosen without a network. */
export async function prepareVerifications(): Promise<void> {
  await browserEnvironment()
    .prepareHashing()
    .catch(() => {
      // the first verification tries again, and reports the error
    })
}

/** Returns when each file has a result or an error, or was stopped. */
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

/** Returns what the text contains. If it has no fingerprint, hides the results that are shown. */
export function startVerifyingFingerprintsIn(text: string): PastedFingerprints {
  const read = findFingerprints(text)
  const known = ({ sha256, name }: NamedFingerprint) =>
    ({ subject: 'fingerprint', name, size: undefined, sha256 }) as const
  if (read.found.length === 0) $shownBatch.set(undefined)
  else void run(addBatch(read.found.map(known)))
  return read
}

/** Verifies by what is known of an entry of a register. Returns when there is a result or an error. */
export async function verifyReference(input: ReferenceInput): Promise<void> {
  const name = withoutDirectionControls(input.reference)
  const known = { subject: 'reference', name, size: undefined, sha256: undefined } as const
  await run(addBatch([{ ...known, reference: input }]))
}

/** Returns the registers in which the person may look up without a file. */
export function listOfferedSources(): Promise<OfferedSource[]> {
  return api('listOfferedSources', {})
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

export function hideVerificationResults(): void {
  $shownBatch.set(undefined)
}

// empty and unreadable files would fail again
export function canRetry({ state }: Verification): boolean {
  if (state.step === 'stopped') return true
  if (state.step !== 'failed') return false
  return state.error.code !== 'file_empty' && state.error.code !== 'file_unreadable'
}

export function isAwaitingResult({ state }: Verification): boolean {
  return state.step === 'waiting' || state.step === 'hashing' || state.step === 'asking'
}

export async function retryVerifications(): Promise<void> {
  await restartChecks(canRetry)
}

async function restartChecks(isMeant: (check: Verification) => boolean): Promise<void> {
  const meant = $verifications.get().filter(isMeant)
  for (const { id } of meant) change(id, { state: { step: 'waiting' } })
  await run(meant)
}

export function stopVerifications(): void {
  for (const { id } of $verifications.get().filter(isAwaitingResult)) {
    running.get(id)?.abort()
    change(id, { state: { step: 'stopped' } })
  }
  endPause()
}

export function removeVerification(id: number): void {
  running.get(id)?.abort()
  drop(id)
  if (!$verifications.get().some(isAwaitingResult)) endPause()
}

export function clearVerifications(): void {
  for (const { id } of $verifications.get()) removeVerification(id)
}

// sends each group as soon as it is full, so that a batch takes few calls
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
  item: { sha256: string } | ReferenceInput
}

// an error is recorded; a verification that was stopped or removed has none
async function fingerprint({ id, sha256, reference }: Verification): Promise<Question | undefined> {
  if (reference) return { id, item: reference }
  if (sha256) return { id, item: { sha256 } }
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
    return { id, item: { sha256 } }
  } catch (error) {
    if (!stop.signal.aborted) fail(id, asAppError(error, 'A check failed'))
    return undefined
  } finally {
    if (running.get(id) === stop) running.delete(id)
  }
}

// returns an error only if other groups would also get it (401 or 429)
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
    // a person decides whether to guess again
    const isReference = left.some(({ item }) => 'reference' in item)
    const ms = isReference && error.status === 429 ? undefined : pauseAfter(error, failures)
    if (ms !== undefined) {
      await pause(error, ms)
      continue
    }
    for (const { id } of left) fail(id, error)
    return (error.status === 429 && !isReference) || error.status === 401 ? error : undefined
  }
}

// undefined: waiting does not resolve the error
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

async function ask(group: readonly Question[]): Promise<AppError | undefined> {
  for (const { id } of group) change(id, { state: { step: 'asking' } })
  try {
    const asked = group.map(({ item }) => item)
    const { items, sources, request_id } = await api('verify', { items: asked })
    if (request_id) rememberFileNames(request_id, namesOf(group))
    for (const [index, { id }] of group.entries()) {
      const answer = items[index]
      if (answer) settle(id, answer, sources)
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
  // references are stored nowhere
  const named = $verifications.get().filter(({ subject }) => subject !== 'reference')
  const names = new Map(named.map(({ id, name }) => [id, name]))
  return group.flatMap(({ id }) => names.get(id) ?? [])
}

function settle(id: number, answer: VerificationResult, sources: readonly AskedSource[]): void {
  files.delete(id)
  change(id, { state: { step: 'done', answer, sources } })
}

function fail(id: number, error: AppError): void {
  if (stateOf(id)?.step !== 'stopped') change(id, { state: { step: 'failed', error } })
}

// a large file reports thousands of times
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
