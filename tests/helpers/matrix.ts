import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import * as z from 'zod/mini'
import { endpoints, nonJsonEndpoints } from '../../src/contract/index.ts'
import {
  type Endpoint,
  type NonJsonEndpoint,
  pathParameters
} from '../../src/contract/kit/endpoint.ts'
import { commonErrorCodes, type ErrorCode, errorCodes } from '../../src/contract/kit/errors.ts'
import { decodeTokenPayload } from '../../src/core/keys/access-token.ts'
import { type Db, poolOf } from '../../src/server/db/open.ts'
import type { RawResponse, TestApp, TestPerson } from './app.ts'
import {
  domainIdOf,
  makeApiKey,
  makeAuditEntry,
  makeCategory,
  makeDataSource,
  makeDomain,
  makeGroup,
  makeImport,
  makeImportedRegister,
  makeImportToUseUp,
  makeInvitedPerson,
  makeRegisterImport,
  makeWaitingSignUp,
  type RefusalContext,
  type Refusals,
  type RouteCase,
  type RouteCases,
  type Thing,
  uploadBytes
} from './cases.ts'
import { publishAll } from './evidence/published-log.ts'
import { makePerson } from './mailed.ts'

/**
 * Every route of the contract by its name. The tests fail for a route without an entry in
 * `routeCases`.
 */
export const routes: Record<string, Endpoint | NonJsonEndpoint> = {
  ...endpoints,
  ...nonJsonEndpoints
}

interface Cases {
  rows: RouteCases
  refusals?: (stage: RefusalContext) => Refusals
}

const folder = join(import.meta.dirname, '../api')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
  file.endsWith('.cases.ts')
)
const nouns: Cases[] = await Promise.all(files.sort().map(file => import(join(folder, file))))

export const routeCases: Record<string, RouteCase> = Object.assign(
  {},
  ...nouns.map(noun => noun.rows)
)

/** Returns the functions of all nouns that provoke an error code. */
export function refusalsOf(stage: RefusalContext): Refusals {
  return Object.assign({}, ...nouns.map(noun => noun.refusals?.(stage)))
}

export function routeOf(name: string): Endpoint | NonJsonEndpoint {
  const route = routes[name]
  if (!route) throw new Error(`${name} is no route of the contract`)
  return route
}

export function routeCaseOf(name: string): RouteCase {
  const row = routeCases[name]
  if (!row) throw new Error(`${name} has no row in tests/api/<room>/<noun>.cases.ts`)
  return row
}

/**
 * Returns whether a route receives the bytes of a file. The server handles such routes outside
 * Hono.
 */
export function isUploadRoute(route: Endpoint | NonJsonEndpoint): boolean {
  return route.path.startsWith('/uploads/') || (route.kind === 'non-json' && route.method === 'PUT')
}

/** Returns all error codes with which a route may answer. */
export function possibleErrorCodesOf(route: Endpoint | NonJsonEndpoint): ErrorCode[] {
  return [...commonErrorCodes, ...route.errors]
}

/** Returns the error code of an answer, or undefined for an answer of success. */
export function errorCodeOf({ status, headers, body }: RawResponse): ErrorCode | undefined {
  if (status < 400 || body.length === 0) return undefined
  if (headers['content-type'] !== 'application/problem+json') return undefined
  const { code } = JSON.parse(body.toString())
  return code in errorCodes ? code : undefined
}

/** The status and the error code of an answer. The code is undefined for a success and for HEAD. */
export interface Outcome {
  status: number
  code: ErrorCode | undefined
}

export function outcomeOf(answer: RawResponse): Outcome {
  return { status: answer.status, code: errorCodeOf(answer) }
}

/**
 * Returns the outcome of a call that is refused with this code. If `route` is a HEAD, the outcome
 * has no code, because its response has no body.
 */
export function refusalOutcomeOf(code: ErrorCode, route?: Endpoint | NonJsonEndpoint): Outcome {
  return { status: errorCodes[code], code: route?.method === 'HEAD' ? undefined : code }
}

/** Returns the outcome of a valid call of the route `name`. */
export function successOutcomeOf(name: string): Outcome {
  const route = routeOf(name)
  const status = routeCaseOf(name).status ?? (route.kind === 'endpoint' ? route.status : 200)
  return { status, code: undefined }
}

