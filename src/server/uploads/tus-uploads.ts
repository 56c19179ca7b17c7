import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { deleteUpload, headUpload, patchUpload } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { requirePermission } from '../api/kit/admission.ts'
import type { CallPlace } from '../api/kit/context.ts'
import { interruptedRequestError, invalidFieldError } from '../api/kit/refused-fields.ts'
import {
  endWriteLease,
  renewWriteLease,
  takeWriteLease,
  type WriteLease,
  writeLeaseRenewalMs
} from '../domain/deposits/upload-leases.ts'
import {
  cancelUpload,
  completeUpload,
  getUpload,
  refuseCancelledOrLapsedUpload,
  requireIncompleteUpload,
  reserveUploadStorageAgain,
  type Upload,
  uploadBusyError
} from '../domain/deposits/uploads.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import type { AuthenticatedCaller } from '../domain/sessions/sessions.ts'
import { writeBody } from './body-writer.ts'
import type { TakeUploadSlot } from './concurrent-uploads.ts'
import { createUploadLocks, type UploadLock, wrongOffsetError } from './upload-locks.ts'

export const tusRoutes = [headUpload, patchUpload, deleteUpload]
export const tusVersion = '1.0.0'
const patchType = 'application/offset+octet-stream'

// refused, because only `POST /deposit` creates uploads
const creationHeaders = ['upload-length', 'upload-defer-length', 'upload-metadata', 'upload-concat']

// about 1.5 seconds in total
const handoverMs = [50, 100, 200, 400, 800]

// `lease` keeps other processes from writing to the upload, `lock` other calls of this process
interface Writing {
  lease: WriteLease
  lock: UploadLock
}

interface UploadCaller {
  gone: AbortSignal
  place: CallPlace
}

interface TusCall {
  request: IncomingMessage
  response: ServerResponse
  route: (typeof tusRoutes)[number]
  company_id: CompanyId
  person: AuthenticatedCaller
  place: CallPlace
}

