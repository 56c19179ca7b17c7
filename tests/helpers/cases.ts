import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import {
  type Endpoint,
  pathParameters,
  type Stream,
  takesBody
} from '../../src/contract/endpoint.ts'
import type { ErrorCode } from '../../src/contract/errors.ts'
import type { endpoints, streams } from '../../src/contract/index.ts'
import type { RawRequest, RawResponse, TestApp, TestPerson } from './app.ts'

// What the file `tests/api/<noun>.cases.ts` of each noun is written with.

export type RouteName = keyof typeof endpoints | keyof typeof streams

/** What an id of a call names, seen from the caller. */
export const idKinds = ['own', 'person', 'company', 'missing', 'malformed', 'empty'] as const
export type IdKind = (typeof idKinds)[number]
export type Thing =
  | 'record'
  | 'request'
  | 'open request'
  | 'upload'
  | 'session'
  | 'category'
  | 'host'
  | 'domain'
  | 'member'

/** Ids of each thing: the caller's own, another person's, another company's, and three of nothing. */
export type Things = Record<Thing, Record<IdKind, string>>

export interface Row {
  /** Everything a good call says apart from its ids, optional fields included. */
  input?: (app: TestApp, person: TestPerson) => Promise<object> | object
  /** Fields that name a thing. */
  ids?: Record<string, Thing>
  headers?: (app: TestApp, person: TestPerson) => Record<string, string>
  body?: Uint8Array
  /** An answer of success; the endpoint's own status when absent. */
  status?: number
  /** How an id of others is refused; `not_found` when absent. */
  refusal?: ErrorCode
  /** The input proves who calls, so everybody else is refused with this. */
  proves?: ErrorCode
  /** How an id out of form is refused; `invalid_input` when absent. */
  malformed?: ErrorCode
  /** The call ends the session or changes the thing, so each good one gets its own. */
  spends?: 'session' | 'another session' | 'upload' | 'person'
  /** Everybody of the company may use the thing that is the owner's own. */
  shared?: true
}

/** A good call of each route of a noun. Isolation, bad input, tokens, fuzzing and documentation make it. */
export type Rows = Partial<Record<RouteName, Row>>

/** How the refusals of a noun come about: `'createUser email_taken'`. */
export type Refusals = Record<string, () => Promise<RawResponse>>

/** The world in which refusals come about. */
export interface Stage {
  app: TestApp
  /** A person of `acme.localhost`, who is an administrator. */
  ada: TestPerson
  /** A call of ada's unless other headers are given; with the row's own for an upload. */
  ask(
    name: RouteName,
    input: Record<string, unknown>,
    headers?: Record<string, string>
  ): Promise<RawResponse>
  /** The input of a good call. */
  inputOf(name: RouteName): Promise<Record<string, unknown>>
}

/** The bytes of an upload that no test has finished. */
export const uploadBytes = Buffer.alloc(64, 'matrix')

/** One call as bytes on the wire, unchecked: `input` may be as wrong as a test likes. */
export function requestOf(
  route: Endpoint | Stream,
  input: Record<string, unknown>,
  headers: Record<string, string> = {},
  body?: Uint8Array
): RawRequest & { method: string; path: string } {
  const rest = { ...input }
  let path = route.path
  for (const name of pathParameters(path)) {
    path = path.replace(`{${name}}`, encodeURIComponent(wellFormed(rest[name])))
    delete rest[name]
  }
  const { method } = route
  if (route.kind === 'endpoint' && takesBody(route)) {
    const body = JSON.stringify(rest)
    // Node sends none by itself for this method
    const length = method === 'DELETE' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
    return {
      method,
      path,
      headers: { 'content-type': 'application/json', ...length, ...headers },
      body
    }
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(rest)) query.append(name, wellFormed(value))
  const search = query.size > 0 ? `?${query}` : ''
  const length = body ? { 'content-length': String(body.length) } : {}
  return {
    method,
    path: `${path}${search}`,
    headers: { ...length, ...headers },
    ...(body ? { body } : {})
  }
}

function wellFormed(value: unknown): string {
  return String(value).toWellFormed()
}

export async function domainOf(owner: pg.Pool, host: string): Promise<string> {
  const { rows: found } = await owner.query('select id from domain where host = $1', [host])
  return found[0].id
}

/** Makes a call while another one, which does not end, holds its idempotency key. */
export async function whileHeld(
  app: TestApp,
  actor: string,
  route: string,
  call: (key: string) => Promise<RawResponse>
): Promise<RawResponse> {
  const key = randomUUID()
  const client = await app.owner.connect()
  try {
    await client.query('begin')
    await client.query(
      `insert into idempotency (company_id, actor, route, key, fingerprint, created_at)
       values ($1, $2, $3, $4, '', now())`,
      [app.companies['acme.localhost'], actor, route, key]
    )
    return await call(key)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** Runs while no group has requests left. */
export async function withoutRequests(
  app: TestApp,
  call: () => Promise<RawResponse>
): Promise<RawResponse> {
  const limit = (requests: number) =>
    app.owner.query('update "group" set max_requests = $1', [requests])
  await limit(0)
  try {
    return await call()
  } finally {
    await limit(1_000_000)
  }
}