/**
 * Returns an answer as text for comparisons. Leaves out the time and the request id, which differ
 * in every call, and the transfer encoding, which depends on timing.
 */
export function comparableText({ status, headers, body }: RawResponse): string {
  const framing = body.length > 0 ? ['content-length', 'transfer-encoding'] : []
  const dropped = ['date', ...framing]
  const kept = Object.entries(headers).filter(([name]) => !dropped.includes(name))
  const text = body.toString().replace(/"instance":"[\w-]{12}"/, '"instance":"…"')
  return JSON.stringify([status, kept.sort(), text])
}

/**
 * Returns the input fields that contain an id: path parameters and UUIDs. The tests check that the
 * row's `ids` lists each of them.
 */
export function idFieldsOf(route: Endpoint | NonJsonEndpoint): string[] {
  const schema = z.toJSONSchema(route.input, { io: 'input', unrepresentable: 'any' })
  const named = Object.entries(schema.properties ?? {})
    .filter(([, field]) => typeof field === 'object' && field.format === 'uuid')
    .map(([name]) => name)
  return [...new Set([...pathParameters(route.path), ...named])].sort()
}

/**
 * Returns the input fields that contain a list of ids. The tests check that the row's `idLists` has
 * each of them.
 */
export function idListFieldsOf(route: Endpoint | NonJsonEndpoint): string[] {
  const schema = z.toJSONSchema(route.input, { io: 'input', unrepresentable: 'any' })
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const { items } = Object(field)
    return Object(items).format === 'uuid' ? [name] : []
  })
}

/** Returns the fields that a valid call may omit. */
export function optionalFieldsOf(route: Endpoint | NonJsonEndpoint): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(route.input, {
    io: 'input',
    unrepresentable: 'any'
  })
  return Object.keys(properties).filter(name => !required.includes(name))
}

/**
 * Creates one thing of each kind, which belongs to the person or to the person's company. Returns
 * the ids of the things, and the fingerprint of the deposit.
 */
export async function makeThings(app: TestApp, person: TestPerson, name: string) {
  const bytes = randomBytes(500)
  const done = await app.deposit(person, bytes, name)
  await publishAll(app.deps, person.company)
  const { upload } = await app.reserve(person, uploadBytes, name)
  const open = await app.reserve(person, bytes, name)
  const company = app.companies[person.host] ?? ''
  await app.owner.query('insert into history_reading values ($1, gen_random_uuid(), now())', [
    company
  ])
  return {
    fingerprint: createHash('sha256').update(bytes).digest('hex'),
    record: done.deposit_id ?? '',
    request: done.id,
    session: sessionIdOf(person.token),
    'api key': (await makeApiKey(app, person)).id,
    'key owner': person.id,
    'company api key': (await makeApiKey(app, person, { isCompanys: true })).id,
    'open request': open.request.id,
    upload: upload.slice('/uploads/'.length),
    category: person.category,
    'company category': person.category,
    host: person.host,
    'data source': await makeDataSource(app.owner, app.companies[person.host]),
    domain: await domainIdOf(app.owner, person.host),
    member: (await makePerson(app, true)).id,
    'sign-up': await makeWaitingSignUp(app.owner, app.companies[person.host]),
    group: await makeGroup(app, person.host),
    import: await makeImport(app, person.host),
    'checked import': await makeImport(app, person.host, 'checked import'),
    'done import': await makeImport(app, person.host, 'done import'),
    register: await makeImportedRegister(app.owner, company),
    'register import': await makeRegisterImport(app.owner, company),
    'checked register import': await makeRegisterImport(
      app.owner,
      company,
      'checked register import'
    ),
    'done register import': await makeRegisterImport(app.owner, company, 'done register import'),
    company,
    'audit entry': await makeAuditEntry(app, person)
  } satisfies Record<Thing | 'fingerprint', string>
}

/**
 * Returns the input field with the id of the thing that the call uses up. Undefined if the call
 * uses up nothing, or a thing that its input does not name.
 */
export function usedUpIdFieldOf({ ids = {}, spends }: RouteCase): string | undefined {
  if (spends === 'person' || spends === 'session' || spends === 'suspension') return undefined
  return Object.keys(ids).find(field => ids[field] === spends) ?? (spends && 'id')
}

