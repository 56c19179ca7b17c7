import { createDeposit } from '../contract/deposits.ts'
import { AppError } from '../contract/errors.ts'
import { getRequest } from '../contract/requests.ts'
import { readPayload } from '../core/token.ts'
import { hashFile } from '../workers/hash-client.ts'
import { isReducible, reducePicture } from '../workers/image-client.ts'
import { createDepositQueue } from './deposit-queue.ts'
import { environment } from './environment.ts'
import { httpUpload } from './http-upload.ts'
import { loadRequests, onRequest } from './requests.ts'
import { api, apiOrigin, heed, onSignIn, onSignOut, sessionToken } from './sessions.ts'
import { createUploads } from './uploads.ts'

const uploads = createUploads({ http: httpUpload, token: sessionToken })

const queue = createDepositQueue({
  hash: hashFile,
  reduce: reducePicture,
  reserve: (input, idempotencyKey) => renewable(api(createDeposit, input, { idempotencyKey })),
  look: id => renewable(api(getRequest, { id })),
  send: (address, bytes, options) => heeding(uploads.send(urlOf(address), bytes, options)),
  release: address => heeding(uploads.release(urlOf(address))),
  now: () => environment().now(),
  random: () => environment().random(),
  after: (ms, run) => environment().after(ms, run)
})

/** The queue lives as long as the document, so it goes on while the person visits other pages. */
export const $deposits = queue.$deposits
export const $depositSummary = queue.$summary
export const { pause, resume, cancel, retry, pauseAll, resumeAll, cancelAll, retryAll, dismiss } =
  queue

/** Whether a reduced copy of the file will be kept, which is said before anything is sent. */
export function isKeptReduced(file: File): boolean {
  return isReducible(file)
}

/** Whose files these are; they wait for the same person when the session ends. */
let owner: unknown
let listening = false

/** Puts files in the queue; answers how many found no place in it. */
export function addFiles(files: readonly File[], category: string): number {
  listen()
  owner = person()
  return queue.addFiles(files, category)
}

/** Once, at the first file: until then there is nothing to hear about. */
function listen(): void {
  loadRequests()
  if (listening) return
  listening = true
  onRequest(queue.hear)
  onSignOut(departure => {
    if (departure === 'signed-out') queue.clear()
    else queue.suspend()
  })
  onSignIn(() => {
    if (person() !== owner) queue.clear()
    else queue.endSuspension()
    loadRequests()
  })
  addEventListener('online', queue.networkIsBack)
  addEventListener('beforeunload', event => {
    const { active, paused } = queue.$summary.get()
    if (active + paused > 0) event.preventDefault()
  })
}

/** Uploads do not pass through `api()`, yet what every call may answer holds for them too. */
async function heeding(sent: Promise<void>): Promise<void> {
  try {
    await sent
  } catch (error) {
    if (error instanceof AppError) heed(error, sessionToken())
    throw error
  }
}

/** A 401 to a token that was renewed meanwhile ends nothing: the next try carries the new one. */
async function renewable<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer
  } catch (error) {
    const isStale = error instanceof AppError && error.status === 401 && sessionToken()
    if (isStale) throw new AppError('unavailable', 'The token was renewed', { cause: error })
    throw error
  }
}

function urlOf(address: string): string {
  return new URL(address, apiOrigin()).href
}

function person(): unknown {
  const token = sessionToken()
  return token ? readPayload(token)?.['sub'] : undefined
}
