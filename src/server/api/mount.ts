import type * as z from 'zod/mini'
import { type Endpoint, type Stream, takesBody } from '../../contract/endpoint.ts'
import { AppError } from '../../contract/errors.ts'
import { getHealth } from '../../contract/health.ts'
import { attachment } from '../../core/http/content-disposition.ts'
import { consume } from '../domain/rate-limits.ts'
import { resolveDownloadLink } from '../domain/sessions/download-links.ts'
import {
  type Admission,
  admitPerson,
  bearerToken,
  parseInput,
  queryFields,
  refuseSuspended
} from './admission.ts'
import type { Api, ApiContext } from './context.ts'
import { refusedField } from './refused-fields.ts'

const usualBodyBytes = 256 * 1024
const maxDepth = 32
/** The most values in a body. A thousand items with a few fields each have some thousands. */
const maxValues = 10_000
/** Calls without a token are refused while the event loop is later than this. */
const maxLagMs = 200

/**
 * Mounts an endpoint. Checks access, parses the input, runs `run`, parses the output and replies. Parsing
 * the output drops surplus columns.
 */
export function mountEndpoint<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  app: Api,
  endpoint: Endpoint<Input, Output>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<z.input<Output>>
): void {
  app.on(endpoint.method, honoPath(endpoint.path), async c => {
    await admit(c, endpoint)
    const input = parseInput(endpoint, withPath(await payload(c, endpoint), c.req.param()))
    const output = endpoint.output.parse(await run(input, c))
    return endpoint.status === 204
      ? c.body(null, 204)
      : json(c, output, c.get('status') ?? endpoint.status)
  })
}

/**
 * Returns a JSON response. Where the connection can take the text itself, the `Response` has no body: it
 * would turn the text into a stream, which costs more than the rest of an answer.
 */
function json(c: ApiContext, output: unknown, status: 200 | 201 | 202): Response {
  const { takeText } = c.env ?? {}
  if (!takeText) return c.json(output, status)
  const answer = c.body(null, status, { 'content-type': 'application/json' })
  takeText(answer, JSON.stringify(output))
  return answer
}

/** Mounts a route that writes its own answer. Checks access and parses the input as `mountEndpoint` does. */
export function mountStream<Input extends z.ZodMiniType>(
  app: Api,
  stream: Stream<Input>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<Response>
): void {
  app.on(stream.method, honoPath(stream.path), async c => {
    // Hono runs GET for HEAD and drops the body unread, so nothing would end its source
    if (c.req.method !== stream.method && !stream.head) {
      throw new AppError('method_not_allowed', 'Use GET')
    }
    await admit(c, stream)
    return run(parseInput(stream, { ...query(c), ...c.req.param() }), c)
  })
}

/** Sets the header `Link` to the next page of a list (RFC 8288). */
export function linkNext(c: ApiContext, cursor: string): void {
  const url = new URL(c.req.url)
  url.searchParams.set('cursor', cursor)
  c.header('link', `<${url.pathname}${url.search}>; rel="next"`)
}

async function admit(
  c: ApiContext,
  route: Admission & Pick<Stream, 'method' | 'path' | 'linked'>
): Promise<void> {
  c.set('route', route.path)
  const tenant = c.get('tenant')
  const token = bearerToken(c.req.header('authorization'))
  // strangers are refused first, so that signed-in people notice an overload last
  if (token === undefined && c.get('lagMs')() > maxLagMs && route.path !== getHealth.path) {
    throw new AppError('unavailable', 'The service has more to do than it can', { retryAfter: 2 })
  }
  const link = route.linked && token === undefined ? c.req.query('link') : undefined
  if (link !== undefined) {
    refuseSuspended(tenant, route)
    const id = c.req.param('id') ?? ''
    // a browser that follows a link must not leave its page for an error text
    c.header('content-disposition', attachment('error.json'))
    c.set('person', await resolveDownloadLink(c.get('deps'), { tenant, id, link }))
  } else if (token === undefined && route.access === 'public') {
    refuseSuspended(tenant, route)
    // before the body is read; calls within the process render pages and are never refused
    if (c.env?.remoteAddress !== undefined && route.method !== 'GET') {
      await consume(c.get('deps'), 'public_address', ['public', { address: c.get('address') }])
    }
  } else {
    c.set('person', await admitPerson(c.get('deps'), tenant, route, token, c.get('inFlight')))
  }
}

/** Returns the input. A field of the path must not occur in the query or body again. */
function withPath(
  given: Record<string, unknown>,
  path: Record<string, string>
): Record<string, unknown> {
  const twice = Object.keys(path).find(name => Object.hasOwn(given, name))
  if (twice === undefined) return { ...given, ...path }
  throw refusedField(twice, { rule: 'unknown', detail: 'in the path alone' })
}

async function payload(c: ApiContext, endpoint: Endpoint): Promise<Record<string, unknown>> {
  if (!takesBody(endpoint)) return query(c)
  if (/\?./.test(c.req.url)) {
    throw refusedField('(query)', {
      rule: 'unknown',
      detail: 'no query: this call takes its input from the body'
    })
  }
  return jsonBody(c, endpoint.maxBytes)
}

function query(c: ApiContext): Record<string, string> {
  return queryFields(new URL(c.req.url).searchParams)
}

async function jsonBody(c: ApiContext, maxBytes?: number): Promise<Record<string, unknown>> {
  const body = await jsonOf(c, ['application/json'], maxBytes)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw notJson('a JSON object')
  }
  return { ...body }
}

/** Parses the JSON of a body with one of these media types. */
export async function jsonOf(
  c: ApiContext,
  types: string[],
  maxBytes = usualBodyBytes
): Promise<unknown> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!types.includes(type) || c.req.header('content-encoding')) {
    throw new AppError('unsupported_media_type', `The body must be plain ${types[0]}`)
  }
  const text = await limitedText(c, maxBytes)
  if (isTooLarge(text)) {
    throw notJson(`at most ${maxValues} values in at most ${maxDepth} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson('well-formed JSON', cause)
  }
}

async function limitedText(c: ApiContext, maxBytes: number): Promise<string> {
  const bytes = await limitedBytes(c, maxBytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw notJson('text in UTF-8', cause)
  }
}

async function limitedBytes(c: ApiContext, maxBytes: number): Promise<Uint8Array> {
  const { raw } = c.req
  const declared = c.req.header('content-length')
  if (Number(declared ?? 0) > maxBytes) throw tooLarge(maxBytes)
  try {
    // a connection sends no more bytes than it has declared
    const isBound = declared !== undefined && c.req.header('transfer-encoding') === undefined
    if (isBound && c.env?.remoteAddress !== undefined) {
      return new Uint8Array(await raw.arrayBuffer())
    }
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of raw.body ?? []) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  } catch (cause) {
    // the caller has disconnected, which is not a failure of the server
    throw cause instanceof AppError ? cause : notJson('a whole body, and this one broke off', cause)
  }
}

/**
 * Scans a text before it is parsed. A million brackets would exhaust the stack, and a hundred thousand
 * items or keys take a schema far longer than the parser.
 */
function isTooLarge(text: string): boolean {
  let depth = 0
  let values = 1
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '[' || char === '{') {
      if (++depth > maxDepth || ++values > maxValues) return true
    } else if (char === ']' || char === '}') depth--
    else if (char === ',' && ++values > maxValues) return true
  }
  return false
}

function notJson(wanted: string, cause?: unknown): AppError {
  return refusedField('(body)', { rule: 'json', detail: wanted }, cause)
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `The body is over ${maxBytes} bytes`)
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
