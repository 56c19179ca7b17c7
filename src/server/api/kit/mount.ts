import type * as z from 'zod/mini'
import { getHealth } from '../../../contract/health.ts'
import {
  type CompanyAdministrationFields,
  type Endpoint,
  hasJsonBody,
  type NonJsonEndpoint
} from '../../../contract/kit/endpoint.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { attachmentHeader } from '../../../core/http-headers/content-disposition.ts'
import { etagVersions, includesEtag } from '../../../core/http-headers/etags.ts'
import { consumeFloodLimit } from '../../domain/limits/rate-limits.ts'
import type { Page } from '../../domain/lists.ts'
import { authenticateDownloadLink } from '../../domain/sessions/download-links.ts'
import { checkAndSetAdministeredCompany } from './administered-company.ts'
import {
  type AccessRules,
  admitCaller,
  bearerToken,
  parseIdempotencyKey,
  parseInput,
  parseQueryFields,
  permissionsNeededFor,
  refuseSuspendedCompany,
  requirePasswordConfirmation
} from './admission.ts'
import type { Api, ApiContext } from './context.ts'
import { interruptedRequestError, invalidFieldError } from './refused-fields.ts'
import { doWhileAllowed, streamWhileAllowed } from './while-allowed.ts'

/** For endpoints that set no limit of their own. */
export const defaultMaxBodyBytes = 256 * 1024
const maxDepth = 32
// enough for a thousand items of a few fields each
const maxValues = 10_000
// beyond this delay of the event loop, calls without a token are refused
const maxLagMs = 200

/** Parsing the output removes fields that the contract does not name. */
export function mountEndpoint<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  app: Api,
  endpoint: Endpoint<Input, Output>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<z.input<Output>>
): void {
  app.on(endpoint.method, honoPath(endpoint.path), async c => {
    await admit(c, endpoint)
    const input = parseInput(endpoint, withPath(await payload(c, endpoint), c.req.param()))
    if (endpoint.versioned) c.set('expectedVersion', versionsOf(c.req.header('if-match')))
    const output = endpoint.output.parse(await run(input, c))
    if (endpoint.versioned && isUnchanged(c, endpoint, output)) return c.body(null, 304)
    return endpoint.status === 204
      ? c.body(null, 204)
      : json(c, output, c.get('status') ?? endpoint.status)
  })
}

// The listener writes the text to the connection. A body in the `Response` would become a stream,
// which costs more than all the rest of the response.
function json(c: ApiContext, output: unknown, status: 200 | 201 | 202): Response {
  const { takeText } = c.env ?? {}
  if (!takeText) return c.json(output, status)
  const answer = c.body(null, status, { 'content-type': 'application/json' })
  takeText(answer, JSON.stringify(output))
  return answer
}

/** The header `Link` of the response has the URL of the next page (RFC 8288). */
export function mountList<Input extends z.ZodMiniType, Item extends z.ZodMiniType>(
  app: Api,
  endpoint: Endpoint<Input, z.ZodMiniArray<Item>>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<Page<z.input<Item>>>
): void {
  mountEndpoint(app, endpoint, async (input, c) => {
    const { items, next } = await run(input, c)
    if (next !== undefined) {
      const url = new URL(c.req.url)
      url.searchParams.set('cursor', next)
      c.header('link', `<${url.pathname}${url.search}>; rel="next"`)
    }
    return items
  })
}

/** `replayed` is true if the body is that of an earlier call with the same key. */
export function mountIdempotent<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  app: Api,
  endpoint: Endpoint<Input, Output>,
  run: (
    input: z.output<Input>,
    c: ApiContext,
    idempotencyKey: string | undefined
  ) => Promise<{ body: z.input<Output>; replayed: boolean }>
): void {
  mountEndpoint(app, endpoint, async (input, c) => {
    const key = parseIdempotencyKey(c.req.header('idempotency-key'))
    const { body, replayed } = await run(input, c, key)
    if (replayed) c.header('idempotent-replayed', 'true')
    return body
  })
}

// undefined for any version: `*`, or no header
function versionsOf(ifMatch: string | undefined): number[] | undefined {
  const versions = ifMatch === undefined ? undefined : etagVersions(ifMatch)
  if (versions !== 'malformed') return versions
  throw invalidFieldError('if-match', { rule: 'format', detail: 'a version in quotes' })
}

function isUnchanged(
  c: ApiContext,
  { method, status, versioned }: Endpoint,
  output: unknown
): boolean {
  if (status === 204) return false
  const tag = `"${Object(output).version}"`
  c.header('etag', tag)
  return (
    method === 'GET' && versioned === 'content' && includesEtag(c.req.header('if-none-match'), tag)
  )
}

/** For a `run` that returns the whole HTTP response, such as a download or an event stream. */
export function mountNonJsonEndpoint<Input extends z.ZodMiniType>(
  app: Api,
  endpoint: NonJsonEndpoint<Input>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<Response>
): void {
  app.on(endpoint.method, honoPath(endpoint.path), async c => {
    // Hono answers HEAD with the GET route and discards the body unread, so nothing would close its
    // source
    if (c.req.method !== endpoint.method && !endpoint.head) {
      throw new AppError('method_not_allowed', 'Use GET')
    }
    await admit(c, endpoint)
    return run(parseInput(endpoint, { ...query(c), ...c.req.param() }), c)
  })
}

