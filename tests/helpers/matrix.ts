import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type pg from 'pg'
import * as z from 'zod/mini'
import {
  type Endpoint,
  pathParameters,
  type Stream,
  takesBody
} from '../../src/contract/endpoint.ts'
import { commonErrors, type ErrorCode, errorCodes } from '../../src/contract/errors.ts'
import { endpoints, streams } from '../../src/contract/index.ts'
import { getChallenge } from '../../src/contract/sessions.ts'
import { readPayload } from '../../src/core/keys/access-token.ts'
import { type Db, poolOf } from '../../src/server/db/open.ts'
import { createSetupCode } from '../../src/server/domain/installation/setup.ts'
import type { RawRequest, RawResponse, TestApp, TestPerson } from './app.ts'
import { makeKeys } from './keys.ts'
import { mailToken, makeEmailChange, makePerson, makeSignUp, proofFor } from './mailed.ts'

/** Every route of the contract by its name; a route without a row below fails the tests. */
export const routes: Record<string, Endpoint | Stream> = { ...endpoints, ...streams }

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

interface Row {
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

export const uploadBytes = Buffer.alloc(64, 'matrix')
const uploadDigest = createHash('sha256').update(uploadBytes).digest('hex')
const tus = { 'tus-resumable': '1.0.0' }

const historyFilter = {
  kind: 'deposit',
  state: 'done',
  q: 'own',
  from: '2020-01-01T00:00:00Z',
  to: '2100-01-01T00:00:00+01:00'
}

const policyReport = {
  type: 'csp-violation',
  body: { effectiveDirective: 'script-src-elem', documentURL: 'http://acme.localhost/en' }
}

export const rows: Record<string, Row> = {
  getUser: {},
  updateUser: { input: () => ({ username: 'Ada King', locale: 'en' }) },
  createUser: { input: signUpInput },
  changeKey: { input: changeKeyInput, proves: 'challenge_invalid' },
  readLink: { input: readLinkInput },
  verifyEmail: { input: verifyEmailInput },
  sendVerification: {},
  activateUser: { input: activateUserInput },
  requestReset: { input: () => ({ email: `person-${randomUUID()}@example.com` }) },
  resetKey: { input: resetKeyInput },
  changeEmail: { input: changeEmailInput, proves: 'challenge_invalid' },
  confirmEmail: {
    input: async (app, person) => ({ token: await makeEmailChange(app, person) }),
    proves: 'mail_token_invalid'
  },
  deleteUser: { input: deleteUserInput, proves: 'challenge_invalid', spends: 'person' },
  resendInvitation: { ids: { id: 'member' }, shared: true },
  disableUser: { input: () => ({ reason: 'left' }), ids: { id: 'member' }, shared: true },
  enableUser: { ids: { id: 'member' }, shared: true },
  getChallenge: { input: () => ({ email: 'ada@example.com', purpose: 'login' }) },
  logIn: { input: logInInput },
  logOut: { input: () => ({ all: false }), spends: 'session' },
  listSessions: {},
  endSession: { ids: { id: 'session' }, spends: 'another session' },
  getExport: { ids: { cursor: 'request' } },
  listCategories: {},
  createDeposit: {
    input: depositInput,
    ids: { category: 'category' },
    headers: () => ({ 'idempotency-key': randomUUID() }),
    refusal: 'category_unknown',
    shared: true
  },
  putDeposit: {
    input: () => ({ name: 'matrix.pdf', media_type: 'application/pdf' }),
    ids: { category: 'category' },
    headers: () => ({ 'idempotency-key': randomUUID() }),
    body: uploadBytes,
    status: 201,
    refusal: 'category_unknown',
    shared: true
  },
  getDeposit: { ids: { id: 'record' } },
  createContentLink: { ids: { id: 'record' } },
  listRequests: {
    input: () => ({ scope: 'own', limit: 10, ...historyFilter }),
    ids: { cursor: 'request', category: 'category' }
  },
  exportRequests: {
    input: () => ({ locale: 'fr', ...historyFilter }),
    ids: { category: 'category' },
    shared: true
  },
  getRequest: { ids: { id: 'request' } },
  getOpenUpload: { ids: { id: 'open request' } },
  verify: { input: () => ({ items: [{ sha256: uploadDigest }] }) },
  getHealth: {},
  getSetup: { input: reopenSetup },
  getDemo: { input: () => ({}) },
  createOperator: { input: operatorInput },
  getOpenApi: {},
  getDocs: { status: 302 },
  updateDomain: {
    input: () => ({
      name: 'Acme documents',
      title: 'Acme',
      public: true,
      locale: 'en',
      colors: {
        dark: false,
        background: '#ffffff',
        surface: '#f4f4f4',
        primary: '#114488',
        secondary: '#335577',
        success: '#116633',
        warning: '#996600',
        error: '#aa2222',
        info: '#225588'
      },
      logo: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      favicon: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      contact: 'help@acme.example',
      privacy: 'https://acme.example/privacy',
      terms: 'https://acme.example/terms'
    }),
    ids: { id: 'domain' },
    shared: true
  },
  getDomainConfig: { ids: { domain: 'host' }, refusal: 'unknown_domain', shared: true },
  getDepositContent: { ids: { id: 'record' } },
  headUpload: { ids: { id: 'upload' }, headers: () => tus, malformed: 'not_found' },
  patchUpload: {
    ids: { id: 'upload' },
    headers: () => ({
      ...tus,
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream'
    }),
    body: uploadBytes,
    status: 204,
    malformed: 'not_found',
    spends: 'upload'
  },
  deleteUpload: {
    ids: { id: 'upload' },
    headers: () => tus,
    status: 204,
    malformed: 'not_found',
    spends: 'upload'
  },
  streamRequests: {},
  reportPolicy: {
    headers: () => ({ 'content-type': 'application/reports+json' }),
    body: Buffer.from(JSON.stringify([policyReport])),
    status: 204
  }
}

export function routeOf(name: string): Endpoint | Stream {
  const route = routes[name]
  if (!route) throw new Error(`${name} is no route of the contract`)
  return route
}

export function rowOf(name: string): Row {
  const row = rows[name]
  if (!row) throw new Error(`${name} has no row in tests/helpers/matrix.ts`)
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

async function signUpInput(app: TestApp): Promise<object> {
  const host = 'acme.localhost'
  const email = `person-${randomUUID()}@example.com`
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  const public_key_jwt = makeKeys().publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  return { email, username: 'Ada', public_key_jwt, locale: 'fr' }
}

/** As if nobody had been made an operator yet. */
async function reopenSetup(app: TestApp): Promise<object> {
  await app.owner.query(`update "user" set permissions = '{}' where 'operator' = any (permissions)`)
  return {}
}

async function operatorInput(app: TestApp): Promise<object> {
  await reopenSetup(app)
  const { code } = (await createSetupCode(app.deps)) ?? {}
  return { ...(await signUpInput(app)), code, company: 'Acme', demo: 'keep' }
}

async function logInInput(app: TestApp, { host, email, keys }: TestPerson): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email })
  return { email, challenge_response: keys.respond(challenge), device: 'none' }
}

