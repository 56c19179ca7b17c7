import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { putDeposit } from '../../contract/deposits.ts'
import { AppError, type ErrorCode, errorCodes } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import {
  admitCaller,
  bearerToken,
  parseIdempotencyKey,
  parseInput,
  parseQueryFields
} from '../api/kit/admission.ts'
import type { CallPlace } from '../api/kit/context.ts'
import {
  abandonDirectUpload,
  beginDirectUpload,
  createFingerprintOnlyDeposit,
  type DirectUploadFile,
  type DirectUploadPlan,
  requireSameBytesAsFirstCall,
  waitForFinalState
} from '../domain/deposits/direct-uploads.ts'
import { completeUpload, recordUploadActivity, type Upload } from '../domain/deposits/uploads.ts'
import type { Deps, Tenant } from '../domain/deps.ts'
import { apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import { readBody, writeBody } from './body-writer.ts'
import type { TakeUploadSlot } from './concurrent-uploads.ts'
import { closeWhenCallerIsRefused } from './connection-end.ts'

// a client counts as disconnected when nothing was recorded for a minute
const touchMs = 10_000
// an attempt may fail, for example because the database is busy; a job ends the upload later
const abandonAfterSeconds = [0, 1, 3, 10]
// after that the response is 202
const patienceMs = 240_000

export function isDirectUpload({ method, url }: IncomingMessage): boolean {
  return method === 'PUT' && /^\/deposit(\?|$)/.test(url ?? '')
}

interface DirectCall {
  request: IncomingMessage
  response: ServerResponse
  tenant: Tenant
  address: string
  place: CallPlace
}

/**
 * Reads the body from Node's request and not through Hono, so that the file is never in memory as a
 * whole and a disconnection is noticed immediately.
 */
export async function serveDirectUpload(
  deps: Deps,
  takeSlot: TakeUploadSlot,
  call: DirectCall
): Promise<void> {
  const { response } = call
  const file = await readFile(deps, call)
  const { begun, sha256 } = await takeFile(deps, takeSlot, call, file)
  if (begun.kind === 'new') return answer(deps, call, file, begun.upload.request_id, sha256)
  if (begun.kind === 'repeated') {
    response.setHeader('idempotent-replayed', 'true')
    return answer(deps, call, file, begun.request_id, sha256, true)
  }
  const { request: made, replayed } = await createFingerprintOnlyDeposit(deps, file, sha256)
  if (replayed) response.setHeader('idempotent-replayed', 'true')
  reply(response, 201, made, sha256)
}

async function readFile(
  deps: Deps,
  { request: { headers, url = '' }, response, tenant, address }: DirectCall
): Promise<DirectUploadFile> {
  const token = bearerToken(headers.authorization)
  const person = await admitCaller(deps, tenant, putDeposit, token, { address })
  closeWhenCallerIsRefused(deps, tenant, person, response)
  const { searchParams } = new URL(url, 'http://localhost')
  const input = parseInput(putDeposit, parseQueryFields(searchParams))
  if (headers['content-encoding'] !== undefined) {
    throw new AppError('unsupported_media_type', 'The body must be the plain bytes of the file')
  }
  const length = headers['content-length']
  if (length === undefined) {
    throw new AppError('length_required', 'Content-Length must say how many bytes will come')
  }
  const { name, category, media_type = headers['content-type'] } = input
  return {
    company_id: tenant.company_id,
    user_id: person.id,
    actor: apiKeyOrPersonIdOf(person),
    key: parseIdempotencyKey(headers['idempotency-key']?.toString()),
    name,
    category,
    media_type: mediaTypeOfFile(name, media_type),
    size: Number(length)
  }
}

// The bytes are not written if the category stores no files, or if an earlier call has sent the
// file.
async function takeFile(
  deps: Deps,
  takeSlot: TakeUploadSlot,
  call: DirectCall,
  file: DirectUploadFile
): Promise<{ begun: DirectUploadPlan; sha256: Buffer }> {
  const freeSlot = takeSlot({ ...file, id: randomUUID() })
  try {
    const begun = await beginDirectUpload(deps, file)
    if (begun.kind === 'new') {
      return { begun, sha256: await receive(deps, call, file, begun.upload) }
    }
    askForBody(call)
    const hash = createHash('sha256')
    await call.place.outside(async () => {
      for await (const chunk of readBody(call.request)) hash.update(chunk)
    })
    return { begun, sha256: hash.digest() }
  } finally {
    freeSlot()
  }
}

async function receive(
  deps: Deps,
  call: DirectCall,
  file: DirectUploadFile,
  upload: Upload
): Promise<Buffer> {
  const path = deps.blobs.stagingFile(upload)
  const touching = setInterval(() => {
    recordUploadActivity(deps, upload).catch((error: unknown) => {
      deps.log.warn(
        { company: upload.company_id, upload: upload.id, err: error },
        'the progress of an upload was not recorded'
      )
    })
  }, touchMs)
  try {
    await deps.blobs.prepareStaging(upload.company_id)
    askForBody(call)
    const hash = createHash('sha256')
    const { size } = upload
    const onBytes = (bytes: Buffer) => void hash.update(bytes)
    const end = await call.place.outside(() =>
      writeBody(call.request, { path, offset: 0, size, onBytes })
    )
    if (end !== size) throw new Error('the body has another length than it said')
    const sha256 = hash.digest()
    await completeUpload(deps, upload, sha256)
    return sha256
  } catch (error) {
    // an `AppError` means that the connection broke, the body was wrong or no place came free
    await abandon(deps, call, file, upload, error instanceof AppError ? 'cancelled' : 'failed')
    throw error
  } finally {
    clearInterval(touching)
  }
}

async function abandon(
  deps: Deps,
  { place }: DirectCall,
  file: DirectUploadFile,
  upload: Upload,
  state: 'cancelled' | 'failed'
): Promise<void> {
  for (const seconds of abandonAfterSeconds) {
    await sleep(seconds * 1000)
    try {
      return await abandonDirectUpload(deps, file, upload, state)
    } catch (error) {
      deps.log.warn(
        { company: upload.company_id, upload: upload.id, err: error },
        'a broken upload was not ended'
      )
      place.end() // the pauses are long
    }
  }
}

function askForBody({ request, response }: DirectCall): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
}

async function answer(
  deps: Deps,
  { response, place }: DirectCall,
  file: DirectUploadFile,
  id: string,
  sha256: Buffer,
  isRepeated = false
): Promise<void> {
  const { company_id, user_id } = file
  const request = await waitForFinalState(
    deps,
    { company_id, user_id, id },
    {
      patienceMs,
      outside: wait => place.outside(wait)
    }
  )
  if (request.state === 'failed') throw failureOf(request)
  if (isRepeated) await requireSameBytesAsFirstCall(deps, file, request, sha256)
  reply(response, request.state === 'done' ? 201 : 202, request, sha256)
}

function reply(
  response: ServerResponse,
  status: number,
  request: ProcessedRequest,
  sha256: Buffer
): void {
  const body = putDeposit.message.parse({ ...request, sha256: sha256.toString('hex') })
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function failureOf({ code }: ProcessedRequest): AppError {
  const known = code !== undefined && code in errorCodes ? (code as ErrorCode) : 'internal' // as: just checked
  return new AppError(known, 'The deposit failed')
}