async function admit(
  c: ApiContext,
  route: AccessRules & CompanyAdministrationFields & Pick<NonJsonEndpoint, 'method' | 'linked'>
): Promise<void> {
  c.set('route', route.path)
  c.set('neededPermissions', [])
  const tenant = c.get('tenant')
  const token = bearerToken(c.req.header('authorization'))
  // calls without a token are refused first, so that signed-in people are the last to notice an
  // overload
  if (token === undefined && c.get('lagMs')() > maxLagMs && route.path !== getHealth.path) {
    throw new AppError('unavailable', 'The service has more to do than it can', { retryAfter: 2 })
  }
  const link = route.linked && token === undefined ? c.req.query('link') : undefined
  if (link !== undefined) {
    refuseSuspendedCompany(tenant, route)
    const id = c.req.param('id') ?? ''
    // a browser that follows a download link keeps showing its page if the response is an error
    c.header('content-disposition', attachmentHeader('error.json'))
    c.set('person', await authenticateDownloadLink(c.get('deps'), { tenant, id, link }))
  } else if (token === undefined && route.access === 'public') {
    refuseSuspendedCompany(tenant, route)
    // counted before the body is read; calls from within the process render pages and are never
    // refused
    if (c.env?.remoteAddress !== undefined && route.method !== 'GET') {
      await consumeFloodLimit(c.get('deps'), 'public_address', [
        'public',
        { address: c.get('address') }
      ])
    }
  } else {
    const person = await admitCaller(c.get('deps'), tenant, route, token, {
      address: c.get('address'),
      place: c.get('place')
    })
    c.set('person', person)
    c.set('neededPermissions', permissionsNeededFor(route, person))
    await checkAndSetAdministeredCompany(c, route, person)
    requirePasswordConfirmation(person, route)
  }
}

function withPath(
  given: Record<string, unknown>,
  path: Record<string, string>
): Record<string, unknown> {
  const twice = Object.keys(path).find(name => Object.hasOwn(given, name))
  if (twice === undefined) return { ...given, ...path }
  throw invalidFieldError(twice, { rule: 'unknown', detail: 'in the path alone' })
}

async function payload(c: ApiContext, endpoint: Endpoint): Promise<Record<string, unknown>> {
  if (!hasJsonBody(endpoint)) return query(c)
  if (/\?./.test(c.req.url)) {
    throw invalidFieldError('(query)', {
      rule: 'unknown',
      detail: 'no query: this call takes its input from the body'
    })
  }
  return jsonBody(c, endpoint)
}

function query(c: ApiContext): Record<string, string> {
  return parseQueryFields(new URL(c.req.url).searchParams)
}

async function jsonBody(
  c: ApiContext,
  { maxBytes, otherBody }: Endpoint
): Promise<Record<string, unknown>> {
  if (hasNoBody(c)) return {}
  const body = await readJsonBody(c, ['application/json'], { maxBytes, advice: otherBody })
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw notJson('a JSON object')
  }
  return { ...body }
}

function hasNoBody({ req, env }: ApiContext): boolean {
  const length = req.header('content-length')
  if (length !== undefined) return length === '0'
  // a call that came through no connection has no such headers
  return env?.hasWholeBody === undefined
    ? req.raw.body === null
    : req.header('transfer-encoding') === undefined
}

export async function readJsonBody(
  c: ApiContext,
  types: string[],
  {
    maxBytes = defaultMaxBodyBytes,
    advice
  }: { maxBytes?: number | undefined; advice?: string | undefined } = {}
): Promise<unknown> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!types.includes(type) || c.req.header('content-encoding')) {
    const rule = `The body must be plain ${types[0]}`
    throw new AppError('unsupported_media_type', advice ? `${rule}. ${advice}` : rule)
  }
  const place = c.env?.hasWholeBody?.() ? undefined : c.get('place')
  const read = () => limitedBytes(c, maxBytes)
  return parseJson(await (place?.outside(read) ?? read()))
}

export function parseJson(bytes: Uint8Array): unknown {
  const text = textOf(bytes)
  if (isTooLarge(text)) {
    throw notJson(`at most ${maxValues} values in at most ${maxDepth} levels`)
  }
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson('well-formed JSON', cause)
  }
}

function textOf(bytes: Uint8Array): string {
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
    // a connection delivers no more bytes than its Content-Length declares
    const isBound = declared !== undefined && c.req.header('transfer-encoding') === undefined
    if (isBound && c.env?.remoteAddress !== undefined) {
      return new Uint8Array(await doWhileAllowed(c, raw.arrayBuffer()))
    }
    const chunks: Uint8Array[] = []
    for await (const chunk of readBodyChunks(c, maxBytes)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (cause) {
    throw cause instanceof AppError ? cause : interruptedRequestError(cause)
  }
}

export async function* readBodyChunks(
  c: ApiContext,
  maxBytes: number
): AsyncGenerator<Uint8Array, void> {
  if (Number(c.req.header('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  let bytes = 0
  try {
    const { body } = c.req.raw
    for await (const chunk of body ? streamWhileAllowed(c, body) : []) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      await c.get('place')?.takeTurn()
      yield chunk
    }
  } catch (cause) {
    throw cause instanceof AppError ? cause : interruptedRequestError(cause)
  }
}

// Must run before the text is parsed: a million nested brackets would exhaust the stack, and
// validating a hundred thousand items takes far longer than parsing them.
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
  return invalidFieldError('(body)', { rule: 'json', detail: wanted }, cause)
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `The body is over ${maxBytes} bytes`)
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
