import * as z from 'zod/mini'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Access = 'public' | 'user' | 'admin' | 'operator'

type Shape = z.ZodMiniType

/** One call of the API: mounted by the server, made by the browser, listed by tests and documentation. */
export interface Endpoint<Input extends Shape = Shape, Output extends Shape = Shape> {
  kind: 'endpoint'
  method: Method
  /** As the specification writes it: `/group/{groupId}/user`. */
  path: string
  access: Access
  /** One flat object: path parameters plus query (GET, DELETE) or JSON body (POST, PUT, `body`). */
  input: Input
  output: Output
  /** Status of success; 204 when `output` is `z.void()`. */
  status: 200 | 201 | 202 | 204
  /** Codes this call adds to the ones every call may answer. */
  errors: readonly ErrorCode[]
  /** Creates something: an `Idempotency-Key` is honoured, or demanded. */
  idempotency?: 'honoured' | 'required'
  /** Of the JSON body; 256 kB when absent. */
  maxBytes?: number
  /** A list in pages: `Link` names the next one where there is one. */
  paged?: boolean
  /** A DELETE that takes its input from the body, because it holds what no address may. */
  body?: boolean
  /** A token of a pending session is enough. */
  pending?: boolean
  /** Answers for a suspended company too, which keeps its pages. */
  suspended?: boolean
}

/** A route whose answer is no single JSON value: an event stream, a download, a tus upload. */
export interface Stream<Input extends Shape = Shape, Message extends Shape = Shape> {
  kind: 'stream'
  /** Answers HEAD too, without starting what GET streams. */
  head?: boolean
  method: Method | 'PATCH' | 'HEAD'
  path: string
  access: Access
  input: Input
  /** What one event carries; `z.void()` for bytes. */
  message: Message
  errors: readonly ErrorCode[]
  /** The `link` that another call has made for the caller stands for their token. */
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

/** Whether a call takes its input from a JSON body; the others take it from the query. */
export function takesBody({ method, body }: Pick<Endpoint, 'method' | 'body'>): boolean {
  return method === 'POST' || method === 'PUT' || body === true
}

/** `/group/{groupId}/user` → `['groupId']` */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
}
