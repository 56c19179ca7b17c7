import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as z from 'zod/mini'
import { putDeposit } from '../contract/deposits.ts'
import { AppError, type ErrorCode, errorCodes, fieldErrors } from '../contract/errors.ts'
import type { ProcessedRequest } from '../contract/requests.ts'
import { bearer } from './api/on.ts'
import type { Deps, Tenant } from './domain/deps.ts'
import {
  abandonDirectUpload,
  awaitRequest,
  beginDirectUpload,
  compareRepeated,
  type DirectFile,
  depositFingerprint,
  finishDirectUpload
} from './domain/direct-uploads.ts'
import { authenticate } from './domain/sessions.ts'
import { touchUpload, type Upload } from './domain/uploads.ts'

/** Well within the time after which a silent upload counts as dead. */
const touchMs = 10_000
/** A busy database says no; what is never abandoned lapses, as after the death of its server. */
const abandonAfterSeconds = [0, 1, 3, 10]
/** How long a caller is kept waiting for the record before the answer is 202. */
const patienceMs = 240_000

/** Whether this is `PUT /deposit`, whose body is the file itself. */
export function isDirectUpload({ method, url }: IncomingMessage): boolean {
  return method === 'PUT' && /^\/deposit(\?|$)/.test(url ?? '')
}

/**
 * Takes a file in one call. It serves Node's own request: the body is never in memory as a whole, and a
 * caller that goes away is noticed at once.
 */
export async function serveDirectUpload(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
  tenant: Tenant
): Promise<void> {
  const file = await readFile(deps, request, tenant)
  const begun = await beginDirectUpload(deps, file)
  if (begun.kind === 'new') {
    await receive(deps, request, response, file, begun.upload)
    return answer(deps, response, file, begun.upload.request_id)
  }
  invite(request, response)
  const sha256 = await digestOf(request)
  if (begun.kind === 'repeated') {
    response.setHeader('idempotent-replayed', 'true')
    return answer(deps, response, file, begun.request_id, sha256)
  }
  const { request: made, replayed } = await depositFingerprint(deps, file, sha256)
  if (replayed) response.setHeader('idempotent-replayed', 'true')
  reply(response, 201, made)
}

async function readFile(deps: Deps, call: IncomingMessage, tenant: Tenant): Promise<DirectFile> {
  const token = bearer(call.headers.authorization)
  if (token === undefined) throw new AppError('unauthenticated', 'This call needs a bearer token')
  const person = await authenticate(deps, tenant, token)
  if (person.pending) {
    throw new AppError('forbidden', 'The session is pending: the e-mail is not confirmed')
  }
  const input = putDeposit.input.safeParse(queryOf(call))
  if (!input.success) throw refused(input.error)
  if (call.headers['content-encoding'] !== undefined) {
    throw new AppError('unsupported_media_type', 'The body must be the plain bytes of the file')
  }
  const length = call.headers['content-length']
  if (length === undefined) {
    throw new AppError('length_required', 'Content-Length must say how many bytes will come')
  }
  const { name, category, media_type = 'application/octet-stream' } = input.data
  return {
    company_id: tenant.company_id,
    user_id: person.id,
    key: keyOf(call),
    name,
    category,
    media_type,
    size: Number(length)
  }
}

function queryOf({ url }: IncomingMessage): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of new URLSearchParams((url ?? '').split('?')[1] ?? '')) {
    if (values.has(name)) throw invalid(name, `${name} stands twice in the query`)
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(String(key))) return key?.toString()
  throw invalid('idempotency-key', 'An Idempotency-Key has 1 to 255 printable characters')
}

/** Streams the body to its place; of one that breaks off nothing is left. */
async function receive(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
  file: DirectFile,
  upload: Upload
): Promise<void> {
  const path = deps.blobs.stagingFile(upload.company_id, upload.id)
  const touching = setInterval(() => {
    touchUpload(deps, upload).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'upload not touched')
    })
  }, touchMs)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    invite(request, response)
    const hash = createHash('sha256')
    let bytes = 0
    await pipeline(
      request,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk)
          bytes += chunk.length
          yield chunk
        }
      },
      createWriteStream(path, { mode: 0o600 })
    )
    if (bytes !== upload.size) throw new Error('the body has another length than it said')
    await finishDirectUpload(deps, upload, hash.digest())
  } catch (cause) {
    await abandon(deps, file, upload)
    throw request.complete ? cause : brokenOff(cause)
  } finally {
    clearInterval(touching)
  }
}

async function abandon(deps: Deps, file: DirectFile, upload: Upload): Promise<void> {
  for (const seconds of abandonAfterSeconds) {
    await sleep(seconds * 1000)
    try {
      return await abandonDirectUpload(deps, file, upload)
    } catch (error) {
      // the last bytes had come after all
      if (error instanceof AppError && error.code === 'upload_state') return
      deps.log.warn({ err: error }, 'upload not abandoned')
    }
  }
}

async function digestOf(request: IncomingMessage): Promise<Buffer> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of request) hash.update(chunk)
  } catch (cause) {
    throw brokenOff(cause)
  }
  return hash.digest()
}

/** A caller that waits to be asked (`Expect: 100-continue`) has been refused before it sent a byte. */
function invite(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
}

async function answer(
  deps: Deps,
  response: ServerResponse,
  file: DirectFile,
  id: string,
  sha256?: Buffer
): Promise<void> {
  const { company_id, user_id } = file
  const request = await awaitRequest(deps, { company_id, user_id, id }, patienceMs)
  if (request.state === 'failed') throw failureOf(request)
  if (sha256) await compareRepeated(deps, file, request, sha256)
  reply(response, request.state === 'done' ? 201 : 202, request)
}

function reply(response: ServerResponse, status: number, request: ProcessedRequest): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(putDeposit.message.parse(request)))
}

function failureOf({ code }: ProcessedRequest): AppError {
  const known = code !== undefined && code in errorCodes ? (code as ErrorCode) : 'internal' // as: just checked
  return new AppError(known, 'The deposit failed')
}

function refused(error: z.core.$ZodError): AppError {
  const fields = fieldErrors(error)
  return new AppError('invalid_input', `Refused: ${JSON.stringify(fields)}`, { fields })
}

function invalid(field: string, detail: string): AppError {
  return new AppError('invalid_input', detail, { fields: { [field]: { rule: 'format' } } })
}

/** Nobody is left to read it; the code only keeps a caller's connection from counting as our failure. */
function brokenOff(cause: unknown): AppError {
  return new AppError('invalid_input', 'The body broke off', {
    fields: { '(body)': { rule: 'format' } },
    cause
  })
}
