import * as z from 'zod/mini'
import type { ErrorCode } from './errors.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
/**
 * Who may make an API call: everybody, people who are signed in, administrators of a company, or
 * operators of the installation.
 */
export type Access = 'public' | 'user' | 'admin' | 'operator'

/**
 * A permission of an API key. A key may make an API call if it has at least one of the `scopes` of
 * the call.
 */
export const KeyScope = z.enum(['deposit', 'verify', 'history'])
export type KeyScope = z.infer<typeof KeyScope>

type Shape = z.ZodMiniType

/**
 * One API call with a JSON response. The server mounts it, browsers call it, and the documentation
 * lists it.
 */
export interface Endpoint<Input extends Shape = Shape, Output extends Shape = Shape> {
  kind: 'endpoint'
  method: Method
  /** The path of the call, with its parameters in braces: `/group/{groupId}/user`. */
  path: string
  access: Access
  /**
   * Schema of the call's input, one flat object. Path parameters come from the path. The other
   * fields come from the query (GET, DELETE) or the JSON body (POST, PUT, and any call with
   * `body`).
   */
  input: Input
  output: Output
  /** HTTP status of a successful response. It is 204 when `output` is `z.void()`. */
  status: 200 | 201 | 202 | 204
  /** The error codes with which this call may fail, in addition to `commonErrorCodes`. */
  errors: readonly ErrorCode[]
  /**
   * Whether the call accepts (`honoured`) or requires (`required`) the header `Idempotency-Key`. If
   * absent, the call ignores the header.
   */
  idempotency?: 'honoured' | 'required'
  /** Largest size in bytes of the JSON body; 256 kB when absent. */
  maxBytes?: number
  /**
   * Whether the call returns a list page by page. The header `Link` contains the address of the
   * next page.
   */
  paged?: boolean
  /**
   * Set if the call returns or deletes a resource that has a `version` number. The response repeats
   * the number in the header `ETag`. If `errors` contains `changed_meanwhile`, callers can send the
   * number back in the header `If-Match`. The call then fails with `changed_meanwhile` if the
   * resource has another version. Without `If-Match`, the call does not check the version.
   * - `content`: every change of the output changes the version, so GET returns 304 for a matching
   *   `If-None-Match`.
   * - `settings`: some figures in the output, such as usage, change without a new version, so GET
   *   never returns 304.
   */
  versioned?: 'content' | 'settings'
  /**
   * Whether a DELETE call takes its input from a JSON body instead of the query. Needed for
   * secrets, which must not be in URLs.
   */
  body?: boolean
  /** What an error tells a caller whose body is not JSON: the call that takes such a body. */
  otherBody?: string
  /** Whether people whose e-mail is not confirmed yet may make the call. */
  pending?: boolean
  /**
   * Whether the call also works for a suspended company. Needed for the calls that every page
   * makes, because the pages of a suspended company stay online, and to sign in, because
   * administrators are told why the company is suspended. `verification`: only while strangers can
   * still verify documents of the company.
   */
  suspended?: boolean | 'verification'
  /**
   * Whether administrators also make this public call, to administer a company. The header
   * `Company` can then name the company. For example, strangers sign up with `createUser`, and
   * administrators invite people with it.
   */
  acting?: boolean
  /**
   * Whether the caller must have entered their password again, by `POST /user/confirm`, in this
   * session and in the last five minutes. Otherwise the call fails with `confirmation_required`.
   */
  confirmation?: boolean
  /**
   * The scopes that allow an API key to make the call: the key needs at least one of them. Without
   * `scopes`, the call refuses all API keys with `person_required`.
   */
  scopes?: readonly KeyScope[]
}

/**
 * An API call whose request or response is not plain JSON, such as an upload, a download or an
 * event stream.
 */
export interface NonJsonEndpoint<Input extends Shape = Shape, Message extends Shape = Shape>
  extends Pick<Endpoint<Input>, 'path' | 'access' | 'input' | 'errors' | 'scopes'> {
  kind: 'non-json'
  /**
   * Whether the call also accepts HEAD requests. The response to HEAD has the headers of GET and no
   * body.
   */
  head?: boolean
  method: Method | 'PATCH' | 'HEAD'
  /**
   * Schema of one event of an event stream, or of the JSON response of an upload. `z.void()` if the
   * response is neither.
   */
  message: Message
  /**
   * Schema of the part `items` of a `multipart/form-data` body. The parts after it contain bytes.
   */
  form?: Shape
  /**
   * Whether the call accepts the query parameter `link`, which `createContentLink` issues, in place
   * of a session token.
   */
  linked?: boolean
}

interface EndpointOptions<Input extends Shape, Output extends Shape>
  extends Omit<Endpoint<Input, Output>, 'kind' | 'status' | 'errors'> {
  status?: 200 | 201 | 202
  errors?: readonly ErrorCode[]
}

/**
 * Defines an API call with a JSON response. Its status is 204 if `output` is `z.void()`. Otherwise
 * it is `options.status`, by default 200.
 */
export function endpoint<Input extends Shape, Output extends Shape>(
  options: EndpointOptions<Input, Output>
): Endpoint<Input, Output> {
  const status = options.output instanceof z.ZodMiniVoid ? 204 : (options.status ?? 200)
  const confirmation = options.confirmation ? (['confirmation_required'] as const) : []
  const errors = [...confirmation, ...(options.errors ?? [])]
  return { ...options, kind: 'endpoint', status, errors }
}

/**
 * Defines an API call whose request or response is not plain JSON, such as an upload, a download or
 * an event stream.
 */
export function nonJsonEndpoint<Input extends Shape, Message extends Shape>(
  options: Omit<NonJsonEndpoint<Input, Message>, 'kind' | 'errors'> & {
    errors?: readonly ErrorCode[]
  }
): NonJsonEndpoint<Input, Message> {
  return { ...options, kind: 'non-json', errors: options.errors ?? [] }
}

/** Returns whether a call takes its input from a JSON body. Other calls take it from the query. */
export function hasJsonBody({ method, body }: Pick<Endpoint, 'method' | 'body'>): boolean {
  return method === 'POST' || method === 'PUT' || body === true
}

/**
 * The fields of an API call that decide whether the call administers a company: see
 * `isCompanyAdministrationCall`.
 */
export type CompanyAdministrationFields = Pick<Endpoint | NonJsonEndpoint, 'access' | 'path'> &
  Pick<Endpoint, 'acting'>

/**
 * Returns whether an API call administers a company. The administered company is the caller's own
 * company, unless an operator names another one in the path (`/company/{id}`) or in the header
 * `Company`.
 */
export function isCompanyAdministrationCall(route: CompanyAdministrationFields): boolean {
  const isAdministration = route.access === 'admin' || route.access === 'operator'
  return isAdministration || hasCompanyIdInPath(route) || route.acting === true
}

/** Returns whether the path of an API call contains the id of the company: `/company/{id}`. */
export function hasCompanyIdInPath({ path }: Pick<CompanyAdministrationFields, 'path'>): boolean {
  return /^\/company\/\{id\}(?:\/|$)/.test(path)
}

/** Returns the names of the parameters of a path: `/group/{groupId}/user` → `['groupId']` */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
}
