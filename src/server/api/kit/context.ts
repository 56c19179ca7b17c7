import type { Context, Hono } from 'hono'
import type { CompanyId, Deps, Tenant } from '../../domain/deps.ts'
import { isRequestFromDeveloperMachine } from '../../domain/developer-machine.ts'
import type { EventStream } from '../../domain/events/event-streams.ts'
import type { AuthenticatedCaller } from '../../domain/sessions/sessions.ts'

/** Node's response object fits this type. */
export interface WaitingClient {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** The place that a call holds while it works (`http/gate.ts`). */
export interface CallPlace {
  /** `id` is that of a person or, if a program calls, of an API key. */
  countPerson(id: string): void
  /** `id` is that of the person, so that all API keys of a person share one limit. */
  countBatch(id: string): void
  /** Runs `wait` without the place: for whatever waits for the client or for other calls. */
  outside<T>(wait: () => Promise<T>): Promise<T>
  /** For each piece of a body: a company takes in one in a turn of the event loop, beside others. */
  takeTurn(): Promise<void>
  /**
   * Gives the place back and runs a long read in one of the few places for them, also after `end`.
   * Waits `waitMs` for it, 5 seconds by default.
   */
  longRead<T>(read: () => Promise<T>, waitMs?: number): Promise<T>
  /** Gives the place back. The call is not counted any more. */
  end(): void
}

export interface ContextVariables {
  deps: Deps
  tenant: Tenant
  address: string
  requestId: string
  /** As in the contract: `/process/{id}`. Undefined until the endpoint is known. */
  route: string | undefined
  /** 0 for a call from within the process. */
  lagMs: () => number
  /** Undefined for a call from within the process, which needs none. */
  place: CallPlace | undefined
  person: AuthenticatedCaller | undefined
  /** Without these, the call must not continue. */
  neededPermissions: readonly string[]
  /** The company that the call administers, if its endpoint administers one. */
  acting: CompanyId | undefined
  /** From the header `If-Match`. Undefined if the call accepts any version. */
  expectedVersion: readonly number[] | undefined
  /** Undefined means the status in the contract. */
  status: 200 | undefined
}

// what the HTTP listener tells the API about a call; empty for a call from within the process
interface Bindings {
  remoteAddress?: string
  /** Address of the other end of the connection, which may be a proxy. */
  peer?: string | undefined
  host?: string | undefined
  /** Rejects if the gate refuses the call. */
  place?: Promise<CallPlace> | undefined
  hasWholeBody?: () => boolean
  /** The listener writes the stream after the response headers. */
  takeStream?: (stream: EventStream) => void
  /** The listener writes `text` as the body of `answer`. */
  takeText?: (answer: Response, text: string) => void
}

export type ApiEnv = { Variables: ContextVariables; Bindings: Bindings }
export type Api = Hono<ApiEnv>
export type ApiContext = Context<ApiEnv>

export function inLongRead<T>(c: ApiContext, read: () => Promise<T>): Promise<T> {
  return c.get('place')?.longRead(read) ?? read()
}

export function authenticatedCaller(c: ApiContext): AuthenticatedCaller {
  const found = c.get('person')
  if (!found) throw new Error('a public endpoint asked for its person')
  return found
}

/** E-mails need no confirmation there. */
export function isFromDeveloperMachine(c: ApiContext): boolean {
  const headers = c.req.raw.headers.keys()
  return isRequestFromDeveloperMachine(c.get('deps').settings, c.get('tenant'), {
    peer: c.env?.peer,
    headers
  })
}

export function hostCompanyAndCaller(c: ApiContext): { company_id: CompanyId; user_id: string } {
  return { company_id: hostCompanyId(c), user_id: authenticatedCaller(c).id }
}

export function hostCompanyId(c: ApiContext): CompanyId {
  return c.get('tenant').company_id
}
