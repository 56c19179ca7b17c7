import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Api } from './api/context.ts'
import { apiHeaders, expectedError, problemResponse } from './app.ts'
import { isDirectUpload } from './direct-uploads.ts'
import type { Log } from './domain/deps.ts'
import type { Tenants } from './domain/domains.ts'
import { type AddressReader, hostOf, refuseHost } from './hosts.ts'
import type { Site } from './site.ts'
import { cutSlowBody, type Pace } from './slow-bodies.ts'
import type { Uploads } from './uploads.ts'

export interface Halves {
  tenants: Tenants
  site: Pick<Site, 'handle'>
  app: Api
  uploads: Uploads
  addressOf: AddressReader
  log: Log
  /** Connections held at a time; more are closed unheard. */
  maxConnections?: number
  /** The slowest body that is waited for. */
  slowest?: Pace
}

/** One HTTP server for all hosts: pages of `<host>`, the API of `api.<host>`, uploads beside it. */
export function createListener(halves: Halves): Server {
  const { tenants, site, app, uploads, addressOf, log } = halves
  const api = getRequestListener(
    (request, { incoming }) => {
      const message = incoming as IncomingMessage // as: the server speaks HTTP/1.1 only
      return app.fetch(request, { remoteAddress: addressOf(message), host: hostOf(message) })
    },
    { overrideGlobalObjects: false }
  )

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = hostOf(request)
    if (!host) return refuseHost(response, 400)
    // `api.acme.fr` is the API of `acme.fr`, if there is one, before it is a page host of its own
    const owner = host.startsWith('api.') ? await tenants.resolve(host.slice(4)) : undefined
    if (!owner) {
      const page = await tenants.resolve(host)
      return page ? site.handle(request, response, host) : refuseHost(response, 421)
    }
    const isUpload = /^\/uploads(\/|\?|$)/.test(request.url ?? '') || isDirectUpload(request)
    if (isUpload && request.method !== 'OPTIONS') return uploads.handle(request, response, owner)
    await api(request, response)
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    cutSlowBody(request, halves.slowest)
    answer(request, response).catch(async (error: unknown) => {
      log.error({ err: error }, 'request failed')
      if (response.headersSent) response.destroy()
      else if (hostOf(request)?.startsWith('api.')) await refuseCall(response, error)
      else refuseHost(response, 503)
    })
  }

  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: 10_000,
      requestTimeout: 300_000,
      keepAliveTimeout: 75_000
    },
    serve
  )
  // `PUT /deposit` asks for the bytes once it has a place for them
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!isDirectUpload(request)) response.writeContinue()
    serve(request, response)
  })
  if (halves.maxConnections !== undefined) server.maxConnections = halves.maxConnections
  return server
}

/** What fails before it is known whose API is called still answers with a code. */
async function refuseCall(response: ServerResponse, error: unknown): Promise<void> {
  const problem = problemResponse(expectedError(error), '')
  const headers = { ...apiHeaders, ...Object.fromEntries(problem.headers), connection: 'close' }
  const body = await problem.text()
  response.writeHead(problem.status, headers).end(body)
}