/**
 * Makes a thing in a company, of the kind that a call of this route uses up (`spends`). Returns the
 * id of the thing.
 */
export async function makeThingToUseUp(
  app: TestApp,
  { spends }: RouteCase,
  person: TestPerson,
  company = app.companies[person.host]
): Promise<string> {
  switch (spends) {
    case 'upload': {
      const { upload } = await app.reserve(person, uploadBytes, `${randomUUID()}.pdf`)
      return upload.slice('/uploads/'.length)
    }
    case 'another session':
      return sessionIdOf(await app.signIn(person))
    case 'api key':
    case 'company api key': {
      const isCompanys = spends === 'company api key'
      return (await makeApiKey(app, person, { isCompanys, company })).id
    }
    case 'group':
      return makeGroup(app, person.host, company)
    case 'member':
      return makeInvitedPerson(app.owner, company)
    case 'category':
      return makeCategory(app, person.host, { company })
    case 'data source':
      return makeDataSource(app.owner, company)
    case 'domain':
      return makeDomain(app.owner, company)
    case 'import':
    case 'checked import':
    case 'done import':
      return makeImportToUseUp(app, person.host, spends, company)
    case 'register import':
    case 'checked register import':
    case 'done register import':
      return makeRegisterImport(app.owner, company, spends)
    default:
      throw new Error(`a call uses up its ${spends} without naming it`)
  }
}

/** Returns the id of a token's session. */
export function sessionIdOf(token: string): string {
  return String(decodeTokenPayload(token)?.['sid'])
}

/**
 * Makes every person an administrator, so that calls of administrators can be tested like all
 * others.
 */
export async function makeAdmins(owner: pg.Pool): Promise<void> {
  await owner.query(`update "user" set permissions = '{admin}'`)
}

/** Makes everybody an administrator and an operator, so that they may make every call. */
export async function makeOperators(owner: pg.Pool): Promise<void> {
  await owner.query(`update "user" set permissions = '{admin,operator}'`)
}

/**
 * Returns the names of all tables (`all`), and of the tables whose rows belong to companies
 * (`tenant`).
 */
export function tablesOf(owner: pg.Pool): Promise<Tables> {
  const known = knownTables.get(owner) ?? readTables(owner)
  knownTables.set(owner, known)
  return known
}

interface Tables {
  all: string[]
  tenant: string[]
}

/** Cache of the tables of each database. It stays valid, because no test changes the schema. */
const knownTables = new WeakMap<pg.Pool, Promise<Tables>>()

async function readTables(owner: pg.Pool): Promise<Tables> {
  const { rows: found } = await owner.query<{ name: string; tenant: boolean }>(
    `select c.relname as name, a.attname is not null as tenant
       from pg_class c
       left join pg_attribute a
         on a.attrelid = c.oid and a.attname = 'company_id' and not a.attisdropped
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      order by 1`
  )
  return {
    all: found.map(row => row.name),
    tenant: found.filter(row => row.tenant).map(row => row.name)
  }
}

/**
 * Returns what a refused call must not change: the number of rows of every table, the charged usage
 * and a digest of all people.
 */
export async function summarizeDatabase(owner: pg.Pool): Promise<Record<string, number | string>> {
  const { all } = await tablesOf(owner)
  // an attempt counts toward its limit, also if it is refused
  const counts = all
    .filter(name => name !== 'rate_count')
    .map(name => `select '${name}' as name, count(*)::text as value from "${name}"`)
  const { rows: found } = await owner.query<{ name: string; value: string }>({
    // prepared, because planning it takes longer than running it
    name: 'snapshot',
    text: `${counts.join(' union all ')}
     union all select 'usage used', coalesce(sum(used), 0)::text from usage
     union all select 'usage reserved', coalesce(sum(reserved), 0)::text from usage
     union all select 'usage of people', coalesce(sum(used), 0)::text from user_usage
     union all select 'usage of days', coalesce(sum(deposits + verifications + failed), 0)::text from usage_day
     union all select 'people', md5(string_agg((to_jsonb(u) - 'last_seen_at')::text, '' order by id)) from "user" u
     union all select 'sequences', string_agg(event_seq::text, ' ' order by company_id) from log_head`
  })
  return Object.fromEntries(found.map(({ name, value }) => [name, value]))
}

