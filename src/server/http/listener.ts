import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { AppError } from '../../contract/kit/errors.ts'
import { commonApiHeaders } from '../../core/http-headers/csp.ts'
import type { Owner } from '../../site/owners.ts'
import type { Site } from '../../site/site.ts'
import { isLogPath } from '../../site/well-known.ts'
import type { Api, CallPlace } from '../api/kit/context.ts'
import { createRefusalNote } from '../api/kit/log-throttle.ts'
import { errorForCaller, sendProblem } from '../api/kit/responses.ts'
import type { TenantCache } from '../domain/companies/served-hosts.ts'
import type { CompanyId, Log } from '../domain/deps.ts'
import type { EventStream } from '../domain/events/event-streams.ts'
import { isDirectUpload } from '../uploads/direct-put.ts'
import { isRegisterUpload } from '../uploads/register-put.ts'
import type { UploadHandler } from '../uploads/upload-routes.ts'
import { addParseErrorHandler } from './client-errors.ts'
import type { Gate } from './gate.ts'
import { type ClientAddressReader, hasUnambiguousPath, hostOf, sendHostError } from './hosts.ts'
import type { LogPages } from './log-pages.ts'
import { createRequestQueue } from './pipelining.ts'
import type { SiteOwners } from './site-owners.ts'

// an average of `bytesPerSecond` in each period of `windowMs` milliseconds
interface MinimumSpeed {
  windowMs: number
  bytesPerSecond: number
}

const slowest: MinimumSpeed = { windowMs: 30_000, bytesPerSecond: 1024 }

export interface HttpServerOptions {
  /** Undefined in a process of the API alone. */
  pages?: {
    site: Pick<Site, 'answer'>
    resolve: (host: string) => Promise<Pick<Owner, 'company_id'> | undefined>
  }
  /** Undefined in a process of the site alone. */
  api?: {
    tenants: Pick<TenantCache, 'resolve'>
    app: Api
    uploads: UploadHandler
    owners: SiteOwners
  }
  logs: LogPages
  addressOf: ClientAddressReader
  gate: Gate
  log: Log
  slowest?: MinimumSpeed
  /** For receiving the headers of a request; 10 seconds by default. */
  headMs?: number
  headers?: Record<string, string>
}

