import { maxBytesPerBatchFile } from '../../contract/kit/limits.ts'
import type { OwnAccount } from '../../contract/users.ts'
import { hashFile } from '../../workers/hash-client.ts'
import { reducePicture } from '../../workers/image-client.ts'
import { browserEnvironment } from '../environment.ts'
import { fileHandleOf, filePathOf, rememberFileHandle } from '../file-handoff.ts'
import { addRequestListener, loadRequests, sealedIfReached } from '../history/requests.ts'
import {
  addSessionEndListener,
  addSessionStartListener,
  api,
  apiOrigin,
  handleAuthError,
  sessionToken,
  signedInUserId,
  userLockOrChannelName
} from '../sessions.ts'
import { $user, refreshUser } from '../signed-in-user.ts'
import { allowRetry, sendUploadRequest, type UploadSession } from '../uploads/http-upload.ts'
import { createRememberedUploads } from '../uploads/remembered-uploads.ts'
import { createTusClient } from '../uploads/tus-client.ts'
import { createBatchClient } from './batch-client.ts'
import { createDepositQueue } from './deposit-queue.ts'
import type { DepositCategory, QueuedDeposit } from './deposit-states.ts'

export type { DepositCategory, QueuedDeposit }

const memory = createRememberedUploads()
// `api()` knows JSON alone
const session: UploadSession = {
  http: request => sendUploadRequest({ ...request, uri: new URL(request.uri, apiOrigin()).href }),
  token: sessionToken,
  onProblem: handleAuthError
}
const tus = createTusClient(session)

const queue = createDepositQueue({
  hash: hashFile,
  reduce: reducePicture,
  reserve: (input, idempotencyKey) =>
    api('createDeposit', input, { idempotencyKey }).catch(throwRetryable),
  getRequest: id => api('getRequest', { id }).catch(throwRetryable),
  sealedIfReached,
  send: tus.send,
  getOffset: tus.getOffset,
  cancelUpload: tus.cancel,
  maxBatchedBytes: maxBytesPerBatchFile,
  sendBatch: createBatchClient(session),
  remember(upload) {
    const person = signedInUserId()
    if (person !== undefined) void memory.save(upload, person)
  },
  forget: id => void memory.forget(id),
  handleOf: fileHandleOf,
  nameOf: filePathOf,
  openHandle,
  lockFile,
  now: () => browserEnvironment().now(),
  random: () => browserEnvironment().random(),
  after: (ms, run) => browserEnvironment().after(ms, run)
})

// lasts until the tab is closed or reloaded, also while the person visits other pages
export const {
  $deposits: $queuedDeposits,
  $summary: $depositQueueSummary,
  pause: pauseDeposit,
  resume: resumeDeposit,
  cancel: cancelDeposit,
  retry: retryDeposit,
  chooseFile,
  reopenFile,
  depositAgain,
  choosePicture,
  pauseAll,
  resumeAll,
  cancelAll,
  retryAll,
  choosePictureVersionForAll,
  removeEnded
} = queue

let isStarted = false

/**
 * A file with the name and size of a deposit that has lost its file in a reload continues it, even
 * if the queue is full. Returns how many were taken.
 */
export function addFiles(files: readonly File[], category: DepositCategory): number {
  start()
  return queue.addFiles(files, category)
}

export async function restoreUnfinishedUploads(): Promise<void> {
  const person = signedInUserId()
  if (person === undefined) return
  const uploads = await memory.claim(person)
  if (uploads.length === 0 || signedInUserId() !== person) return
  start()
  await queue.restore(uploads)
}

/** Even one that was begun on another device. The queue then asks for the file. */
export async function addUnfinishedUpload(requestId: string): Promise<void> {
  const person = signedInUserId()
  if (person === undefined) return
  await restoreUnfinishedUploads()
  if (queue.hasRequest(requestId)) return
  const { upload, category, media_type, ...open } = await api('getUnfinishedUpload', {
    id: requestId
  })
  start()
  await queue.restore([
    {
      ...open,
      id: requestId,
      request_id: requestId,
      address: upload,
      key: crypto.randomUUID(),
      person,
      owner: '',
      again: false,
      type: media_type,
      // the server has already accepted the file in this category
      category: { id: category, store: 'file', media_types: null }
    }
  ])
}

export async function cancelUpload(requestId: string): Promise<void> {
  const { upload } = await api('getUnfinishedUpload', { id: requestId })
  await tus.cancel(upload)
}

interface PermissionMethods {
  queryPermission: (options: { mode: 'read' }) => Promise<PermissionState>
  requestPermission: (options: { mode: 'read' }) => Promise<PermissionState>
}

async function openHandle(handle: FileSystemFileHandle, ask: boolean): Promise<File | undefined> {
  try {
    // as: TypeScript's library lacks what every browser with such handles has
    const methods = handle as FileSystemFileHandle & PermissionMethods
    const method = ask ? 'requestPermission' : 'queryPermission'
    if ((await methods[method]({ mode: 'read' })) !== 'granted') return undefined
    const file = await handle.getFile()
    rememberFileHandle(file, handle)
    return file
  } catch {
    return undefined // moved, deleted or not permitted: the person can still choose the file
  }
}

function lockFile(original: string, signal: AbortSignal): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const unlock = browserEnvironment().requestLock(userLockOrChannelName(`file:${original}`), {
      steal: false,
      onHeld: () => resolve(unlock)
    })
    const stop = () => {
      unlock()
      reject(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
  })
}

function start(): void {
  loadRequests()
  if (isStarted) return
  isStarted = true
  addRequestListener(queue.updateRequest)
  // when the session merely expires, the deposits wait until the person signs in again
  addSessionEndListener(end => {
    if (end === 'signed-out') queue.clear()
    else queue.suspend()
  })
  addSessionStartListener(() => {
    queue.endSuspension()
    loadRequests()
  })
  // updates the person's remaining limits at once, without waiting for the periodic refresh
  queue.$summary.subscribe(({ active, done, paused }, before) => {
    if (active === 0 && done + paused > 0 && before?.active) void refreshUser()
  })
  // the limit was raised, or a new period has begun
  $user.subscribe((user, before) => {
    if (user && before && hasMoreLeft(user.usage_remaining, before.usage_remaining)) {
      queue.resumeLimited()
    }
  })
  addEventListener('online', queue.retryNow)
  addEventListener('beforeunload', event => {
    const { active, paused, choosing } = queue.updateSummary()
    if (active + paused + choosing > 0) event.preventDefault()
  })
}

type Remaining = OwnAccount['usage_remaining']

function hasMoreLeft(now: Remaining, before: Remaining): boolean {
  const grew = (left: number | null, former: number | null) =>
    former !== null && (left === null || left > former)
  return grew(now.requests, before.requests) || grew(now.storage, before.storage)
}

function throwRetryable(error: unknown): never {
  throw allowRetry(error, sessionToken())
}
