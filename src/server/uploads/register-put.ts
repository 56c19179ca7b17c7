import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../contract/kit/errors.ts'
import { registerLimits } from '../../contract/kit/limits.ts'
import { putRegisterImport } from '../../contract/register-imports.ts'
import { parseIdempotencyKey, parseInput, parseQueryFields } from '../api/kit/admission.ts'
import type { CallPlace } from '../api/kit/context.ts'
import {
  completeUpload,
  discardIncompleteUpload,
  getUpload,
  recordUploadActivity,
  type Upload
} from '../domain/deposits/uploads.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import {
  type BodyToImport,
  beginBodyImport,
  forgetBodyImport
} from '../domain/registers/body-imports.ts'
import { getRegisterImport } from '../domain/registers/register-imports.ts'
import { type AuthenticatedCaller, apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import { readBody, writeBody } from './body-writer.ts'
import type { TakeUploadSlot } from './concurrent-uploads.ts'

const route = /^\/data_source\/([^/?]*)\/import(?:\?|$)/
// a call without a byte for this long counts as broken off
const deadMs = 60_000
const touchMs = 10_000

export function isRegisterUpload({ method, url }: IncomingMessage): boolean {
  return method === 'PUT' && route.test(url ?? '')
}

interface RegisterCall {
  request: IncomingMessage
  response: ServerResponse
  company_id: CompanyId
  person: AuthenticatedCaller
  place: CallPlace
}

/** `curl -T list.csv`: the body is imported with the columns of the last import. */
export async function serveRegisterUpload(
  deps: Deps,
  takeSlot: TakeUploadSlot,
  call: RegisterCall
): Promise<void> {
  const { request, response } = call
  const body = readCall(call)
  const freeSlot = takeSlot({ ...whoOf(body), id: randomUUID() })
  try {
    const made = await begin(deps, body)
    askForBody(call)
    if (made.replayed) {
      response.setHeader('idempotent-replayed', 'true')
      await call.place.outside(async () => {
        for await (const _ of readBody(request, call.place));
      })
    } else await receive(deps, call, body, made)
    const found = await getRegisterImport(deps, { ...body, importId: made.id })
    response.writeHead(202, { 'content-type': 'application/json' })
    response.end(JSON.stringify(putRegisterImport.message.parse(found)))
  } finally {
    freeSlot()
  }
}

function readCall({
  request: { headers, url = '' },
  company_id,
  person: by
}: RegisterCall): BodyToImport {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const id = decodedId(pathname)
  const input = parseInput(putRegisterImport, { ...parseQueryFields(searchParams), id })
  if (headers['content-encoding'] !== undefined) {
    throw new AppError('unsupported_media_type', 'The body must be the plain bytes of the file')
  }
  const length = headers['content-length']
  if (length === undefined) {
    throw new AppError('length_required', 'Content-Length must say how many bytes will come')
  }
  const bytes = Number(length)
  if (bytes > registerLimits.bytes) {
    throw new AppError('import_too_large', `A file has at most ${registerLimits.bytes} bytes`)
  }
  if (bytes === 0) throw new AppError('file_empty', 'The body is empty')
  const key = parseIdempotencyKey(headers['idempotency-key']?.toString())
  if (key === undefined) {
    throw new AppError('idempotency_key_missing', 'This call needs an Idempotency-Key')
  }
  const { mode, run, skip_refused } = input
  return {
    ...{ company_id, by, id: input.id, mode, bytes, key, actor: apiKeyOrPersonIdOf(by) },
    file_name: `${mode}.csv`,
    run: run === 'true' ? { skip_refused: skip_refused === 'true' } : undefined
  }
}

function decodedId(pathname: string): string {
  const [, id = ''] = route.exec(pathname) ?? []
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

async function begin(deps: Deps, body: BodyToImport) {
  for (;;) {
    const made = await beginBodyImport(deps, body)
    if (!made.replayed) return made
    const upload = await getUpload(deps, { ...whoOf(body), id: made.upload_id })
    if (upload.state !== 'uploading') return made
    if (deps.clock().getTime() - upload.active_at.getTime() < deadMs) {
      throw new AppError('idempotency_in_flight', 'The same call is still running', {
        retryAfter: 5
      })
    }
    await abandon(deps, body, made, upload)
  }
}

async function receive(
  deps: Deps,
  call: RegisterCall,
  body: BodyToImport,
  made: { id: string; upload_id: string }
): Promise<void> {
  const upload = await getUpload(deps, { ...whoOf(body), id: made.upload_id })
  // so that a repeated call does not take it for broken off
  const touching = setInterval(() => {
    recordUploadActivity(deps, upload).catch((error: unknown) => {
      deps.log.warn(
        { company: upload.company_id, upload: upload.id, err: error },
        'the progress of an import was not recorded'
      )
    })
  }, touchMs)
  try {
    await deps.blobs.prepareStaging(upload.company_id)
    const path = deps.blobs.stagingFile(upload)
    const { size } = upload
    const end = await call.place.outside(() =>
      writeBody(call.request, { path, offset: 0, size, takeTurn: call.place.takeTurn })
    )
    if (end !== size) throw new Error('the body has another length than it said')
    await completeUpload(deps, upload)
  } catch (error) {
    // else the next call with this key does it, or the job that ends idle uploads
    await abandon(deps, body, made, upload).catch((failure: unknown) => {
      deps.log.warn(
        { company: upload.company_id, upload: upload.id, err: failure },
        'a broken import was not ended'
      )
    })
    throw error
  } finally {
    clearInterval(touching)
  }
}

function whoOf({ company_id, by }: BodyToImport) {
  return { company_id, user_id: by.id }
}

async function abandon(
  deps: Deps,
  body: BodyToImport,
  made: { id: string; upload_id: string },
  upload: Upload
): Promise<void> {
  await discardIncompleteUpload(deps, upload, 'cancelled', tx => forgetBodyImport(tx, body, made))
}

function askForBody({ request, response }: RegisterCall): void {
  if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
}
