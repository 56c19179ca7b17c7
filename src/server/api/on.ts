import type { Context } from 'hono'
import type * as z from 'zod/mini'
import { type Endpoint, type Stream, takesBody } from '../../contract/endpoint.ts'
import { AppError, fieldErrors } from '../../contract/errors.ts'
import { getHealth } from '../../contract/service.ts'
import { attachment } from '../../core/file-name.ts'
import { openLink } from '../domain/links.ts'
import { authenticate, type Person } from '../domain/sessions.ts'
import type { Api, ApiContext, ApiEnv } from './context.ts'

const usualBodyBytes = 256 * 1024
const maxDepth = 32
/** Of the event loop. */
const maxLagMs = 200

/** Mounts an endpoint: access, parse, run, parse, reply. The output is parsed so that no surplus column leaves. */
export function on<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  app: Api,
  endpoint: Endpoint<Input, Output>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<z.input<Output>>
): void {
  app.on(endpoint.method, honoPath(endpoint.path), async c => {
    await admit(c, endpoint)
    const input = endpoint.input.safeParse(withPath(await payload(c, endpoint), c.req.param()))
    if (!input.success) throw refused(input.error)
    const output = endpoint.output.parse(await run(input.data, c))
    return endpoint.status === 204
      ? c.body(null, 204)
      : c.json(output, c.get('status') ?? endpoint.status)
  })
}

/** Mounts a route that writes its own answer, after the same access check and parse. */
export function onStream<Input extends z.ZodMiniType>(
  app: Api,
  stream: Stream<Input>,
  run: (input: z.output<Input>, c: ApiContext) => Promise<Response>
): void {
  app.on(stream.method, honoPath(stream.path), async c => {
    // Hono answers HEAD with the body of GET and drops it unread: nobody would end what feeds it
    if (c.req.method !== stream.method && !stream.head) {
      throw new AppError('method_not_allowed', 'Use GET')
    }
    await admit(c, stream)
    const input = stream.input.safeParse({ ...query(c), ...c.req.param() })
    if (!input.success) throw refused(input.error)
    return run(input.data, c)
  })
}

type Admission = Pick<Endpoint, 'path' | 'access' | 'pending' | 'suspended'> &
  Pick<Stream, 'linked'>

async function admit(c: ApiContext, route: Admission): Promise<void> {
  const tenant = c.get('tenant')
  const token = bearer(c.req.header('authorization'))
  // strangers go first, so that people who are at work feel it last
  if (token === undefined && c.get('lagMs')() > maxLagMs && route.path !== getHealth.path) {
    throw new AppError('unavailable', 'The service has more to do than it can', { retryAfter: 2 })
  }
  const link = route.linked && token === undefined ? c.req.query('link') : undefined
  if (token === undefined && link === undefined && route.access !== 'public') {
    throw new AppError('unauthenticated', 'This call needs a bearer token')
  }
  if (tenant.disabled && !route.suspended) {
    throw new AppError('account_disabled', 'The company is suspended', {
      disabled: { scope: 'company', ...tenant.disabled }
    })
  }
  if (link !== undefined) {
    const id = c.req.param('id') ?? ''
    // a browser that follows a link must not leave its page for the words of a refusal
    c.header('content-disposition', attachment('error.json'))
    c.set('person', await openLink(c.get('deps'), { tenant, id, link }))
    return
  }
  if (token === undefined) return
  const person = await authenticate(c.get('deps'), tenant, token)
  if (person.pending && !route.pending) {
    throw new AppError('forbidden', 'The session is pending: the e-mail is not confirmed')
  }
  if (!allowed(person, route.access)) {
    throw new AppError('forbidden', `This call needs the permission ${route.access}`)
  }
  c.set('person', person)
}

/** Whether somebody may make calls of this kind. */
export function allowed(person: Person, access: Endpoint['access']): boolean {
  if (access === 'public' || access === 'user') return true
  return person.permissions.includes(access) || person.permissions.includes('operator')
}

/** `'Bearer x.y.z'` → `'x.y.z'`; a header of another make counts as a bad token. */
export function bearer(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header)
  return match?.[1] ?? ''
}

/** One source per field: what the path names may not be said again. */
function withPath(
  given: Record<string, unknown>,
  path: Record<string, string>
): Record<string, unknown> {
  const twice = Object.keys(path).find(name => Object.hasOwn(given, name))
  if (twice === undefined) return { ...given, ...path }
  throw new AppError('invalid_input', `${twice} stands in the path already`, {
    fields: { [twice]: { rule: 'unknown' } }
  })
}

async function payload(c: ApiContext, endpoint: Endpoint): Promise<Record<string, unknown>> {
  if (!takesBody(endpoint)) return query(c)
  if (new URL(c.req.url).search !== '') {
    throw new AppError('invalid_input', 'This call takes its input from the body', {
      fields: { '(query)': { rule: 'unknown' } }
    })
  }
  return jsonBody(c, endpoint.maxBytes)
}

function query(c: Context<ApiEnv>): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of new URL(c.req.url).searchParams) {
    if (values.has(name)) {
      throw new AppError('invalid_input', `${name} stands twice in the query`, {
        fields: { [name]: { rule: 'format' } }
      })
    }
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

async function jsonBody(c: ApiContext, maxBytes?: number): Promise<Record<string, unknown>> {
  const body = await jsonOf(c, ['application/json'], maxBytes)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw notJson('is not an object')
  }
  return { ...body }
}

/** The JSON of a body of one of these types. */
export async function jsonOf(
  c: ApiContext,
  types: string[],
  maxBytes = usualBodyBytes
): Promise<unknown> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!types.includes(type) || c.req.header('content-encoding')) {
    throw new AppError('unsupported_media_type', `The body must be plain ${types[0]}`)
  }
  const text = await limitedText(c.req.raw, maxBytes)
  if (tooDeep(text)) throw notJson('is nested too deeply')
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw notJson('is not JSON', cause)
  }
}

async function limitedText(request: Request, maxBytes: number): Promise<string> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (cause) {
    // nobody is left to read it, and the caller's connection is no failure of ours
    throw cause instanceof AppError ? cause : notJson('broke off', cause)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw notJson('is not UTF-8', cause)
  }
}

/** A linear scan, because `JSON.parse` of a million brackets costs a stack. */
function tooDeep(text: string): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '[' || char === '{') {
      if (++depth > maxDepth) return true
    } else if (char === ']' || char === '}') depth--
  }
  return false
}

function refused(error: z.core.$ZodError): AppError {
  const fields = fieldErrors(error)
  return new AppError('invalid_input', `Refused: ${JSON.stringify(fields)}`, { fields })
}

function notJson(what: string, cause?: unknown): AppError {
  const fields = { '(body)': { rule: 'json' } }
  return new AppError('invalid_input', `The body ${what}`, { fields, cause })
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('body_too_large', `The body is over ${maxBytes} bytes`)
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