export function createHttpServer(options: HttpServerOptions): Server {
  const { pages, api, logs, addressOf, gate, log, headMs = 10_000 } = options
  const { headers = commonApiHeaders } = options
  const noteRefusal = createRefusalNote(log)
  const places = new WeakMap<IncomingMessage, Promise<CallPlace>>()
  const serveCall =
    api &&
    getRequestListener(
      async (request, { incoming, outgoing }) => {
        const message = incoming as IncomingMessage // as: the server speaks HTTP/1.1 only
        let stream: EventStream | undefined
        let taken: { answer: Response; text: string } | undefined
        const answer = await api.app.fetch(request, {
          remoteAddress: addressOf(message),
          peer: message.socket.remoteAddress,
          host: hostOf(message),
          place: places.get(message),
          hasWholeBody: () => message.complete,
          takeStream(given) {
            stream = given
          },
          takeText(answer, text) {
            taken = { answer, text }
          }
        })
        const response = outgoing as ServerResponse // as: likewise
        // a response to HEAD and an error response do not contain this text
        if (taken?.answer === answer) {
          write(taken.text, response, answer)
          return RESPONSE_ALREADY_SENT
        }
        if (!stream) return answer
        if (!answer.ok) {
          stream.close()
          return answer
        }
        writeStream(stream, response, answer)
        return RESPONSE_ALREADY_SENT
      },
      { overrideGlobalObjects: false }
    )

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (api?.owners.isAsked(request)) return api.owners.answer(request, response)
    const host = hostOf(request)
    if (!host) return sendHostError(response, 400, headers)
    // `api.acme.fr` is the API of `acme.fr` if that exists, else a page host
    const owner = host.startsWith('api.') ? await api?.tenants.resolve(host.slice(4)) : undefined
    if (!api || !serveCall || !owner) {
      if (isLogPath(request.url ?? '')) return logs.answer(request, response, host)
      // if that fails, the site shows a page that says so
      const pageOwner = await pages?.resolve(host).catch(() => 'unknown' as const)
      if (!pages || !pageOwner) return sendHostError(response, 421, headers)
      if (pageOwner !== 'unknown') await gate.takeTurn(pageOwner.company_id, response)
      return sendPage(pages.site, request, response, host)
    }
    const isPreflight = request.method === 'OPTIONS'
    const isUpload =
      !isPreflight &&
      (/^\/uploads(\/|\?|$)/.test(request.url ?? '') ||
        isDirectUpload(request) ||
        isRegisterUpload(request))
    const place = enter(request, response, owner.company_id, !isPreflight && !isUpload)
    // whoever serves the request also answers the refusal of a place
    const entered = await place.catch(() => undefined)
    try {
      if (!hasUnambiguousPath(request.url ?? '')) {
        return await sendProblem(response, new AppError('not_found', 'No such path'), '', headers)
      }
      if (isUpload) {
        const caller = { tenant: owner, address: addressOf(request), place }
        return await api.uploads.handle(request, response, caller)
      }
      places.set(request, place)
      await serveCall(request, response)
    } finally {
      entered?.end()
    }
  }

  function enter(
    request: IncomingMessage,
    client: ServerResponse,
    company: CompanyId,
    isCounted: boolean
  ): Promise<CallPlace> {
    const isStranger = request.headers.authorization === undefined
    const address = isStranger ? addressOf(request) : undefined
    return gate.enter({ company, address, client, isCounted })
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    enforceMinimumSpeed(request, options.slowest)
    answer(request, response).catch(async (error: unknown) => {
      if (error instanceof AppError && response.destroyed) return // its client has gone
      if (!noteRefusal(error)) log.error({ host: hostOf(request), err: error }, 'request failed')
      if (response.headersSent) response.destroy()
      else if (hostOf(request)?.startsWith('api.')) {
        await sendProblem(response, errorForCaller(error), '', headers)
      } else sendHostError(response, 503, headers)
    })
  }

  const queue = createRequestQueue()

  const server = createServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: headMs,
      connectionsCheckingInterval: headMs,
      // no limit, because one call may send 5 GB; `enforceMinimumSpeed` checks the speed instead
      requestTimeout: 0,
      keepAliveTimeout: 75_000
    },
    (request, response) => queue.enqueue(request, response, () => serve(request, response))
  )
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    queue.enqueue(request, response, () => {
      // these ask the client for the body later, when they have an upload slot
      if (!isDirectUpload(request) && !isRegisterUpload(request)) response.writeContinue()
      serve(request, response)
    })
  })
  addParseErrorHandler(server, headers)
  return server
}

/** `host` must be normalized. */
export async function sendPage(
  site: Pick<Site, 'answer'>,
  { method = '', url = '', headers }: IncomingMessage,
  response: ServerResponse,
  host: string
): Promise<void> {
  const answer = await site.answer({ method, target: url, headers }, host)
  response.writeHead(answer.status, answer.headers).end(answer.body)
}

function write(text: string, response: ServerResponse, { status, headers }: Response): void {
  const length = { 'content-length': Buffer.byteLength(text) }
  response.writeHead(status, { ...Object.fromEntries(headers), ...length }).end(text)
}

// thousands of streams are open at the same time, so each must use little memory
function writeStream(
  stream: EventStream,
  response: ServerResponse,
  { status, headers }: Response
): void {
  response.writeHead(status, Object.fromEntries(headers))
  response.on('close', () => stream.close())
  response.on('drain', () => stream.resume())
  if (response.destroyed) stream.close()
  stream.start({ write: text => response.write(text), end: () => response.end() })
}

// slow clients could occupy all connections, whose number is limited
function enforceMinimumSpeed(
  request: IncomingMessage,
  { windowMs, bytesPerSecond }: MinimumSpeed = slowest
): void {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
  if ((length === undefined || length === '0') && chunked === undefined) return
  const least = (bytesPerSecond * windowMs) / 1000
  let before = request.socket.bytesRead
  const timer = setInterval(() => {
    const { bytesRead } = request.socket
    if (request.complete) return clearInterval(timer)
    // bytes that were received and not yet read show that the server is slow, not the client
    const isOurs = request.readableLength > 0
    if (!isOurs && bytesRead - before < least) request.socket.destroy()
    before = bytesRead
  }, windowMs)
  timer.unref()
  request.once('close', () => clearInterval(timer))
}
