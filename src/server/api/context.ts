import type { Context, Hono } from 'hono'
import type { CompanyId, Deps, Tenant, WaitingClient } from '../domain/deps.ts'
import { isDeveloperMachine } from '../domain/developer-machine.ts'
import type { EventStream } from '../domain/history/event-streams.ts'
import type { Person } from '../domain/sessions/sessions.ts'
import type { InFlightCall } from './in-flight-calls.ts'

/** The values that the middlewares of `app.ts` set for the endpoints. */
export interface Variables {
  deps: Deps
  tenant: Tenant
  /** Address of the client, behind trusted proxies. */
  address: string
  requestId: string
  /** Path of the endpoint in the contract. */
  route: string | undefined
  /** By how many milliseconds the event loop is late; 0 for a call within the process. */
  lagMs: () => number
  /** Counts this call among those under way; `undefined` within the process. */
  inFlight: InFlightCall | undefined
  person: Person | undefined
  /** Status of success, where it differs from the endpoint's. */
  status: 200 | undefined
}

/** The listener's data on the connection. Empty for a call within the process. */
interface Bindings {
  remoteAddress?: string
  /** The peer of the connection, which may be a proxy. */
  peer?: string | undefined
  host?: string | undefined
  /** The client of this call. It emits `close` when it disconnects. */
  caller?: WaitingClient
  /** Writes an event stream to the connection after the head. */
  takeStream?: (stream: EventStream) => void
  /** Writes the text of an answer to the connection after the head. */
  takeText?: (answer: Response, text: string) => void
}

export type ApiEnv = { Variables: Variables; Bindings: Bindings }
export type Api = Hono<ApiEnv>
export type ApiContext = Context<ApiEnv>

/** Returns the signed-in person. `mountEndpoint` has refused everybody else. */
export function person(c: ApiContext): Person {
  const found = c.get('person')
  if (!found) throw new Error('a public endpoint asked for its person')
  return found
}

/** Returns whether the call comes from a browser on a developer's machine. */
export function isFromDeveloper(c: ApiContext): boolean {
  const headers = c.req.raw.headers.keys()
  return isDeveloperMachine(c.get('deps').settings, c.get('tenant'), { peer: c.env?.peer, headers })
}

export function companyOf(c: ApiContext): CompanyId {
  return c.get('tenant').company_id
}
