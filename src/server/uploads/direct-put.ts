import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { putDeposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import { parseIdempotencyKey, parseInput, parseQueryFields } from '../api/kit/admission.ts'
import type { CallPlace } from '../api/kit/context.ts'
import {
  abandonDirectUpload,
  beginDirectUpload,
  createFingerprintOnlyDeposit,
  type DirectUploadFile,
  getRepeatedDirectUpload,
  recordDirectUpload
} from '../domain/deposits/direct-uploads.ts'
import { findKeptPlace } from '../domain/deposits/kept-files.ts'
import { recordUploadActivity, type Upload } from '../domain/deposits/uploads.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { type AuthenticatedCaller, apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import { readBody, writeBody } from './body-writer.ts'
import type { TakeUploadSlot } from './concurrent-uploads.ts'

// a client counts as disconnected when nothing was recorded for a minute
const touchMs = 10_000
// an attempt may fail, for example because the database is busy; a job ends the upload later
const abandonAfterSeconds = [0, 1, 3, 10, 30]

export function isDirectUpload({ method, url }: IncomingMessage): boolean {
  return method === 'PUT' && /^\/deposit(\?|$)/.test(url ?? '')
}

interface DirectCall {
  request: IncomingMessage
  response: ServerResponse
  company_id: CompanyId
  person: AuthenticatedCaller
  place: CallPlace
}

/** Answers when the file is recorded. */
export async function serveDirectUpload(
  deps: Deps,
  takeSlot: TakeUploadSlot,
  call: DirectCall
): Promise<void> {
  const { response } = call
  const file = readFile(call)
  const freeSlot = takeSlot({ ...file, id: randomUUID() })
  try {
    const { request, sha256, replayed } = await depositFile(deps, call, file)
    const body = putDeposit.message.parse({ ...request, sha256: sha256.toString('hex') })
    if (replayed) response.setHeader('idempotent-replayed', 'true')
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  } finally {
    freeSlot()
  }
}

function readFile({ request, company_id, person }: DirectCall): DirectUploadFile {
  const { headers, url = '' } = request
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
    company_id,
    user_id: person.id,
    actor: apiKeyOrPersonIdOf(person),
    key: parseIdempotencyKey(headers['idempotency-key']?.toString()),
    name,
    category,
    media_type: mediaTypeOfFile(name, media_type),
    size: Number(length)
  }
}

interface Deposited {
  request: ProcessedRequest
  sha256: Buffer
  replayed: boolean
}

async function depositFile(
  deps: Deps,
  call: DirectCall,
  file: DirectUploadFile
): Promise<Deposited> {
  const begun = await beginDirectUpload(deps, file)
  if (begun.kind === 'new') return receive(deps, call, file, begun.upload)
  // the bytes are not needed, only their digest
  const hash = createHash('sha256')
  askForBody(call)
  await call.place.outside(async () => {
    for await (const chunk of readBody(call.request, call.place)) hash.update(chunk)
  })
  const sha256 = hash.digest()
  if (begun.kind === 'fingerprint') {
    return { ...(await createFingerprintOnlyDeposit(deps, file, sha256)), sha256 }
  }
  const request = await getRepeatedDirectUpload(deps, file, begun.request_id, sha256)
  return { request, sha256, replayed: true }
}

async function receive(
  deps: Deps,
  call: DirectCall,
  file: DirectUploadFile,
  upload: Upload
): Promise<Deposited> {
  const { company_id, size } = upload
  const path = deps.blobs.stagingFile(upload)
  const touching = setInterval(() => {
    recordUploadActivity(deps, upload).catch((error: unknown) => {
      deps.log.warn(
        { company: company_id, upload: upload.id, err: error },
        'the progress of an upload was not recorded'
      )
    })
  }, touchMs)
  try {
    await deps.blobs.prepareStaging(company_id)
    askForBody(call)
    const hash = createHash('sha256')
    const onBytes = (bytes: Buffer) => void hash.update(bytes)
    const { takeTurn } = call.place
    const { sha256, kept } = await call.place.outside(async () => {
      const end = await writeBody(call.request, { path, offset: 0, size, takeTurn, onBytes })
      if (end !== size) throw new Error('the body has another length than it said')
      await deps.blobs.syncStaged(upload)
      const sha256 = hash.digest()
      return { sha256, kept: await findKeptPlace(deps, company_id, sha256) }
    })
    const request = await recordDirectUpload(deps, upload, sha256, kept)
    return { request, sha256, replayed: false }
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