/**
 * Returns one digest for each table, of all its rows that match an SQL condition. The digests leave
 * out the column `confirmed_until` of sessions, because `confirmSessions` changes it in all
 * companies, and `last_seen_at`, which a call of the reader itself moves once a minute.
 */
export async function digestRows(
  owner: pg.Pool,
  tables: string[],
  condition: string
): Promise<Record<string, string>> {
  const digests = tables.map(
    name => `select '${name}' as name,
                    count(*) || ' ' || coalesce(md5(string_agg(row, '|' order by row)), '') as digest
               from (select (to_jsonb(t) - '{confirmed_until,last_seen_at}'::text[])::text as row
                       from "${name}" t where ${condition}) as rows`
  )
  const { rows: found } = await owner.query<{ name: string; digest: string }>(
    digests.join(' union all ')
  )
  return Object.fromEntries(found.map(({ name, digest }) => [name, digest]))
}

/**
 * Adds a second company whose rows have the same ids as those of the first, but other values: names
 * are TWIN, sequence numbers start at 7,000,000, and active rows are disabled and vice versa. Its
 * rows come first in tables and indexes, so that a query without a condition on the company finds
 * them first.
 */
export async function addTwinCompany(owner: pg.Pool, company: string): Promise<void> {
  const twin = '00000000-0000-4000-8000-000000000000'
  const { tenant } = await tablesOf(owner)
  const client = await owner.connect()
  try {
    await client.query("begin; set local session_replication_role = 'replica'")
    await client.query(
      // later, because the oldest company is that of the installation
      `insert into company (id, name, created_at)
       select $2, 'TWIN', created_at + interval '1 day' from company where id = $1`,
      [company, twin]
    )
    for (const name of tenant) {
      const changes = twinChanges[name] ?? ''
      const columns = await writtenColumns(owner, name)
      await client.query(
        `insert into "${name}" (${columns}) select ${columns} from (select (jsonb_populate_record(t,
           jsonb_build_object('company_id', $2::text) ${changes && `|| ${changes}`})).*
         from "${name}" t where company_id = $1::uuid) twin`,
        [company, twin]
      )
      await client.query(`update "${name}" set company_id = company_id where company_id = $1`, [
        company
      ])
    }
    await client.query('commit')
  } finally {
    client.release()
  }
}

/** Returns a table's columns as a list in SQL, without those that PostgreSQL computes itself. */
async function writtenColumns(owner: pg.Pool, table: string): Promise<string> {
  const { rows: found } = await owner.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [`"${table}"`]
  )
  return found.map(column => column.name).join(', ')
}

