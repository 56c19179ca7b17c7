import { AppError } from '../../contract/errors.ts'
import { readPayload } from '../../core/keys/access-token.ts'
import { hashFile } from '../../workers/hash-client.ts'
import { reducePicture } from '../../workers/image-client.ts'
import { environment } from '../environment.ts'
import { fileName, handleOf, keepHandle } from '../file-handoff.ts'
import { loadRequests, onRequest } from '../history/requests.ts'
import { rememberedUploads } from '../remembered-uploads.ts'
import { api, apiOrigin, handleAuthError, onSignIn, onSignOut, sessionToken } from '../sessions.ts'
import { refresh } from '../users.ts'
import type { DepositCategory, QueuedDeposit } from './deposit-entry.ts'
import { createDepositQueue } from './deposit-queue.ts'
import { httpUpload } from './http-upload.ts'
import { createTusClient } from './tus-client.ts'

export type { DepositCategory, QueuedDeposit }

const uploads = createTusClient({ http: httpUpload, token: sessionToken })

const queue = createDepositQueue({
  hash: hashFile,
  reduce: reducePicture,
  reserve: (input, idempotencyKey) => renewable(api('createDeposit', input, { idempotencyKey })),
  look: id => renewable(api('getRequest', { id })),
  send: (address, bytes, options) =>
    handlingAuthErrors(uploads.send(urlOf(address), bytes, options)),
  held: address => handlingAuthErrors(uploads.held(urlOf(address))),
  release: address => handlingAuthErrors(uploads.release(urlOf(address))),
  remember(upload) {
    const whose = person()
    if (typeof whose === 'string') void rememberedUploads.save(upload, whose)
  },
  forget: id => void rememberedUploads.forget(id),
  handleOf,
  nameOf: fileName,
  reopen: reopenFile,
  now: () => environment().now(),
  random: () => environment().random(),
  after: (ms, run) => environment().after(ms, run)
})

/** The queue lives as long as the document, so it goes on while the person visits other pages. */
export const $deposits = queue.$deposits
export const $depositSummary = queue.$summary
export const { pause, resume, cancel, retry, choose, reopen, depositAgain, choosePicture } = queue
export const { pauseAll, resumeAll, cancelAll, retryAll, chooseAllPictures, dismiss } = queue

/** Whose files these are; they wait for the same person when the session ends. */
let owner: unknown
let listening = false

/** Puts files in the queue; answers how many found no place in it. */
export function addFiles(files: readonly File[], category: DepositCategory): number {
  listen()
  owner = person()
  return queue.addFiles(files, category)
}

let restoredFor: unknown

/** Takes up what this person's browser had not finished when its page went; once a person. */
export async function restoreDeposits(): Promise<void> {
  const whose = person()
  if (typeof whose !== 'string' || restoredFor === whose) return
  restoredFor = whose
  const remembered = await rememberedUploads.claim(whose)
  if (remembered.length === 0 || person() !== whose) return
  listen()
  owner = whose
  await queue.restore(remembered)
}

/** Puts an upload that was begun anywhere on the list, where its file is asked for. */
export async function resumeUpload(requestId: string): Promise<void> {
  const whose = person()
  if (typeof whose !== 'string') return
  await restoreDeposits()
  if (queue.idOf(requestId) !== undefined) return
  const { upload, category, media_type, ...open } = await api('getOpenUpload', { id: requestId })
  listen()
  owner = whose
  const from = { id: requestId, request_id: requestId, address: upload, key: crypto.randomUUID() }
  await queue.restore([
    {
      ...open,
      ...from,
      person: whose,
      owner: '',
      again: false,
      type: media_type,
      // the service has taken the file in this category
      category: { id: category, store: 'file', media_types: null }
    }
  ])
}

async function reopenFile(handle: FileSystemFileHandle, ask: boolean): Promise<File | undefined> {
  try {
    // as: members that the browsers which give handles have, and the library of types has not
    const asking = handle as FileSystemFileHandle & Permissible
    const verb = ask ? 'requestPermission' : 'queryPermission'
    if ((await asking[verb]({ mode: 'read' })) !== 'granted') return undefined
    const file = await handle.getFile()
    keepHandle(file, handle)
    return file
  } catch {
    return undefined // moved, deleted or refused: it can still be chosen
  }
}

interface Permissible {
  queryPermission: (options: { mode: 'read' }) => Promise<PermissionState>
  requestPermission: (options: { mode: 'read' }) => Promise<PermissionState>
}

/** Once, at the first file: until then there is nothing to hear about. */
function listen(): void {
  loadRequests()
  if (listening) return
  listening = true
  onRequest(queue.hear)
  onSignOut(departure => {
    if (departure === 'signed-out') {
      queue.clear()
      restoredFor = undefined
    } else queue.suspend()
  })
  onSignIn(() => {
    if (person() !== owner) queue.clear()
    else queue.endSuspension()
    loadRequests()
  })
  // what is left of the limits is shown at once, not with the next beat
  queue.$summary.subscribe(({ active, done }, before) => {
    if (active === 0 && done > 0 && before?.active) void refresh()
  })
  addEventListener('online', queue.networkIsBack)
  addEventListener('beforeunload', event => {
    const { active, paused, choosing } = queue.sum()
    if (active + paused + choosing > 0) event.preventDefault()
  })
}

/** Uploads do not pass through `api()`, yet what every call may answer holds for them too. */
async function handlingAuthErrors<Result>(sent: Promise<Result>): Promise<Result> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof AppError) handleAuthError(error, sessionToken())
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
