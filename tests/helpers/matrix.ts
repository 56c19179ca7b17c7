import { createHash, randomBytes } from 'node:crypto'
import type pg from 'pg'
import * as z from 'zod/mini'
import { type Endpoint, pathParameters, type Stream } from '../../src/contract/endpoint.ts'
import { commonErrors, type ErrorCode, errorCodes } from '../../src/contract/errors.ts'
import { endpoints, streams } from '../../src/contract/index.ts'
import { readPayload } from '../../src/core/keys/access-token.ts'
import { type Db, poolOf } from '../../src/server/db/open.ts'
import * as accounts from '../api/accounts.cases.ts'
import * as categories from '../api/categories.cases.ts'
import * as cspReports from '../api/csp-reports.cases.ts'
import * as deposits from '../api/deposits.cases.ts'
import * as docs from '../api/docs.cases.ts'
import * as domains from '../api/domains.cases.ts'
import * as exports from '../api/exports.cases.ts'
import * as health from '../api/health.cases.ts'
import * as members from '../api/members.cases.ts'
import * as requests from '../api/requests.cases.ts'
import * as sessions from '../api/sessions.cases.ts'
import * as setup from '../api/setup.cases.ts'
import * as users from '../api/users.cases.ts'
import * as verifications from '../api/verifications.cases.ts'
import type { RawResponse, TestApp, TestPerson } from './app.ts'
import { type Refusals, type Row, type Rows, type Stage, uploadBytes } from './cases.ts'

/** Every route of the contract by its name; a route without a row in its noun's cases fails the tests. */
export const routes: Record<string, Endpoint | Stream> = { ...endpoints, ...streams }

/** The cases of each noun, which stand beside its tests. */
const nouns: { rows: Rows; refusals?: (stage: Stage) => Refusals }[] = [
  accounts,
  categories,
  cspReports,
  deposits,
  docs,
  domains,
  exports,
  health,
  members,
  requests,
  sessions,
  setup,
  users,
  verifications
]

export const rows: Record<string, Row> = Object.assign({}, ...nouns.map(noun => noun.rows))

/** Returns how each code that a route lists comes about. */
export function refusalsOf(stage: Stage): Refusals {
  return Object.assign({}, ...nouns.map(noun => noun.refusals?.(stage)))
}

export function routeOf(name: string): Endpoint | Stream {
  const route = routes[name]
  if (!route) throw new Error(`${name} is no route of the contract`)
  return route
}

export function rowOf(name: string): Row {
  const row = rows[name]
  if (!row) throw new Error(`${name} has no row in tests/api/<noun>.cases.ts`)
  return row
}

/** Served beside the others, on Node's own request: the bytes of a file. */
export function isUpload(route: Endpoint | Stream): boolean {
  return route.path.startsWith('/uploads/') || (route.kind === 'stream' && route.method === 'PUT')
}

/** Codes that a route may answer. */
export function codesOf(route: Endpoint | Stream): ErrorCode[] {
  return [...commonErrors, ...route.errors]
}

/** The code of a refusal, or `undefined` where the answer is none. */
export function codeOf({ status, headers, body }: RawResponse): ErrorCode | undefined {
  if (status < 400 || body.length === 0) return undefined
  if (headers['content-type'] !== 'application/problem+json') return undefined
  const { code } = JSON.parse(body.toString())
  return code in errorCodes ? code : undefined
}

/** An answer without what differs from call to call: the time and the request's own id. */
export function comparable({ status, headers, body }: RawResponse): string {
  const kept = Object.entries(headers).filter(([name]) => name !== 'date')
  const text = body.toString().replace(/"instance":"[\w-]{12}"/, '"instance":"…"')
  return JSON.stringify([status, kept.sort(), text])
}

/**
 * Fields of an input that name something, found by their form: path parameters and UUIDs. Each must
 * stand in its row's `ids`.
 */
export function idFieldsOf(route: Endpoint | Stream): string[] {
  const schema = z.toJSONSchema(route.input, { io: 'input', unrepresentable: 'any' })
  const named = Object.entries(schema.properties ?? {})
    .filter(([, field]) => typeof field === 'object' && field.format === 'uuid')
    .map(([name]) => name)
  return [...new Set([...pathParameters(route.path), ...named])].sort()
}