const dead = `jsonb_build_object('reason', 'TWIN', 'since', '2020-01-01T00:00:00.000Z')`
const twinSeq = `jsonb_build_object('seq', 7000000 + t.seq)`
const twinChanges: Record<string, string> = {
  domain: `jsonb_build_object('host', 'twin.' || t.host, 'name', 'TWIN', 'title', 'TWIN',
             'quarantined_at', case when t.verified_at is null then '2020-01-01T00:00:00Z' end)`,
  user: `jsonb_build_object('username', 'TWIN', 'locale', 'fr', 'permissions', jsonb_build_array('TWIN'),
           'disabled', case when t.disabled is null then ${dead} end)`,
  signup: `jsonb_build_object('username', 'TWIN')`,
  email_change: `jsonb_build_object('email', 'TWIN')`,
  mail: `jsonb_build_object('email', 'TWIN')`,
  // an active session becomes an expired one that is not revoked, so that a sign-out which finds it
  // changes it
  session: `jsonb_build_object('revoked_at', null,
              'expires_at', case when t.revoked_at is null then t.created_at else t.expires_at end)`,
  api_key: `jsonb_build_object('name', 'TWIN', 'scopes', jsonb_build_array('TWIN'))`,
  group: `jsonb_build_object('name', 'TWIN ' || t.id, 'features', jsonb_build_array('TWIN'), 'max_requests', 7)`,
  category: `jsonb_build_object('names', jsonb_build_object('en', 'TWIN ' || t.id, 'fr', 'TWIN ' || t.id),
               'visibility', 'private')`,
  data_source: `jsonb_build_object('name', 'TWIN ' || t.id)`,
  usage: `jsonb_build_object('used', t.used + 7000000, 'reserved', t.reserved + 7000000)`,
  usage_day: `jsonb_build_object('deposits', t.deposits + 7000000, 'bytes', t.bytes + 7000000)`,
  user_usage: `jsonb_build_object('used', t.used + 7000000)`,
  log_head: `jsonb_build_object('origin', 'twin.' || t.origin, 'event_seq', t.event_seq + 7000000,
               'leaf_seq', t.leaf_seq + 7000000)`,
  log_state: `jsonb_build_object('origin', 'twin.' || t.origin, 'published_size', t.published_size + 7000000)`,
  log_checkpoint: `jsonb_build_object('size', t.size + 7000000, 'note', 'TWIN')`,
  audit_head: `jsonb_build_object('hash', '\\x${'77'.repeat(32)}')`,
  audit_entry: `jsonb_build_object('action', 'TWIN', 'hash', '\\x${'77'.repeat(32)}')`,
  audit_value: `jsonb_build_object('changes', 'TWIN')`,
  history_reading: `jsonb_build_object('entered_at', '2020-01-01T00:00:00Z')`,
  request: `${twinSeq} || jsonb_build_object('facts', t.facts || '{"name": "TWIN"}'::jsonb)`,
  event: `${twinSeq} || jsonb_build_object('payload', t.payload || '{"name": "TWIN"}'::jsonb)`,
  upload: `jsonb_build_object('name', 'TWIN', 'size', t.size + 7000000)`,
  blob: `jsonb_build_object('size', t.size + 7000000)`,
  deposit: `jsonb_build_object('visibility', 'private', 'recorded_at', '2020-01-01T00:00:00Z')`,
  deposit_opening: `jsonb_build_object('sealed', '\\x00')`,
  log_leaf: `jsonb_build_object('idx', 7000000 + t.idx, 'leaf', 'TWIN', 'hash', '\\x${'77'.repeat(32)}')`,
  import: `jsonb_build_object('file_name', 'TWIN', 'row_count', t.row_count + 7000000)`,
  import_row: `jsonb_build_object('cells', '{"email": "TWIN"}'::jsonb, 'username', 'TWIN')`,
  idempotency: `jsonb_build_object('fingerprint', '\\x00', 'body', '{"id": "TWIN"}'::jsonb)`
}

/** Switches off row level security, to test that the queries alone isolate companies. */
export async function dropRowSecurity(owner: pg.Pool): Promise<void> {
  for (const name of ['company', ...(await tablesOf(owner)).tenant]) {
    await owner.query(`alter table "${name}" no force row level security`)
    await owner.query(`alter table "${name}" disable row level security`)
  }
}

const predicate =
  /((?:"?\w+"?\.)?"?company_id"?)\s*=\s*(\$\d+|(?:"?\w+"?\.)?"?company_id"?)(?:::uuid)?/g
const companyJoin = /company\.id = (?:session|api_key)\.company_id/g

/**
 * Removes the conditions on the company from a statement: `… where "company_id" = $2 and …` → `…
 * where ($2::uuid is not null) and …`
 */
export function withoutCompanyConditions(sql: string): string {
  return sql
    .replace(companyJoin, 'true')
    .replace(predicate, (_all, _column, other: string) =>
      other.startsWith('$') ? `(${other}::uuid is not null)` : 'true'
    )
}

/**
 * Removes the conditions on `company_id` from every statement of the pool, to test that row level
 * security alone isolates companies. In the result, `stripped()` returns the number of statements
 * changed so far, and `texts` has the original text of all statements.
 */
export function stripCompanyConditions(db: Db): { stripped: () => number; texts: Set<string> } {
  const wrapped = new WeakSet<pg.PoolClient>()
  const texts = new Set<string>()
  let count = 0
  poolOf(db).on('acquire', client => {
    if (wrapped.has(client)) return
    wrapped.add(client)
    const query = client.query.bind(client) as (config: unknown) => unknown // as: one of its overloads
    const weak = (config: string | pg.QueryConfig) => {
      if (typeof config === 'string') return query(config)
      const text = withoutCompanyConditions(config.text)
      texts.add(config.text)
      if (text === config.text) return query(config)
      count++
      // a prepared statement of the full text may carry the name already
      return query({ ...config, text, name: config.name && `${config.name}-weak` })
    }
    client.query = weak as typeof client.query // as: the scope sends texts and configs only
  })
  return { stripped: () => count, texts }
}
