import { atom } from 'nanostores'
import { AppError, asAppError } from '../contract/errors.ts'
import { maxItemsSignedOut } from '../contract/limits.ts'
import type { Answer } from '../contract/verifications.ts'
import { parseFingerprint } from '../core/fingerprint.ts'
import { readPayload } from '../core/token.ts'
import { environment } from './environment.ts'
import { $session, api, onSignIn, onSignOut, sessionToken } from './sessions.ts'

export type CheckState =
  | { step: 'waiting' }
  | { step: 'hashing'; percent: number }
  | { step: 'asking' }
  | { step: 'done'; answer: Answer }
  | { step: 'failed'; error: AppError }

/** One question of this visit. */
export interface Check {
  id: number
  /** What was dropped or pasted together. */
  batch: number
  /** Name of the file; nothing for a pasted fingerprint. */
  name: string | undefined
  size: number | undefined
  sha256: string | undefined
  state: CheckState
}

/** The checks of this visit, newest first. A batch keeps its order. */
export const $checks = atom<readonly Check[]>([])

/** Files by check, held until they are answered; only their fingerprints ever leave the device. */
const files = new Map<number, File>()
const running = new Map<number, AbortController>()
/** Fewer than may be asked at once, so that the first answers of many files come early. */
const groupSize = 100
let lastId = 0
let lastBatch = 0
/** Who was signed in last: a session that ended by itself leaves the checks to the same person. */
let owner: unknown

onSignOut(departure => {
  if (departure === 'signed-out') forgetChecks()
})
onSignIn(() => {
  const token = sessionToken()
  const person = token ? readPayload(token)?.['sub'] : undefined
  if (owner !== undefined && owner !== person) forgetChecks()
  owner = person
})

export async function checkFiles(chosen: readonly File[]): Promise<void> {
  lastBatch += 1
  const batch = chosen.map(file => {
    const check = newCheck({ name: file.name, size: file.size })
    files.set(check.id, file)
    return check
  })
  $checks.set([...batch, ...$checks.get()])
  await run(batch)
}

/** Answers whether the text is a fingerprint; if so, it is being checked. */
export function checkFingerprint(text: string): boolean {
  const sha256 = parseFingerprint(text)
  if (!sha256) return false
  lastBatch += 1
  const check = newCheck({ sha256 })
  $checks.set([check, ...$checks.get()])
  void run([check])
  return true
}

function newCheck(known: { name?: string; size?: number; sha256?: string }): Check {
  lastId += 1
  const { name, size, sha256 } = known
  return { id: lastId, batch: lastBatch, name, size, sha256, state: { step: 'waiting' } }
}

/** A file that is empty or cannot be read stays so. */
export function mayRetry({ state }: Check): boolean {
  if (state.step !== 'failed') return false
  return state.error.code !== 'file_empty' && state.error.code !== 'file_unreadable'
}

/** Tries all that failed and may succeed again, as one batch. */
export async function retryChecks(): Promise<void> {
  const failed = $checks.get().filter(mayRetry)
  for (const { id } of failed) change(id, { state: { step: 'waiting' } })
  await run(failed)
}

export function cancelCheck(id: number): void {
  running.get(id)?.abort()
  drop(id)
}

export function forgetChecks(): void {
  for (const { id } of $checks.get()) cancelCheck(id)
}

/** Hashes all, and asks as soon as a group is full, so that one batch is as few calls as can be. */
async function run(batch: readonly Check[]): Promise<void> {
  const limit = $session.get().status === 'in' ? groupSize : maxItemsSignedOut
  const hashing = batch.map(fingerprint)
  let group: Question[] = []
  let limited: AppError | undefined
  for (const [index, hashed] of hashing.entries()) {
    const question = await hashed
    if (question && limited) fail(question.id, limited)
    else if (question) group.push(question)
    const isLast = index === hashing.length - 1
    if (group.length === 0 || (group.length < limit && !isLast)) continue
    const error = await ask(group)
    group = []
    // the other groups would be refused as well
    if (error?.status === 429 || error?.status === 401) limited = error
  }
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
    change(id, { sha256, state: { step: 'asking' } })
    return { id, sha256 }
  } catch (error) {
    if (!stop.signal.aborted) fail(id, asAppError(error, 'A check failed'))
    return undefined
  } finally {
    running.delete(id)
  }
}

/** Answers the error that left the group without answers. */
async function ask(group: readonly Question[]): Promise<AppError | undefined> {
  const kept = new Set($checks.get().map(({ id }) => id))
  const questions = group.filter(({ id }) => kept.has(id))
  if (questions.length === 0) return undefined
  for (const { id } of questions) change(id, { state: { step: 'asking' } })
  try {
    const { items } = await api('verify', { items: questions.map(({ sha256 }) => ({ sha256 })) })
    for (const { id, sha256 } of questions) {
      const answer = items.find(item => item.sha256 === sha256)
      if (answer) settle(id, answer)
      else fail(id, new AppError('unexpected_answer', 'A fingerprint without an answer'))
    }
    return undefined
  } catch (cause) {
    const error = asAppError(cause, 'A check failed')
    for (const { id } of questions) fail(id, error)
    return error
  }
}

function settle(id: number, answer: Answer): void {
  files.delete(id)
  change(id, { state: { step: 'done', answer } })
}

function fail(id: number, error: AppError): void {
  change(id, { state: { step: 'failed', error } })
}

/** Whole percents only: a large file reports thousands of times. */
function progress(id: number, percent: number): void {
  const state = $checks.get().find(check => check.id === id)?.state
  if (state?.step === 'hashing' && state.percent === percent) return
  change(id, { state: { step: 'hashing', percent } })
}

function change(id: number, changes: Partial<Check>): void {
  $checks.set($checks.get().map(check => (check.id === id ? { ...check, ...changes } : check)))
}

function drop(id: number): void {
  files.delete(id)
  $checks.set($checks.get().filter(check => check.id !== id))
}
