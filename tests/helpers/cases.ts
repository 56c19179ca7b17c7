import { randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { endpoints, nonJsonEndpoints } from '../../src/contract/index.ts'
import {
  type Endpoint,
  hasJsonBody,
  KeyScope,
  type NonJsonEndpoint,
  pathParameters
} from '../../src/contract/kit/endpoint.ts'
import type { ErrorCode } from '../../src/contract/kit/errors.ts'
import { inCompany, toCompanyId } from '../../src/server/db/scope.ts'
import { addAuditEntry } from '../../src/server/domain/audit/audit-entries.ts'
import { newId } from '../../src/server/domain/ids.ts'
import { createApiKeySecret } from '../../src/server/domain/sessions/api-key-secrets.ts'
import type { RawRequest, RawResponse, TestApp, TestPerson } from './app.ts'
import { csvDialect, diplomaColumns } from './registers.ts'

// The types and functions for the files `tests/api/<room>/<noun>.cases.ts`.

export type RouteName = keyof typeof endpoints | keyof typeof nonJsonEndpoints

/**
 * The kinds of ids that the tests send: of the caller's own thing, of another person's, of another
 * company's, of no thing, malformed, and empty.
 */
export const idKinds = ['own', 'person', 'company', 'missing', 'malformed', 'empty'] as const
export type IdKind = (typeof idKinds)[number]
export type Thing =
  | 'record'
  | 'request'
  | 'open request'
  | 'upload'
  | 'session'
  | 'api key'
  | 'key owner'
  | 'company api key'
  | 'category'
  | 'company category'
  | 'data source'
  | 'host'
  | 'domain'
  | 'member'
  | 'sign-up'
  | 'group'
  | ImportThing
  | 'register'
  | RegisterImportThing
  | 'company'
  | 'audit entry'

/**
 * One id of each kind for each kind of thing: the id of the caller's own thing, of another
 * person's, of another company's, and three ids that belong to nothing.
 */
export type ThingIds = Record<Thing, Record<IdKind, string>>

export interface RouteCase {
  /**
   * Returns a valid input, including optional fields. The fields of `ids` and `idLists` are added
   * to it.
   */
  input?: (app: TestApp, person: TestPerson) => Promise<object> | object
  /** Input fields that contain an id, each with the kind of thing that the id belongs to. */
  ids?: Record<string, Thing>
  /**
   * Input fields that contain a list of ids. `of` is the kind of thing that the ids belong to.
   * `instead` names a field of `input` that a call must leave out when it sends this list.
   */
  idLists?: Record<string, { of: Thing; instead?: string }>
  headers?: (app: TestApp, person: TestPerson) => Record<string, string>
  body?: Uint8Array
  /** Status of a successful answer. The endpoint's own status when absent. */
  status?: number
  /** Error code for the id of another person's thing. `not_found` when absent. */
  refusal?: ErrorCode
  /**
   * Error code when another person sends the same input. Set only for calls whose input contains a
   * proof of who makes the call, such as a signature.
   */
  proves?: ErrorCode
  /** Error code for a malformed id. `invalid_input` when absent. */
  malformed?: ErrorCode
  /** What a successful call uses up, so that the next such call needs a new one. */
  spends?:
    | 'session'
    | 'another session'
    | 'api key'
    | 'company api key'
    | 'upload'
    | 'person'
    | 'group'
    | 'member'
    | 'suspension'
    | 'domain'
    | 'category'
    | 'data source'
    | ImportThing
    | RegisterImportThing
  /** Set if the call changes or creates a company other than the caller's. */
  reachesOthers?: true
  /**
   * Error code of a valid call for the caller's own company, if the call only works for other
   * companies.
   */
  ownRefusal?: ErrorCode
  /**
   * Fields of `ids` and `idLists` that only filter. With the id of another company's thing, the
   * call succeeds and finds nothing.
   */
  filters?: string[]
  /**
   * Set if everybody in the company may use the thing with the id, so that there is no refusal for
   * another person's thing.
   */
  shared?: true
  /**
   * Makes the call and expects that it has its effect. Needed only for calls whose effect no other
   * test of `tests/api` checks.
   */
  does?: (stage: RefusalContext) => Promise<void>
}

/**
 * A valid call for each route of a noun (such as groups or domains). The tests of isolation, bad
 * input, tokens, fuzzing and documentation make these calls.
 */
export type RouteCases = Partial<Record<RouteName, RouteCase>>

/**
 * Functions that each provoke one error code of one route. Each is named after route and code:
 * `'createUser email_taken'`.
 */
export type Refusals = Record<string, () => Promise<RawResponse>>

/** Makes calls while a company may have no more of anything than it has. */
export async function withBoundsReached<T>(app: TestApp, make: () => Promise<T>): Promise<T> {
  const { settings } = app.deps
  const usual = settings.bounds
  settings.bounds = {
    domains: 0,
    groups: 0,
    categories: 0,
    dataSources: 0,
    people: 0,
    importBytes: 0,
    registerRows: 0
  }
  try {
    return await make()
  } finally {
    settings.bounds = usual
  }
}

/** What a function needs to provoke an error code: a test app, a person and ways to make calls. */
export interface RefusalContext {
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
  route: Endpoint | NonJsonEndpoint,
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
 * Makes a group without members, which may use the categories of its company's default group.
 * Returns the group's id.
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

/** Makes a person who is invited to a company. Returns the person's id. */
export async function makeInvitedPerson(
  owner: pg.Pool,
  company: string | undefined
): Promise<string> {
  const id = randomUUID()
  await owner.query(
    `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at, invited_at)
     values ($1, $2, $3, 'Bea', now(), now(), now())`,
    [company, id, `${id}@example.com`]
  )
  return id
}

/** Makes a sign-up that waits for the e-mail to be confirmed. Returns its id. */
export async function makeWaitingSignUp(
  owner: pg.Pool,
  company: string | undefined
): Promise<string> {
  const id = randomUUID()
  await owner.query(
    `insert into signup (company_id, id, email, username, locale, key_id, kdf, pub_enc, kek_id,
       created_at, expires_at)
     values ($1, $2, $3, 'Walt', 'en', $2, 'a1', '', 'none', now(), now() + interval '1 day')`,
    [company, id, `${id}@example.com`]
  )
  return id
}

/** Makes an entry of a company's audit log: an invitation of `person`. Returns its id. */
export async function makeAuditEntry(
  app: TestApp,
  { id, host }: Pick<TestPerson, 'id' | 'host'>,
  company = app.companies[host] ?? ''
): Promise<string> {
  await inCompany(app.deps.db, toCompanyId(company), async tx => {
    const by = { id, company_id: tx.companyId }
    addAuditEntry(tx, app.deps, {
      by,
      action: 'user.invite',
      target: id,
      after: { username: 'Ada' }
    })
  })
  const { rows: found } = await app.owner.query(
    'select id from audit_entry where company_id = $1 order by seq desc limit 1',
    [company]
  )
  return found[0].id
}

/** Makes a category that no group may use. Returns its id. */
export async function makeCategory(
  app: TestApp,
  host: string,
  {
    company = app.companies[host],
    visibility = 'public'
  }: { company?: string | undefined; visibility?: string } = {}
): Promise<string> {
  const id = randomUUID()
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     values ($1, $2, $3, $4, now())`,
    [company, id, JSON.stringify({ en: `Category ${id}`, fr: `Catégorie ${id}` }), visibility]
  )
  return id
}

/** Makes a data source. Returns its id. */
export async function makeDataSource(
  owner: pg.Pool,
  company: string | undefined,
  name = `Data source ${randomUUID()}`
): Promise<string> {
  const id = randomUUID()
  await owner.query(
    `insert into data_source (company_id, id, name, register_id, created_at)
     values ($1, $2, $3, $4, now())`,
    [company, id, name, randomBytes(16).toString('base64url')]
  )
  return id
}

const importStates = { import: 'open', 'checked import': 'checked', 'done import': 'done' }
type ImportThing = keyof typeof importStates

/**
 * Makes an import for a call that uses it up. First marks the imports of earlier calls as undone,
 * because a company may have only a few open ones. Returns the id of the new import.
 */
export async function makeImportToUseUp(
  app: TestApp,
  host: string,
  thing: ImportThing,
  company = app.companies[host]
): Promise<string> {
  await app.owner.query(
    `update import set state = 'undone' where company_id = $1 and file_name = 'spent.csv'`,
    [company]
  )
  return makeImport(app, host, thing, company, 'spent.csv')
}

/** Makes an import of one new person whose row is stored. Returns its id. */
export async function makeImport(
  app: TestApp,
  host: string,
  thing: ImportThing = 'import',
  company = app.companies[host],
  file_name = 'people.csv'
): Promise<string> {
  const id = randomUUID()
  const state = importStates[thing]
  const isChecked = state !== 'open'
  await app.owner.query(
    `insert into import (company_id, id, file_name, created_at, created_by, expires_at, host, options,
       row_count, stored_count, state, counts)
     select $1, $2, $6, now(), id, now() + interval '30 days', $3,
            '{"groups": [], "send_invitations": false, "locale": null}', 1, 1, $4, $5
       from "user" where company_id = $1 limit 1`,
    [
      company,
      id,
      host,
      state,
      isChecked ? { new: 1, changed: 0, unchanged: 0, refused: 0 } : null,
      file_name
    ]
  )
  await app.owner.query(
    `insert into import_row (company_id, import_id, number, cells, bytes, kept_bytes, email, verdict, user_id)
     values ($1, $2, 1, jsonb_build_object('email', $3::text), 10, 10, $3, $4, $5)`,
    [
      company,
      id,
      `imported-${id}@example.com`,
      isChecked ? 'new' : null,
      isChecked ? randomUUID() : null
    ]
  )
  return id
}

const registerImportStates = {
  'register import': 'uploading',
  'checked register import': 'checked',
  'done register import': 'done'
}
type RegisterImportThing = keyof typeof registerImportStates

/** Returns the id of the register to which all imports of `makeRegisterImport` belong. */
export async function makeImportedRegister(
  owner: pg.Pool,
  company: string | undefined
): Promise<string> {
  const name = 'Imported'
  const { rows: found } = await owner.query(
    'select id from data_source where company_id = $1 and name = $2',
    [company, name]
  )
  const id = found[0]?.id ?? (await makeDataSource(owner, company, name))
  await owner.query(
    `update data_source set columns = $3, dialect = $4, segments = '{}'
      where company_id = $1 and id = $2`,
    [company, id, JSON.stringify(diplomaColumns), JSON.stringify(csvDialect)]
  )
  return id
}

/** Makes an import of a register. Those that were made before no longer count. Returns its id. */
export async function makeRegisterImport(
  owner: pg.Pool,
  company: string | undefined,
  thing: RegisterImportThing = 'register import'
): Promise<string> {
  const source = await makeImportedRegister(owner, company)
  await owner.query(
    `update register_import set state = 'undone'
      where company_id = $1 and file_name = 'spent.csv' and state <> 'done'`,
    [company]
  )
  await owner.query(
    `insert into register_segment (company_id, source_id, number, rows, root)
     values ($1, $2, 1, 0, '\\x00') on conflict do nothing`,
    [company, source]
  )
  const id = randomUUID()
  const isDone = thing === 'done register import'
  const state = registerImportStates[thing]
  await owner.query(
    `insert into register_import (company_id, id, source_id, mode, file_name, bytes, dialect,
       columns, state, created_at, created_by, counts, segment, checked_number, number)
     select $1, $2, $3, 'append', 'spent.csv', 10, $4, $5, $6, now(), "user".id,
            '{"new": 1, "changed": 0, "unchanged": 0, "removed": 0, "refused": 0}', $7,
            data_source.number, $8
       from "user" join data_source using (company_id)
      where company_id = $1 and data_source.id = $3 limit 1`,
    [
      ...[company, id, source, JSON.stringify(csvDialect), JSON.stringify(diplomaColumns), state],
      ...[state === 'uploading' ? null : 1, isDone ? 1 : null]
    ]
  )
  if (isDone) {
    await owner.query(
      `update data_source set segments = '{1}', number = greatest(number, 2)
        where company_id = $1 and id = $2`,
      [company, source]
    )
  }
  return id
}

/**
 * Marks every session as confirmed by password for the next 299 seconds, as `POST /user/confirm`
 * does for one session.
 */
export async function confirmSessions(app: TestApp): Promise<void> {
  const until = new Date(app.deps.clock().getTime() + 299_000)
  await app.owner.query('update session set confirmed_until = $1', [until])
}

export async function domainIdOf(owner: pg.Pool, host: string): Promise<string> {
  const { rows: found } = await owner.query('select id from domain where host = $1', [host])
  return found[0].id
}

/**
 * Makes a verified domain that a test may change or delete. Its id sorts after those of the
 * company's other domains, so it never becomes the primary domain. Returns the id.
 */
export async function makeDomain(
  owner: pg.Pool,
  company: string | undefined,
  name?: string
): Promise<string> {
  const id = `ffffffff${randomUUID().slice(8)}`
  await owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select company_id, $2, $3, name, title, false, locale, theme, now()
       from domain where company_id = $1 order by id limit 1`,
    [company, id, name ?? `${id.slice(9, 23)}.example.com`]
  )
  return id
}

/** Makes a company without a proved host. Returns the header that lets operators act in it. */
export async function makeCompanyWithoutHost(app: TestApp): Promise<{ company: string }> {
  const company = await app.addCompany('No host', `${randomUUID().slice(0, 8)}.example.com`)
  await app.owner.query('update domain set verified_at = null where company_id = $1', [company])
  return { company }
}

/**
 * Makes a call with an idempotency key that another, unfinished call already uses. Returns the
 * response.
 */
export async function callWithKeyInUse(
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

/**
 * Returns functions that provoke the two errors of an `Idempotency-Key` of the route `name`. In
 * `idempotency_in_flight`, an unfinished call already uses the key. In `idempotency_key_reused`, an
 * earlier call used the key with another input. `send` must make a call with the given headers and
 * with the given text as part of its input. The text is different in every call.
 */
export function idempotencyKeyRefusals(
  { app, ada }: RefusalContext,
  name: RouteName,
  route: string,
  send: (headers: Record<string, string>, text: string) => Promise<RawResponse>,
  actor = ada.id
): Refusals {
  const sendKey = (key: string) => send({ 'idempotency-key': key }, randomUUID())
  return {
    [`${name} idempotency_in_flight`]: () => callWithKeyInUse(app, actor, route, sendKey),
    [`${name} idempotency_key_reused`]: async () => {
      const key = randomUUID()
      await sendKey(key)
      return sendKey(key)
    }
  }
}

/** Makes a call while the quota of requests of every group is 0. Returns the response. */
export async function callWithZeroQuota(
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

/**
 * Adds an API key to the database: one of the person or, if `isCompanys`, of the person's company.
 * Returns its id, and as `key` the secret that calls are made with.
 */
export async function makeApiKey(
  app: TestApp,
  person: Pick<TestPerson, 'id' | 'host'>,
  {
    isCompanys = false,
    scopes = KeyScope.options,
    days = 30,
    company = app.companies[person.host]
  }: {
    isCompanys?: boolean
    scopes?: readonly KeyScope[]
    days?: number
    company?: string | undefined
  } = {}
): Promise<{ id: string; key: string }> {
  const { key, hint, digest } = createApiKeySecret(app.deps)
  const id = newId(app.deps)
  const now = app.deps.clock()
  if (isCompanys) {
    await app.owner.query(
      `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at, deleted_at)
       values ($1, $2, $3, 'Scanner', $4, $4, $4)`,
      [company, id, `${id}@key.invalid`, now]
    )
  }
  const group = isCompanys ? await makeGroup(app, person.host, toCompanyId(company ?? '')) : null
  if (isCompanys) {
    await app.owner.query(
      'insert into group_user (company_id, group_id, user_id) values ($1, $2, $3)',
      [company, group, id]
    )
  }
  await app.owner.query(
    `insert into api_key (company_id, id, user_id, group_id, created_by, name, scopes, hash, hint,
       created_at, expires_at)
     values ($1, $2, $3, $4, $5, 'Scanner', $6, $7, $8, $9, $10)`,
    [
      ...[company, id, isCompanys ? id : person.id, group, person.id, scopes, digest, hint, now],
      new Date(now.getTime() + days * 86_400_000)
    ]
  )
  return { id, key }
}
