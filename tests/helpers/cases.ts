import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import {
  type Endpoint,
  hasJsonBody,
  pathParameters,
  type Stream
} from '../../src/contract/endpoint.ts'
import type { ErrorCode } from '../../src/contract/errors.ts'
import type { endpoints, streams } from '../../src/contract/index.ts'
import type { RawRequest, RawResponse, TestApp, TestPerson } from './app.ts'

// The types and functions for the files `tests/api/<noun>.cases.ts`.

export type RouteName = keyof typeof endpoints | keyof typeof streams

/** Whose thing an id names, from the caller's point of view. */
export const idKinds = ['own', 'person', 'company', 'missing', 'malformed', 'empty'] as const
export type IdKind = (typeof idKinds)[number]
export type Thing =
  | 'record'
  | 'request'
  | 'open request'
  | 'upload'
  | 'session'
  | 'category'
  | 'company category'
  | 'host'
  | 'domain'
  | 'member'
  | 'group'
  | 'company'

/**
 * Ids of each kind of thing: the caller's own, another person's, another company's, and three that
 * name nothing.
 */
export type Things = Record<Thing, Record<IdKind, string>>

export interface Row {
  /** Returns the input of a valid call except for its ids, including optional fields. */
  input?: (app: TestApp, person: TestPerson) => Promise<object> | object
  /** Input fields that contain an id, with the kind of thing. */
  ids?: Record<string, Thing>
  headers?: (app: TestApp, person: TestPerson) => Record<string, string>
  body?: Uint8Array
  /** Status of a successful answer. The endpoint's own status when absent. */
  status?: number
  /** Error code for the id of another person's thing. `not_found` when absent. */
  refusal?: ErrorCode
  /** Set where the input itself proves who calls: the error code for other callers. */
  proves?: ErrorCode
  /** Error code for a malformed id. `invalid_input` when absent. */
  malformed?: ErrorCode
  /** What a successful call uses up, so that the next such call needs a new one. */
  spends?: 'session' | 'another session' | 'upload' | 'person' | 'group'
  /** Set where all people of the company may use a person's thing. */
  shared?: true
}

/**
 * A valid call for each route of a noun. The tests of isolation, bad input, tokens, fuzzing and
 * documentation make these calls.
 */
export type Rows = Partial<Record<RouteName, Row>>

/**
 * A function that provokes each error code of a noun's routes, by route and code: `'createUser
 * email_taken'`.
 */
export type Refusals = Record<string, () => Promise<RawResponse>>

/** What functions need to provoke error codes. */
export interface Stage {
  app: TestApp
  /** A person of `acme.localhost` with administrator rights. */
  ada: TestPerson
  /**
   * Calls a route as `ada`, unless `headers` has other credentials. Adds the route's own headers
   * for an upload.
   */
  ask(
    name: RouteName,
    input: Record<string, unknown>,
    headers?: Record<string, string>
  ): Promise<RawResponse>
  /** Returns the input of a valid call. */
  inputOf(name: RouteName): Promise<Record<string, unknown>>
}

/** The bytes of an upload that stays unfinished. */
export const uploadBytes = Buffer.alloc(64, 'matrix')

/** Returns one call as an HTTP request. Does not check `input`, which may be invalid. */
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
  if (route.kind === 'endpoint' && hasJsonBody(route)) {
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

/**
 * Makes a group that nobody is in, for the categories of its company's default group. Returns its
 * id.
 */
export async function makeGroup(
  app: TestApp,
  host: string,
  company = app.companies[host]
): Promise<string> {
  const id = randomUUID()
  await app.owner.query(
    `insert into "group" (company_id, id, name, features, created_at)
     values ($1, $2, $3, '{deposit}', now())`,
    [company, id, `Group ${id}`]
  )
  await app.owner.query(
    `insert into group_category (company_id, group_id, category_id)
     select company_id, $2, category_id from group_category
       join "group" using (company_id)
      where company_id = $1 and group_id = "group".id and is_default`,
    [company, id]
  )
  return id
}

/** Confirms the passwords of everybody who is signed in, as `POST /user/confirm` does. */
export async function confirmSessions(app: TestApp): Promise<void> {
  const until = new Date(app.deps.clock().getTime() + 299_000)
  await app.owner.query('update session set confirmed_until = $1', [until])
}

export async function domainOf(owner: pg.Pool, host: string): Promise<string> {
  const { rows: found } = await owner.query('select id from domain where host = $1', [host])
  return found[0].id
}

/** Makes a call while another, unfinished call uses the same idempotency key. */
export async function whileKeyInUse(
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

/** Makes a call while no group has requests left. */
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
