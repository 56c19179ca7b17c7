import { AsyncLocalStorage } from 'node:async_hooks'
import { open, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { FileStore } from '@tus/file-store'
import { Server, Upload as TusUpload } from '@tus/server'
import { deleteUpload, headUpload, patchUpload, putDeposit } from '../contract/deposits.ts'
import { AppError } from '../contract/errors.ts'
import { admitPerson, bearer } from './api/admission.ts'
import { refusedField } from './api/refused-fields.ts'
import { apiHeadersFor, corsHeaders, expectedError, problemResponse } from './app.ts'
import { isDirectUpload, serveDirectUpload } from './direct-uploads.ts'
import type { CompanyId, Deps, Tenant } from './domain/deps.ts'
import { holdMoving } from './domain/moving-uploads.ts'
import {
  cancelUpload,
  getUpload,
  receiveUpload,
  requireOpen,
  touchUpload,
  type Upload
} from './domain/uploads.ts'

const routes = [headUpload, patchUpload, deleteUpload]
const tusVersion = '1.0.0'
const patchType = 'application/offset+octet-stream'

/** Of creations that we do not take; the library would give each its own meaning. */
const creationHeaders = ['upload-length', 'upload-defer-length', 'upload-metadata', 'upload-concat']

/** All the library gets to see: it also judges what proxies write, and what a method has no use for. */
const tusHeaders = ['host', 'tus-resumable']
const patchHeaders = [...tusHeaders, 'upload-offset', 'content-type', 'content-length']

export interface Uploads {
  handle(request: IncomingMessage, response: ServerResponse, tenant: Tenant): Promise<void>
}

/**
 * tus 1.0 at `/uploads/{id}`: `POST /deposit` creates an upload, this carries its bytes; and beside it
 * `PUT /deposit`. They serve Node's own request, because only that tells that a client has gone.
 */
export function createUploads(deps: Deps): Uploads {
  const current = new AsyncLocalStorage<InHand>()
  const tus = new Server({
    path: '/uploads',
    datastore: new StagingStore(deps, current),
    relativeLocation: true,
    getFileIdFromRequest() {
      const { company_id, id } = inHand(current).upload
      return `${company_id}/${id}`
    },
    allowedOrigins: () => false, // our own CORS headers are on every answer
    disableTerminationForFinishedUploads: false,
    async onUploadFinish() {
      await receiveUpload(deps, inHand(current).upload)
      return {}
    },
    onResponseError(_request, error) {
      throw fromTus(error) // told like every other failure, by refuse()
    }
  })

  async function serve(request: IncomingMessage, response: ServerResponse, tenant: Tenant) {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const route = routes.find(({ method }) => method === request.method)
    if (!route) {
      response.setHeader('allow', routes.map(({ method }) => method).join(', '))
      throw new AppError('method_not_allowed', 'POST /deposit creates uploads')
    }
    const token = bearer(request.headers.authorization)
    const person = await admitPerson(deps, tenant, route, token)
    const id = route.input.safeParse({ id: path.slice('/uploads/'.length) })
    if (!id.success) throw new AppError('not_found', 'No such upload')
    const upload = await getUpload(deps, {
      company_id: tenant.company_id,
      user_id: person.id,
      id: id.data.id
    })
    requireForm(request)
    requireOpen(upload)
    if (request.method === 'HEAD' && upload.state !== 'uploading') {
      response.writeHead(200, {
        'tus-resumable': tusVersion,
        'upload-offset': String(upload.size),
        'upload-length': String(upload.size)
      })
      response.end()
      return
    }
    if (request.method === 'PATCH' && upload.state !== 'uploading') {
      throw new AppError('upload_state', 'The upload is complete')
    }
    const { method } = route
    if (method === 'PATCH') {
      const leave = holdMoving(deps, upload)
      // not when the library is done: it may still wait for a connection that is lost
      if (response.closed) leave()
      else response.once('close', leave)
    }
    const seen = method === 'PATCH' ? patchHeaders : tusHeaders
    request.rawHeaders = only(seen, request.rawHeaders)
    try {
      await current.run({ upload, method }, () => tus.handle(request, response))
    } finally {
      // a connection that broke has brought bytes too
      if (method === 'PATCH') await touchUpload(deps, upload)
    }
  }

  return {
    async handle(request: IncomingMessage, response: ServerResponse, tenant: Tenant) {
      const cors = corsHeaders(deps, tenant.host, request.headers.origin)
      for (const [name, value] of Object.entries({ ...cors, ...apiHeadersFor(deps.settings) })) {
        response.setHeader(name, value)
      }
      const isDirect = isDirectUpload(request)
      const { path } = isDirect ? putDeposit : patchUpload
      const { method } = request
      const id = Buffer.from(deps.random(9)).toString('base64url')
      const started = performance.now()
      // also of a connection that breaks, whose answer nobody gets
      response.once('close', () => {
        const ms = Math.round(performance.now() - started)
        const { statusCode: status, writableFinished: whole } = response
        const facts = { request: id, method, route: path, status, whole, ms }
        deps.log.info({ ...facts, company: tenant.company_id }, 'upload')
      })
      try {
        if (isDirect) await serveDirectUpload(deps, request, response, tenant)
        else await serve(request, response, tenant)
      } catch (error) {
        const told = expectedError(error)
        if (told.status >= 500) deps.log.error({ request: id, err: error }, 'upload failed')
        if (!isDirect) response.setHeader('tus-resumable', tusVersion)
        await refuse(response, told, id)
      }
    }
  }
}

/** The protocol's own demands; the library's refusals are no problem documents. */
function requireForm({ method, headers }: IncomingMessage): void {
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
  return refusedField(name, { rule: 'format', detail: `as tus ${tusVersion} has it` })
}

/** `(['host'], ['Host', 'a', 'Accept', '*'])` → `['Host', 'a']` */
function only(names: string[], rawHeaders: string[]): string[] {
  return rawHeaders.filter((_each, index) =>
    names.includes((rawHeaders[index - (index % 2)] ?? '').toLowerCase())
  )
}

async function refuse(response: ServerResponse, error: AppError, id: string): Promise<void> {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const problem = problemResponse(error, id)
  // the rest of a body nobody reads would keep the connection busy
  response.setHeader('connection', 'close')
  response.writeHead(problem.status, Object.fromEntries(problem.headers))
  response.end(await problem.text())
}

function fromTus(error: unknown): AppError {
  if (error instanceof AppError) return error
  const status =
    typeof error === 'object' && error !== null && 'status_code' in error
      ? Number(error.status_code)
      : 500
  const detail =
    typeof error === 'object' && error !== null && 'body' in error
      ? String(error.body).trim()
      : 'The upload failed'
  if (status === 409) return new AppError('upload_offset', detail)
  if (status === 413) return new AppError('too_large', detail)
  if (status === 404 || status === 410) return new AppError('not_found', detail)
  if (status >= 400 && status < 500) return new AppError('invalid_input', detail)
  return expectedError(error)
}

/** What the request in hand is about: the library's callbacks know its id only. */
interface InHand {
  upload: Upload
  method: string
}

function inHand(current: AsyncLocalStorage<InHand>): InHand {
  const found = current.getStore()
  if (!found) throw new Error('tus ran outside of a request')
  return found
}

/** Files below the staging folder, sizes from the upload's row; the file is made by its first byte. */
class StagingStore extends FileStore {
  readonly #deps: Deps
  readonly #current: AsyncLocalStorage<InHand>

  constructor(deps: Deps, current: AsyncLocalStorage<InHand>) {
    super({
      directory: deps.blobs.stagingDirectory,
      configstore: { get: async () => undefined, set: async () => {}, delete: async () => {} }
    })
    this.#deps = deps
    this.#current = current
    this.extensions = ['termination']
  }

  /** Runs under the library's lock, so it reads again what a request before may have ended. */
  override async getUpload(id: string): Promise<TusUpload> {
    const { upload: before, method } = inHand(this.#current)
    const upload = await getUpload(this.#deps, before)
    requireOpen(upload)
    const { company_id, size } = upload
    if (upload.state !== 'uploading') {
      if (method === 'PATCH') throw new AppError('upload_state', 'The upload is complete')
      return new TusUpload({ id, size, offset: size })
    }
    const path = this.#deps.blobs.stagingFile(upload)
    if (method === 'PATCH') await this.#makeFile(company_id, path)
    const offset = await sizeOf(path)
    if (offset === undefined && method === 'HEAD') {
      // no byte has come, or the last one came just now and the file has moved on
      const { state } = await getUpload(this.#deps, upload)
      return new TusUpload({ id, size, offset: state === 'uploading' ? 0 : size })
    }
    // the last answer was lost: a full length is the same promise
    if (offset === size && method === 'HEAD') await receiveUpload(this.#deps, upload)
    return new TusUpload({ id, size, offset: offset ?? 0, storage: { type: 'file', path } })
  }

  override async remove(): Promise<void> {
    await cancelUpload(this.#deps, inHand(this.#current).upload)
  }

  async #makeFile(company: CompanyId, path: string): Promise<void> {
    await this.#deps.blobs.prepareStaging(company)
    const file = await open(path, 'a', 0o600)
    await file.close()
  }
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