/** One call at a time writes an upload: by a lock in this process, by a lease between processes. */
export function createTusServer(
  deps: Deps,
  takeSlot: TakeUploadSlot
): (call: TusCall) => Promise<void> {
  const writer = randomUUID()
  const locks = createUploadLocks()
  const writings = new Map<string, Writing>()

  deps.signals.writers.on(({ company, upload }) => {
    const key = `${company} ${upload}`
    const writing = writings.get(key)
    // the other process sees from the renewed lease that bytes still arrive here
    if (writing && locks.requestRelease(key)) void renew(key, writing)
  })

  async function renew(key: string, writing: Writing): Promise<void> {
    try {
      const isHeld = await renewWriteLease(deps, writing.lease, writing.lock.hasProgress())
      // another call may hold the lock by now, and that one must not be stopped
      if (!isHeld && writings.get(key) === writing) locks.stop(key, uploadBusyError())
    } catch (error) {
      // if the lease expires, another process takes over the upload, which is harmless
      const { company_id: company, id: upload } = writing.lease.upload
      deps.log.warn({ company, upload, err: error }, 'the lease to write an upload was not renewed')
    }
  }

  async function lease(upload: Upload, place: CallPlace): Promise<WriteLease> {
    const { company_id: company, id } = upload
    const first = await takeWriteLease(deps, upload, writer)
    if (!('heldUntil' in first)) return first
    deps.signals.writers.send({ company, upload: id })
    for (const ms of handoverMs) {
      await place.outside(() => sleep(ms))
      const next = await takeWriteLease(deps, upload, writer)
      if (!('heldUntil' in next)) return next
      if (next.heldUntil.getTime() !== first.heldUntil.getTime()) throw uploadBusyError()
    }
    // the other process has neither released nor renewed its lease, so it has died or hangs
    const last = await takeWriteLease(deps, upload, writer, first.heldUntil)
    if ('heldUntil' in last) throw uploadBusyError()
    return last
  }

  // `write` returns whether all bytes have arrived
  async function exclusively(
    upload: Upload,
    { place, ...options }: UploadCaller & { offset?: number },
    write: (upload: Upload, lock: UploadLock) => Promise<boolean>
  ): Promise<void> {
    const key = keyOf(upload)
    using acquired = new DisposableStack() // the call may get no place after it has the lock
    const lock = await place.outside(async () => acquired.use(await locks.acquire(key, options)))
    const held = await lease(upload, place)
    const writing = { lease: held, lock }
    writings.set(key, writing)
    const renewing = setInterval(() => {
      if (lock.isActive(writeLeaseRenewalMs)) void renew(key, writing)
    }, writeLeaseRenewalMs)
    let isReceived = false
    try {
      if (held.isTakenOver) await deps.blobs.takeOverStaged(held.upload)
      isReceived = await write(held.upload, lock)
    } finally {
      clearInterval(renewing)
      writings.delete(key)
      if (!isReceived) {
        await endWriteLease(deps, held, lock.hasProgress()).catch((error: unknown) => {
          const { company_id: company, id } = held.upload
          deps.log.warn(
            { company, upload: id, err: error },
            'the lease to write an upload was not released'
          )
        })
      }
    }
  }

  async function append(
    request: IncomingMessage,
    response: ServerResponse,
    upload: Upload,
    place: CallPlace
  ): Promise<number> {
    requireIncompleteUpload(upload)
    const freeSlot = takeSlot(upload)
    if (response.closed) freeSlot()
    else response.once('close', freeSlot)
    const offset = Number(request.headers['upload-offset'])
    const length = Number(request.headers['content-length'] ?? 0)
    let reached = offset
    const gone = closeSignal(response)
    await exclusively(upload, { offset, gone, place }, async (current, lock) => {
      const { company_id, size } = current
      await deps.blobs.prepareStaging(company_id)
      const held = (await deps.blobs.sizeStaged(current)) ?? 0
      if (held !== offset) throw wrongOffsetError(held)
      if (offset + length > size) {
        throw new AppError('too_large', `The upload was announced with ${size} bytes`)
      }
      if (current.released > 0) await reserveUploadStorageAgain(deps, current)
      lock.awaitBytes(offset)
      reached = await place.outside(() =>
        writeBody(request, {
          path: deps.blobs.stagingFile(current),
          offset,
          size,
          stopped: lock.stopped,
          takeTurn() {
            lock.finish()
            return place.takeTurn()
          },
          onWritten: written => lock.awaitBytes(written)
        })
      )
      lock.finish()
      if (reached < size) return false
      await completeUpload(deps, current)
      return true
    })
    return reached
  }

  // Only an upload that is marked as received becomes a deposit, and a client that gets the full
  // size sends nothing more.
  async function offsetOf(upload: Upload, from: UploadCaller): Promise<number> {
    if (upload.state !== 'uploading') return upload.size
    const held = await deps.blobs.sizeStaged(upload)
    if (held !== undefined && held < upload.size) return held
    if (held !== undefined) await receiveWhole(upload, from)
    // either no byte has arrived, or the upload has changed since it was read
    const current = await getUpload(deps, upload)
    refuseCancelledOrLapsedUpload(current)
    if (current.state === 'uploading' && current.generation === upload.generation) return held ?? 0
    return offsetOf(current, from)
  }

  // for a call that failed after the last bytes and before it could mark the upload
  async function receiveWhole(upload: Upload, from: UploadCaller): Promise<void> {
    try {
      await exclusively(upload, from, async current => {
        if ((await deps.blobs.sizeStaged(current)) !== current.size) return false
        await completeUpload(deps, current)
        return true
      })
    } catch (error) {
      // another call has marked it in the meantime
      if (error instanceof AppError && error.code === 'upload_state') return
      // a response to HEAD cannot carry the error code, and a client takes 409 for a cancelled
      // upload
      if (error instanceof AppError && error.code === 'upload_busy') {
        throw new AppError('unavailable', 'The upload is being received', { retryAfter: 1 })
      }
      throw error
    }
  }

  return async ({ request, response, route, company_id, person, place }) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const id = route.input.safeParse({ id: path.slice('/uploads/'.length) })
    if (!id.success) throw new AppError('not_found', 'No such upload')
    const upload = await getUpload(deps, { company_id, user_id: person.id, id: id.data.id })
    requireUploadScope(person, upload)
    requireTusHeaders(request)
    refuseCancelledOrLapsedUpload(upload)
    if (route === deleteUpload) {
      await cancelUpload(deps, upload)
      locks.stop(keyOf(upload), new AppError('cancelled', 'The upload has been cancelled'))
      return answer(response, 204)
    }
    // only the call of `PUT /deposit` itself writes the upload that it created
    if (upload.purpose === 'deposit' && upload.state === 'uploading' && !upload.stored) {
      throw new AppError('not_found', 'No such upload')
    }
    if (route === patchUpload) {
      const offset = await append(request, response, upload, place)
      return answer(response, 204, { 'upload-offset': offset })
    }
    const offset = await offsetOf(upload, { gone: closeSignal(response), place })
    answer(response, 200, { 'upload-offset': offset, 'upload-length': upload.size })
  }
}

function requireUploadScope(person: AuthenticatedCaller, { purpose }: Upload): void {
  if (purpose === 'register' && !person.key?.administers) requirePermission(person, 'admin')
  const scope = purpose === 'register' ? 'registers' : 'deposit'
  if (!person.key || person.key.scopes.includes(scope)) return
  throw new AppError('scope_missing', `The key needs the scope ${scope}`)
}

function requireTusHeaders({ method, headers }: IncomingMessage): void {
  if (headers['tus-resumable'] !== tusVersion) throw badHeader('tus-resumable')
  if (method !== 'PATCH') return
  if (headers['content-type'] !== patchType || headers['content-encoding'] !== undefined) {
    throw new AppError('unsupported_media_type', `The body must be plain ${patchType}`)
  }
  const offset = String(headers['upload-offset'])
  if (!/^(0|[1-9]\d{0,15})$/.test(offset)) throw badHeader('upload-offset')
  const unknown = creationHeaders.find(name => headers[name] !== undefined)
  if (unknown !== undefined) throw badHeader(unknown)
}

function badHeader(name: string): AppError {
  return invalidFieldError(name, { rule: 'format', detail: `as tus ${tusVersion} has it` })
}

function answer(
  response: ServerResponse,
  status: number,
  headers: Record<string, number> = {}
): void {
  response.writeHead(status, { 'tus-resumable': tusVersion, ...headers }).end()
}

function closeSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (response.closed) gone.abort(interruptedRequestError())
  else response.once('close', () => gone.abort(interruptedRequestError()))
  return gone.signal
}

function keyOf({ company_id, id }: Upload): string {
  return `${company_id} ${id}`
}
