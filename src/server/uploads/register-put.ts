import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../contract/kit/errors.ts'
import { registerLimits } from '../../contract/kit/limits.ts'
import { putRegisterImport } from '../../contract/register-imports.ts'
import { parseIdempotencyKey, parseInput, parseQueryFields } from '../api/kit/admission.ts'
import {
  completeUpload,
  discardIncompleteUpload,
  getUpload,
  isArriving,
  type Upload
} from '../domain/deposits/uploads.ts'
import type { Deps } from '../domain/deps.ts'
import {
  type BodyToImport,
  beginBodyImport,
  forgetBodyImport
} from '../domain/registers/body-imports.ts'
import { getRegisterImport } from '../domain/registers/register-imports.ts'
import { apiKeyOrPersonIdOf } from '../domain/sessions/sessions.ts'
import {
  type BodyCall,
  keepAlive,
  readWholeBody,
  requirePlainBody,
  storeBody
} from './body-writer.ts'
import type { TakeUploadSlot } from './concurrent-uploads.ts'

const route = /^\/data_source\/([^/?]*)\/import(?:\?|$)/

export function isRegisterUpload({ method, url }: IncomingMessage): boolean {
  return method === 'PUT' && route.test(url ?? '')
}

/** `curl -T list.csv`: the body is imported with the columns of the last import. */
export async function serveRegisterUpload(
  deps: Deps,
  takeSlot: TakeUploadSlot,
  call: BodyCall
): Promise<void> {
  const { response } = call
  const body = describeImport(call)
  const freeSlot = takeSlot({ ...whoOf(body), id: randomUUID() })
  try {
    const made = await begin(deps, body)
    if (made.replayed) {
      response.setHeader('idempotent-replayed', 'true')
      await readWholeBody(call, () => undefined)
    } else await storeList(deps, call, body, made)
    const found = await getRegisterImport(deps, { ...body, importId: made.id })
    response.writeHead(202, { 'content-type': 'application/json' })
    response.end(JSON.stringify(putRegisterImport.message.parse(found)))
  } finally {
    freeSlot()
  }
}

function describeImport({ request, company_id, person: by }: BodyCall): BodyToImport {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const id = decodedId(pathname)
  const input = parseInput(putRegisterImport, { ...parseQueryFields(searchParams), id })
  const bytes = requirePlainBody(request)
  if (bytes > registerLimits.bytes) {
    throw new AppError('import_too_large', `A file has at most ${registerLimits.bytes} bytes`)
  }
  if (bytes === 0) throw new AppError('file_empty', 'The body is empty')
  const key = parseIdempotencyKey(request.headers['idempotency-key']?.toString())
  if (key === undefined) {
    throw new AppError('idempotency_key_missing', 'This call needs an Idempotency-Key')
  }
  const { mode, run, skip_refused } = input
  return {
    ...{ company_id, by, id: input.id, mode, bytes, key, actor: apiKeyOrPersonIdOf(by) },
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
    if (isArriving(deps, upload)) {
      throw new AppError('idempotency_in_flight', 'The same call is still running', {
        retryAfter: 5
      })
    }
    await abandon(deps, body, made, upload)
  }
}

async function storeList(
  deps: Deps,
  call: BodyCall,
  body: BodyToImport,
  made: { id: string; upload_id: string }
): Promise<void> {
  const upload = await getUpload(deps, { ...whoOf(body), id: made.upload_id })
  try {
    await keepAlive(deps, upload, () => call.place.outside(() => storeBody(deps, call, upload)))
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
