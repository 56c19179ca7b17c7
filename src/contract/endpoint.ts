import * as z from 'zod/mini'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Access = 'public' | 'user' | 'admin' | 'operator'

type Shape = z.ZodMiniType

/**
 * One call of the API. The server mounts it, browsers call it, and tests and documentation list it.
 */
export interface Endpoint<Input extends Shape = Shape, Output extends Shape = Shape> {
  kind: 'endpoint'
  method: Method
  /** The path with its parameters in braces: `/group/{groupId}/user`. */
  path: string
  access: Access
  /**
   * One flat object. Path parameters come from the path; the other fields from the query (GET,
   * DELETE) or the JSON body (POST, PUT, `body`).
   */
  input: Input
  output: Output
  /** HTTP status of success. It is 204 when `output` is `z.void()`. */
  status: 200 | 201 | 202 | 204
  /** The error codes of this call, besides those of every call. */
  errors: readonly ErrorCode[]
  /** Whether an `Idempotency-Key` is accepted or required. */
  idempotency?: 'honoured' | 'required'
  /** Largest size of the JSON body; 256 kB when absent. */
  maxBytes?: number
  /** A list in pages. The header `Link` names the next page. */
  paged?: boolean
  /**
   * The output has a `version`, which the header `ETag` repeats in quotes. PUT and DELETE honour
   * `If-Match` and answer `changed_meanwhile` for another version; without the header they replace
   * any version. `content`: the version decides the whole answer, so a GET also honours
   * `If-None-Match` with 304. `settings`: the answer has figures too, which change without it.
   */
  versioned?: 'content' | 'settings'
  /** Reads the input of a DELETE from the body, because addresses must not contain secrets. */
  body?: boolean
  /** Admits pending sessions, whose e-mail is not confirmed yet. */
  pending?: boolean
  /** Also works for a suspended company, because its pages stay online. */
  suspended?: boolean
}

/** A route that does not answer one JSON value: an event stream, a download, a tus upload. */
export interface Stream<Input extends Shape = Shape, Message extends Shape = Shape> {
  kind: 'stream'
  /** Answers HEAD, too, without starting the stream of GET. */
  head?: boolean
  method: Method | 'PATCH' | 'HEAD'
  path: string
  access: Access
  input: Input
  /** Content of one event. `z.void()` where the stream sends bytes. */
  message: Message
  errors: readonly ErrorCode[]
  /** Schema of the part `items` of a `multipart/form-data` body. Parts with bytes follow it. */
  form?: Shape
  /** Accepts the parameter `link`, issued by another call, in place of a token. */
  linked?: boolean
}

interface EndpointOptions<Input extends Shape, Output extends Shape>
  extends Omit<Endpoint<Input, Output>, 'kind' | 'status' | 'errors'> {
  status?: 200 | 201 | 202
  errors?: readonly ErrorCode[]
}

export function endpoint<Input extends Shape, Output extends Shape>(
  options: EndpointOptions<Input, Output>
): Endpoint<Input, Output> {
  const status = options.output instanceof z.ZodMiniVoid ? 204 : (options.status ?? 200)
  return { ...options, kind: 'endpoint', status, errors: options.errors ?? [] }
}

export function stream<Input extends Shape, Message extends Shape>(
  options: Omit<Stream<Input, Message>, 'kind' | 'errors'> & { errors?: readonly ErrorCode[] }
): Stream<Input, Message> {
  return { ...options, kind: 'stream', errors: options.errors ?? [] }
}

/** Returns whether a call reads its input from a JSON body. Other calls read it from the query. */
export function hasJsonBody({ method, body }: Pick<Endpoint, 'method' | 'body'>): boolean {
  return method === 'POST' || method === 'PUT' || body === true
}

/** Returns the names of the parameters in a path: `/group/{groupId}/user` → `['groupId']` */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
}