/** Fields that a good call may leave out. */
export function optionalFieldsOf(route: Endpoint | Stream): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(route.input, {
    io: 'input',
    unrepresentable: 'any'
  })
  return Object.keys(properties).filter(name => !required.includes(name))
}

/** A recorded deposit with its ids, and two uploads left open. */
export async function makeThings(app: TestApp, person: TestPerson, name: string) {
  const bytes = randomBytes(500)
  const done = await app.deposit(person, bytes, name)
  const { upload } = await app.reserve(person, uploadBytes, name)
  const open = await app.reserve(person, bytes, name)
  return {
    fingerprint: createHash('sha256').update(bytes).digest('hex'),
    record: done.deposit_id ?? '',
    request: done.id,
    session: sessionOf(person.token),
    'open request': open.request.id,
    upload: upload.slice('/uploads/'.length)
  }
}

/** Id of the session that a token belongs to. */
export function sessionOf(token: string): string {
  return String(readPayload(token)?.['sid'])
}

/** Everybody may do what administrators may, so that calls of theirs are tried as all others. */
export async function makeAdmins(owner: pg.Pool): Promise<void> {
  await owner.query(`update "user" set permissions = '{admin}'`)
}

/** Names of all tables, and of those that hold rows of companies. */
export async function tablesOf(owner: pg.Pool): Promise<{ all: string[]; tenant: string[] }> {
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

/** What a refused call must leave as it was: rows of every table, and what is charged. */
export async function snapshot(owner: pg.Pool): Promise<Record<string, number | string>> {
  const { all } = await tablesOf(owner)
  const counts = all.map(name => `select '${name}' as name, count(*)::text as value from "${name}"`)
  const { rows: found } = await owner.query<{ name: string; value: string }>(
    `${counts.join(' union all ')}
     union all select 'usage used', coalesce(sum(used), 0)::text from usage
     union all select 'usage reserved', coalesce(sum(reserved), 0)::text from usage
     union all select 'usage of people', coalesce(sum(used), 0)::text from user_usage
     union all select 'people', md5(string_agg(u::text, '' order by id)) from "user" u
     union all select 'sequences', string_agg(event_seq::text, ' ' order by company_id) from log_head`
  )
  return Object.fromEntries(found.map(({ name, value }) => [name, value]))
}

/** One digest over all rows that satisfy a condition, table by table. */
export async function digestRows(
  owner: pg.Pool,
  tables: string[],
  condition: string
): Promise<Record<string, string>> {
  const digests: Record<string, string> = {}
  for (const name of tables) {
    const { rows: found } = await owner.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as digest
         from "${name}" t where ${condition}`
    )
    digests[name] = found[0]?.digest ?? ''
  }
  return digests
}

/**
 * A second company with every id of the first and nothing else in common: names say TWIN, sequences
 * start at 7,000,000, what lives there is dead and the other way round. Its rows come first, in tables
 * and in indexes, so whatever reads past its company meets them.
 */
export async function addTwin(owner: pg.Pool, company: string): Promise<void> {
  const twin = '00000000-0000-4000-8000-000000000000'
  const { tenant } = await tablesOf(owner)
  const client = await owner.connect()
  try {
    await client.query("begin; set local session_replication_role = 'replica'")
    await client.query(
      // later, because the oldest company is the installation's own
      `insert into company (id, name, created_at)
       select $2, 'TWIN', created_at + interval '1 day' from company where id = $1`,
      [company, twin]
    )
    for (const name of tenant) {
      const changes = twinChanges[name] ?? ''
      await client.query(
        `insert into "${name}" select (jsonb_populate_record(t,
           jsonb_build_object('company_id', $2::text) ${changes && `|| ${changes}`})).*
         from "${name}" t where company_id = $1::uuid`,
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

const dead = `jsonb_build_object('reason', 'TWIN', 'since', '2020-01-01T00:00:00.000Z')`
const twinSeq = `jsonb_build_object('seq', 7000000 + t.seq)`
const twinChanges: Record<string, string> = {
  domain: `jsonb_build_object('host', 'twin.' || t.host, 'name', 'TWIN', 'title', 'TWIN')`,
  user: `jsonb_build_object('username', 'TWIN', 'locale', 'fr', 'permissions', jsonb_build_array('TWIN'),
           'disabled', case when t.disabled is null then ${dead} end)`,
  signup: `jsonb_build_object('username', 'TWIN')`,
  email_change: `jsonb_build_object('email', 'TWIN')`,
  mail: `jsonb_build_object('email', 'TWIN')`,
  // a live one has run out but is not revoked, so that a sign-out which meets it leaves a trace
  session: `jsonb_build_object('revoked_at', null,
              'expires_at', case when t.revoked_at is null then t.created_at else t.expires_at end)`,
  group: `jsonb_build_object('name', 'TWIN', 'features', jsonb_build_array('TWIN'), 'max_requests', 7)`,
  category: `jsonb_build_object('names', jsonb_build_object('en', 'TWIN', 'fr', 'TWIN'),
               'visibility', 'private')`,
  usage: `jsonb_build_object('used', t.used + 7000000, 'reserved', t.reserved + 7000000)`,
  user_usage: `jsonb_build_object('used', t.used + 7000000)`,
  log_head: `jsonb_build_object('origin', 'twin.' || t.origin, 'event_seq', t.event_seq + 7000000)`,
  audit_head: `jsonb_build_object('hash', '\\x${'77'.repeat(32)}')`,
  audit_entry: `jsonb_build_object('action', 'TWIN', 'hash', '\\x${'77'.repeat(32)}')`,
  audit_value: `jsonb_build_object('changes', 'TWIN')`,
  request: `${twinSeq} || jsonb_build_object('facts', t.facts || '{"name": "TWIN"}'::jsonb)`,
  event: `${twinSeq} || jsonb_build_object('payload', t.payload || '{"name": "TWIN"}'::jsonb)`,
  upload: `jsonb_build_object('name', 'TWIN', 'size', t.size + 7000000)`,
  blob: `jsonb_build_object('size', t.size + 7000000)`,
  deposit: `jsonb_build_object('visibility', 'private', 'recorded_at', '2020-01-01T00:00:00Z')`,
  deposit_opening: `jsonb_build_object('sealed', '\\x00')`,
  log_leaf: `${twinSeq} || jsonb_build_object('leaf', 'TWIN', 'hash', '\\x${'77'.repeat(32)}')`,
  idempotency: `jsonb_build_object('fingerprint', '\\x00', 'body', '{"id": "TWIN"}'::jsonb)`
}

/** Takes the database's own layer away, as if somebody had forgotten it. */
export async function dropRowSecurity(owner: pg.Pool): Promise<void> {
  for (const name of ['company', ...(await tablesOf(owner)).tenant]) {
    await owner.query(`alter table "${name}" no force row level security`)
    await owner.query(`alter table "${name}" disable row level security`)
  }
}

const predicate =
  /((?:"?\w+"?\.)?"?company_id"?)\s*=\s*(\$\d+|(?:"?\w+"?\.)?"?company_id"?)(?:::uuid)?/g
const companyJoin = /"company"\."id" = "session"\."company_id"/g

/** `… where "company_id" = $2 and …` → `… where ($2::uuid is not null) and …` */
export function withoutPredicates(sql: string): string {
  return sql
    .replace(companyJoin, 'true')
    .replace(predicate, (_all, _column, other: string) =>
      other.startsWith('$') ? `(${other}::uuid is not null)` : 'true'
    )
}

/**
 * Takes the queries' own layer away: every statement of the pool loses its `company_id` predicates.
 * Answers how many statements have lost one so far, and all texts as they were before.
 */
export function stripPredicates(db: Db): { stripped: () => number; texts: Set<string> } {
  const wrapped = new WeakSet<pg.PoolClient>()
  const texts = new Set<string>()
  let count = 0
  poolOf(db).on('acquire', client => {
    if (wrapped.has(client)) return
    wrapped.add(client)
    const query = client.query.bind(client) as (config: unknown) => unknown // as: one of its overloads
    const weak = (config: string | pg.QueryConfig) => {
      if (typeof config === 'string') return query(config)
      const text = withoutPredicates(config.text)
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
