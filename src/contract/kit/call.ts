import type * as z from 'zod/mini'
import { type Endpoint, hasJsonBody, pathParameters } from './endpoint.ts'
import { AppError, type FieldErrors } from './errors.ts'
import { fieldErrors } from './field-errors.ts'
import { errorFromProblem } from './problems.ts'

export interface CallOptions {
  base: string
  token?: string | undefined
  // pass the same key to retry an action; random when absent
  idempotencyKey?: string | undefined
  // sent as `If-Match`
  version?: number | undefined
  // sent as the header `Company`; when absent, the caller's company
  company?: string | undefined
  signal?: AbortSignal | undefined
  fetch?: typeof fetch | undefined
}

/**
 * Calls an endpoint of the API. Throws the reason of `options.signal` if it is aborted, else an
 * `AppError`: `invalid_input` before sending, `offline`, `unexpected_answer`, or the code that the
 * server returns.
 */
export async function call<Input extends z.ZodMiniType, Output extends z.ZodMiniType>(
  endpoint: Endpoint<Input, Output>,
  input: z.input<Input>,
  options: CallOptions
): Promise<z.output<Output>> {
  const fields = inputErrors(endpoint, input)
  if (Object.keys(fields).length > 0) {
    throw new AppError('invalid_input', `Refused before sending: ${JSON.stringify(fields)}`, {
      fields
    })
  }
  const response = await send(request(endpoint, input, options), options)
  if (!response.ok) {
    const error = await errorFromResponse(response)
    options.signal?.throwIfAborted()
    throw error
  }
  const body = response.status === 204 ? undefined : await readJson(response, endpoint, options)
  const output = endpoint.output.safeParse(body)
  if (output.success) return output.data
  throw new AppError('unexpected_answer', `${endpoint.path} answered another shape`, {
    cause: output.error
  })
}

/** Returns the broken rule of at most 20 fields. */
export function inputErrors(
  { input: schema }: Pick<Endpoint, 'input'>,
  input: unknown
): FieldErrors {
  const checked = schema.safeParse(input)
  return checked.success ? {} : fieldErrors(checked.error)
}

export async function errorFromResponse(response: Response): Promise<AppError> {
  const body: unknown = await response.json().catch(() => undefined)
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return errorFromProblem(response.status, body, Number.isNaN(retryAfter) ? undefined : retryAfter)
}

function request(endpoint: Endpoint, input: unknown, options: CallOptions): Request {
  const rest: Record<string, unknown> = { ...(input as Record<string, unknown>) } // as: parsed above
  let path = endpoint.path
  for (const name of pathParameters(path)) {
    path = path.replace(`{${name}}`, encodeURIComponent(String(rest[name])))
    delete rest[name]
  }
  const url = new URL(path, options.base)
  const headers = new Headers({ accept: 'application/json' })
  if (options.token) headers.set('authorization', `Bearer ${options.token}`)
  if (endpoint.idempotency) {
    headers.set('idempotency-key', options.idempotencyKey ?? crypto.randomUUID())
  }
  if (options.company !== undefined) headers.set('company', options.company)
  if (options.version !== undefined) headers.set('if-match', `"${options.version}"`)
  const init: RequestInit = { method: endpoint.method, headers, signal: options.signal ?? null }
  if (hasJsonBody(endpoint)) {
    headers.set('content-type', 'application/json')
    return new Request(url, { ...init, body: JSON.stringify(rest) })
  }
  for (const [name, value] of Object.entries(rest)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return new Request(url, init)
}

async function send(request: Request, options: CallOptions): Promise<Response> {
  try {
    return await (options.fetch ?? fetch)(request)
  } catch (cause) {
    options.signal?.throwIfAborted()
    throw new AppError('offline', `${new URL(request.url).host} could not be reached`, { cause })
  }
}

async function readJson(
  response: Response,
  { path }: Endpoint,
  { signal }: CallOptions
): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    signal?.throwIfAborted()
    // for example the page of a Wi-Fi network that asks people to sign in
    const isOtherFormat = cause instanceof SyntaxError
    throw isOtherFormat
      ? new AppError('unexpected_answer', `${path} answered no JSON`, { cause })
      : new AppError('offline', `The connection ended within the answer to ${path}`, { cause })
  }
}
