import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { putDeposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import { parseIdempotencyKey, parseInput, parseQueryFields } from '../api/kit/admission.ts'
import {
  abandonDirectUpload,
  beginDirectUpload,
  createFingerprintOnlyDeposit,
  type DirectUploadFile,
  getRepeatedDirectUpload,
  recordDirectUpload
} from '../domain/deposits/direct-uploads.ts'
import { findKeptPlace } from '../domain/deposits/kept-files.ts'
import type { Upload } from '../domain/deposits/uploads.ts'
import type { Deps } from '../domain/deps.ts'
import { apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import {
  type BodyCall,
  keepAlive,
  readWholeBody,
  requirePlainBody,
  storeBody
} from './body-writer.ts'
import type { TakeUploadSlot } from './concurrent-uploads.ts'

// an attempt may fail, for example because the database is busy; a job ends the upload later
const abandonAfterSeconds = [0, 1, 3, 10, 30]

export function isDirectUpload({ method, url }: IncomingMessage): boolean {
  return method === 'PUT' && /^\/deposit(\?|$)/.test(url ?? '')
}

/** Answers when the file is recorded. */
export async function serveDirectUpload(
  deps: Deps,
  takeSlot: TakeUploadSlot,
  call: BodyCall
): Promise<void> {
  const { response } = call
  const file = describeFile(call)
  const freeSlot = takeSlot({ ...file, id: randomUUID() })
  try {
    const { entry, sha256, replayed } = await depositFile(deps, call, file)
    const body = putDeposit.message.parse({ ...entry, sha256: sha256.toString('hex') })
    if (body.receipt !== undefined) {
      response.setHeader('link', `<${body.receipt}>; rel="describedby"`)
    }
    if (replayed) response.setHeader('idempotent-replayed', 'true')
    response.writeHead(201, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  } finally {
    freeSlot()
  }
}

function describeFile({ request, company_id, person }: BodyCall): DirectUploadFile {
  const { headers, url = '' } = request
  const { searchParams } = new URL(url, 'http://localhost')
  const input = parseInput(putDeposit, parseQueryFields(searchParams))
  const size = requirePlainBody(request)
  const { name, category, media_type = headers['content-type'] } = input
  return {
    company_id,
    user_id: person.id,
    actor: apiKeyOrPersonIdOf(person),
    key: parseIdempotencyKey(headers['idempotency-key']?.toString()),
    name,
    category,
    media_type: mediaTypeOfFile(name, media_type),
    size
  }
}

interface Deposited {
  /** Of the history. */
  entry: ProcessedRequest
  sha256: Buffer
  replayed: boolean
}

async function depositFile(deps: Deps, call: BodyCall, file: DirectUploadFile): Promise<Deposited> {
  const begun = await beginDirectUpload(deps, file)
  if (begun.kind === 'new') return storeFile(deps, call, file, begun.upload)
  // the bytes are not needed, only their digest
  const hash = createHash('sha256')
  await readWholeBody(call, bytes => void hash.update(bytes))
  const sha256 = hash.digest()
  if (begun.kind === 'fingerprint') {
    const { request, replayed } = await createFingerprintOnlyDeposit(deps, file, sha256)
    return { entry: request, sha256, replayed }
  }
  const entry = await getRepeatedDirectUpload(deps, file, begun.request_id, sha256)
  return { entry, sha256, replayed: true }
}

async function storeFile(
  deps: Deps,
  call: BodyCall,
  file: DirectUploadFile,
  upload: Upload
): Promise<Deposited> {
  const { place } = call
  try {
    return await keepAlive(deps, upload, async () => {
      const { sha256, kept } = await place.outside(async () => {
        const hash = createHash('sha256')
        await storeBody(deps, call, upload, bytes => void hash.update(bytes))
        await deps.blobs.syncStaged(upload)
        const sha256 = hash.digest()
        return { sha256, kept: await findKeptPlace(deps, upload.company_id, sha256) }
      })
      const entry = await recordDirectUpload(deps, upload, sha256, kept)
      return { entry, sha256, replayed: false }
    })
  } catch (error) {
    // an `AppError` means that the connection broke, the body was wrong or no place came free
    await abandon(deps, call, file, upload, error instanceof AppError ? 'cancelled' : 'failed')
    throw error
  }
}

async function abandon(
  deps: Deps,
  { place }: BodyCall,
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
