import * as z from 'zod/mini'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
export type Access = 'public' | 'user' | 'admin' | 'operator'

/** A key needs one of the `scopes` of a call. */
export const KeyScope = z.enum(['deposit', 'verify', 'history'])
export type KeyScope = z.infer<typeof KeyScope>

type Shape = z.ZodMiniType

export interface Endpoint<Input extends Shape = Shape, Output extends Shape = Shape> {
  kind: 'endpoint'
  method: Method
  // `/group/{groupId}/user`
  path: string
  access: Access
  /** One flat object: from the path, and from the query (GET, DELETE) or the JSON body. */
  input: Input
  output: Output
  status: 200 | 201 | 202 | 204
  /** Besides `commonErrorCodes`. */
  errors: readonly ErrorCode[]
  /** Ignored when absent. */
  idempotency?: 'honoured' | 'required'
  // of the JSON body, 256 kB when absent
  maxBytes?: number
  // the header `Link` has the address of the next page
  paged?: boolean
  /**
   * The output has a `version`, repeated in `ETag`. With `changed_meanwhile` in `errors`,
   * `If-Match` is checked. `content`: every change of the output changes it, so GET returns 304.
   * `settings`: figures such as usage change without it, so GET never does.
   */
  versioned?: 'content' | 'settings'
  /** A DELETE with a JSON body, for secrets, which must not be in URLs. */
  body?: boolean
  /** Tells a caller without JSON which call takes its body. */
  otherBody?: string
  /** Whether people may call it before they confirm their e-mail. */
  pending?: boolean
  /**
   * For calls that every page makes, because the pages of a suspended company stay online, and for
   * the sign-in, because administrators learn the reason. `verification`: only while strangers can
   * still verify.
   */
  suspended?: boolean | 'verification'
  /**
   * A public call that administrators also make for a company, as `createUser` signs up and
   * invites.
   */
  acting?: boolean
  /**
   * The password must have been entered again, by `POST /user/confirm`, in the last five minutes.
   */
  confirmation?: boolean
  /** Scopes of which an API key needs one. When absent, API keys are refused. */
  scopes?: readonly KeyScope[]
}

/** An upload, a download or an event stream. */
export interface NonJsonEndpoint<Input extends Shape = Shape, Message extends Shape = Shape>
  extends Pick<Endpoint<Input>, 'path' | 'access' | 'input' | 'errors' | 'scopes'> {
  kind: 'non-json'
  head?: boolean
  method: Method | 'PATCH' | 'HEAD'
  /** One event of a stream, or the JSON answer of an upload, else `z.void()`. */
  message: Message
  /** The part `items` of a `multipart/form-data` body. Parts with bytes follow. */
  form?: Shape
  /** Whether the parameter `link` of `createContentLink` can stand for a token. */
  linked?: boolean
}

interface EndpointOptions<Input extends Shape, Output extends Shape>
  extends Omit<Endpoint<Input, Output>, 'kind' | 'status' | 'errors'> {
  status?: 200 | 201 | 202
  errors?: readonly ErrorCode[]
}

/** The status is 204 if `output` is `z.void()`, and by default 200. */
export function endpoint<Input extends Shape, Output extends Shape>(
  options: EndpointOptions<Input, Output>
): Endpoint<Input, Output> {
  const status = options.output instanceof z.ZodMiniVoid ? 204 : (options.status ?? 200)
  const confirmation = options.confirmation ? (['confirmation_required'] as const) : []
  const errors = [...confirmation, ...(options.errors ?? [])]
  return { ...options, kind: 'endpoint', status, errors }
}

export function nonJsonEndpoint<Input extends Shape, Message extends Shape>(
  options: Omit<NonJsonEndpoint<Input, Message>, 'kind' | 'errors'> & {
    errors?: readonly ErrorCode[]
  }
): NonJsonEndpoint<Input, Message> {
  return { ...options, kind: 'non-json', errors: options.errors ?? [] }
}

export function hasJsonBody({ method, body }: Pick<Endpoint, 'method' | 'body'>): boolean {
  return method === 'POST' || method === 'PUT' || body === true
}

export type CompanyAdministrationFields = Pick<Endpoint | NonJsonEndpoint, 'access' | 'path'> &
  Pick<Endpoint, 'acting'>

/**
 * Such a call is for the caller's company, unless an operator names another one in the path or in
 * the header `Company`.
 */
export function isCompanyAdministrationCall(route: CompanyAdministrationFields): boolean {
  const isAdministration = route.access === 'admin' || route.access === 'operator'
  return isAdministration || hasCompanyIdInPath(route) || route.acting === true
}

// `/company/{id}`
export function hasCompanyIdInPath({ path }: Pick<CompanyAdministrationFields, 'path'>): boolean {
  return /^\/company\/\{id\}(?:\/|$)/.test(path)
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
}
