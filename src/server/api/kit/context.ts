import type { Context, Hono } from 'hono'
import type { CompanyId, Deps, Tenant } from '../../domain/deps.ts'
import { isRequestFromDeveloperMachine } from '../../domain/developer-machine.ts'
import type { EventStream } from '../../domain/events/event-streams.ts'
import type { AuthenticatedCaller } from '../../domain/sessions/sessions.ts'

/**
 * A client that waits for an HTTP response. Node's response object fits this type: it emits `close`
 * when the client disconnects.
 */
export interface WaitingClient {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/**
 * The place that a call holds while it works (`http/gate.ts`), and the numbers of concurrent calls
 * in which it is counted.
 */
export interface CallPlace {
  /**
   * Counts the call toward the limit of a person or, if a program calls, of an API key. Throws
   * `rate_limited` if they have too many calls.
   */
  countPerson(id: string): void
  /**
   * Counts the call toward the limits of batches of deposits. `id` is that of the person, so that
   * all API keys of a person share one limit. Throws `rate_limited` or `unavailable`.
   */
  countBatch(id: string): void
  /**
   * Runs `wait` without the place, and then waits for another. For whatever waits for the client
   * or for other calls, such as for the bytes of a body.
   */
  outside<T>(wait: () => Promise<T>): Promise<T>
  /**
   * Gives the place back and runs a search, an export or another long read in one of the few places
   * for them. Also after `end`. `waitMs` is how long it waits for this place, 5 seconds by default.
   */
  longRead<T>(read: () => Promise<T>, waitMs?: number): Promise<T>
  /** Gives the place back. The call is not counted any more. */
  end(): void
}

/** The values that the middlewares of `app.ts` provide to the endpoints. */
export interface ContextVariables {
  deps: Deps
  tenant: Tenant
  /** Network address of the client, even if the client connects through trusted proxies. */
  address: string
  requestId: string
  /**
   * Path of the endpoint as in the contract: `/process/{id}`. Undefined until the endpoint is
   * known.
   */
  route: string | undefined
  /**
   * Returns by how many milliseconds the event loop is late; 0 for a call from within the process.
   */
  lagMs: () => number
  /** The place of this call. Undefined for a call from within the process, which needs none. */
  place: CallPlace | undefined
  person: AuthenticatedCaller | undefined
  /** The permissions without which the call must not continue. */
  neededPermissions: readonly string[]
  /**
   * The id of the company that the call administers. Undefined for an endpoint that administers no
   * company.
   */
  acting: CompanyId | undefined
  /**
   * The version numbers in the header `If-Match`, for an endpoint that is `versioned`. Undefined
   * if the call accepts any version.
   */
  expectedVersion: readonly number[] | undefined
  /** The HTTP status to send if the call succeeds. Undefined means the status in the contract. */
  status: 200 | undefined
}

/**
 * What the HTTP listener (`http/listener.ts`) tells the API about the connection of a call. Empty
 * for a call from within the process.
 */
interface Bindings {
  remoteAddress?: string
  /** Address of the other end of the connection, which may be a proxy. */
  peer?: string | undefined
  host?: string | undefined
  /** Resolves to the place of the call, or rejects if the gate refuses the call. */
  place?: Promise<CallPlace> | undefined
  /** Returns whether all bytes of the request's body have arrived. */
  hasWholeBody?: () => boolean
  /** Hands an event stream to the HTTP listener, which writes it after the response headers. */
  takeStream?: (stream: EventStream) => void
  /**
   * Hands `text` to the HTTP listener, which writes it as the body of the response after the
   * headers. `answer` is that response, without a body.
   */
  takeText?: (answer: Response, text: string) => void
}

export type ApiEnv = { Variables: ContextVariables; Bindings: Bindings }
export type Api = Hono<ApiEnv>
export type ApiContext = Context<ApiEnv>

/** Runs a search, an export or another long read for a call. */
export function inLongRead<T>(c: ApiContext, read: () => Promise<T>): Promise<T> {
  return c.get('place')?.longRead(read) ?? read()
}

/**
 * Returns who makes a call: the signed-in person, or the owner of the API key. Throws if the call
 * was not authenticated.
 */
export function authenticatedCaller(c: ApiContext): AuthenticatedCaller {
  const found = c.get('person')
  if (!found) throw new Error('a public endpoint asked for its person')
  return found
}

/** Returns whether a call comes from a developer's machine, where e-mails need no confirmation. */
export function isFromDeveloperMachine(c: ApiContext): boolean {
  const headers = c.req.raw.headers.keys()
  return isRequestFromDeveloperMachine(c.get('deps').settings, c.get('tenant'), {
    peer: c.env?.peer,
    headers
  })
}

/** Returns the id of the company whose host the call addresses, and the id of the caller. */
export function hostCompanyAndCaller(c: ApiContext): { company_id: CompanyId; user_id: string } {
  return { company_id: hostCompanyId(c), user_id: authenticatedCaller(c).id }
}

/** Returns the id of the company whose host the call addresses. */
export function hostCompanyId(c: ApiContext): CompanyId {
  return c.get('tenant').company_id
}