/** The same key again, so that the person can go on to sign in. */
async function changeKeyInput(app: TestApp, { host, email, keys }: TestPerson): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  const proof = { aud: host, email, purpose: 'rekey', nonce: challenge } as const
  return {
    challenge_response: keys.respond(challenge),
    public_key_jwt: keys.publicKeyJwt(proof)
  }
}

async function readLinkInput(app: TestApp): Promise<object> {
  return { token: await mailToken(app, 'verify', await makeSignUp(app)), purpose: 'verify' }
}

async function verifyEmailInput(app: TestApp): Promise<object> {
  const waiting = await makeSignUp(app)
  const token = await mailToken(app, 'verify', waiting)
  const public_key_jwt = await proofFor(app, 'verify', { ...waiting, token })
  return { token, public_key_jwt, username: 'Ada' }
}

async function activateUserInput(app: TestApp): Promise<object> {
  const invited = await makePerson(app, true)
  const token = await mailToken(app, 'activate', invited)
  const public_key_jwt = await proofFor(app, 'activate', { ...invited, token })
  return { token, username: 'Ada', public_key_jwt, locale: 'fr' }
}

async function resetKeyInput(app: TestApp): Promise<object> {
  const person = await makePerson(app)
  const token = await mailToken(app, 'reset', person)
  return { token, public_key_jwt: await proofFor(app, 'reset', { ...person, token }) }
}

async function changeEmailInput(app: TestApp, person: TestPerson): Promise<object> {
  const { host, email: present, keys } = person
  const email = `person-${randomUUID()}@example.com`
  const { challenge: nonce } = await app.call(host, getChallenge, {
    email: present,
    purpose: 'rekey'
  })
  const public_key_jwt = makeKeys().publicKeyJwt({ aud: host, email, purpose: 'email', nonce })
  return { email, challenge_response: keys.respond(nonce), public_key_jwt }
}

async function deleteUserInput(app: TestApp, { host, email, keys }: TestPerson): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  return { challenge_response: keys.respond(challenge) }
}

function depositInput(): object {
  const picture = { bytes: uploadBytes.length, w: 4, h: 4, type: 'image/jpeg' }
  return {
    name: 'matrix.jpg',
    size: uploadBytes.length,
    media_type: 'image/jpeg',
    original: 'ab'.repeat(32),
    stored: uploadDigest,
    again: true,
    transform: {
      kind: 'image-recompress',
      quality: 70,
      tool: 'vidimus/1 canvas',
      from: { ...picture, bytes: 3_000_000 },
      to: picture
    }
  }
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

export async function domainOf(owner: pg.Pool, host: string): Promise<string> {
  const { rows: found } = await owner.query('select id from domain where host = $1', [host])
  return found[0].id
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
