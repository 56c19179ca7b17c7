import { generateKeyPairSync, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { disabledBy } from '../../contract/disabled.ts'
import { AppError } from '../../contract/errors.ts'
import type { Session } from '../../contract/sessions.ts'
import { splitResponse } from '../../core/challenge.ts'
import { PublicKeyJwk } from '../../core/public-key-jwt.ts'
import type { DisabledMark } from '../db/schema.ts'
import { inCompany, inCompanyOnce, type Tx } from '../db/scope.ts'
import { readChallenge, spendChallenge, spentRow } from './challenges.ts'
import type { CompanyId, Deps, Keys, Tenant } from './deps.ts'
import { newId } from './ids.ts'
import { type Counted, consume, type LimitName, networkOf, refund } from './limits.ts'
import { type SealedKey, sealPublicKey, verifiesSealed } from './public-keys.ts'
import { issueToken, readToken, tokenEnd, tokenMinutes } from './tokens.ts'

/** Who makes a call, read afresh for each one. */
export interface Person {
  id: string
  session_id: string
  company_id: CompanyId
  /** The e-mail is not confirmed yet. */
  pending: boolean
  permissions: string[]
  token_expires: Date
  session_expires: Date
}

const sessionHours = 12

/** A poll renews the token once no more than this is left, so a session is written to three times an hour. */
const renewMinutes = 40

/**
 * The person of a token. `unauthenticated` for every token that is bad, another host's, revoked or
 * older than a sign-out everywhere; `account_disabled` for a person or company switched off.
 */
export async function authenticate(
  deps: Pick<Deps, 'db' | 'keys' | 'clock'>,
  tenant: Tenant,
  token: string
): Promise<Person> {
  const claims = await readToken(deps, tenant, token)
  const { company_id } = tenant
  const found = await findSession(deps, { company_id, ...claims })
  if (!found) throw new AppError('unauthenticated', 'The session has ended')
  refuseDisabled('company', found.company_disabled)
  refuseDisabled('user', found.user_disabled)
  return {
    id: claims.user_id,
    session_id: claims.session_id,
    company_id,
    pending: claims.pending,
    permissions: found.permissions,
    token_expires: claims.expires,
    session_expires: found.expires_at
  }
}

export type Standing = 'valid' | 'ended' | 'disabled'

/** How the holder of a session stands by now. */
export async function standing(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: Person
): Promise<Standing> {
  const standings = await standingsOf(deps, person.company_id, [person])
  return standings.get(person) ?? 'ended'
}

/** The same for many people of a company, who are looked up together. */
export async function standingsOf<Holder extends Person>(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId,
  people: Holder[]
): Promise<Map<Holder, Standing>> {
  const ids = [...new Set(people.map(({ session_id }) => session_id))]
  const rows = await inCompanyOnce(deps.db, company_id, tx =>
    sessionsOf(tx).where('session.id', '=', sql<string>`any(${ids}::uuid[])`).execute()
  )
  const now = deps.clock()
  const live = new Map(rows.filter(row => isLive(row, now)).map(row => [row.id, row]))
  const standingOf = ({ id, session_id, token_expires }: Person): Standing => {
    const session = live.get(session_id)
    if (token_expires <= now || session?.user_id !== id) return 'ended'
    return session.company_disabled || session.user_disabled ? 'disabled' : 'valid'
  }
  return new Map(people.map(person => [person, standingOf(person)]))
}

/** A token for another hour, once the one of the call is near its end; never beyond the session's. */
export async function renewToken(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random'>,
  { tenant, person }: { tenant: Tenant; person: Person }
): Promise<string | undefined> {
  const now = deps.clock()
  const expires = tokenEnd(now, person.session_expires)
  const left = person.token_expires.getTime() - now.getTime()
  const gained = expires.getTime() - person.token_expires.getTime()
  if (left > renewMinutes * 60_000 || gained < 1000) return undefined
  const session = await inCompany(deps.db, person.company_id, tx =>
    tx
      .updateTable('session')
      .set({ last_seen_at: now })
      .where('company_id', '=', person.company_id)
      .where('id', '=', person.session_id)
      .where('revoked_at', 'is', null)
      .returning('created_at')
      .executeTakeFirst()
  )
  if (!session) return undefined
  return issueToken(deps, tenant, {
    user_id: person.id,
    session_id: person.session_id,
    pending: person.pending,
    signedIn: session.created_at,
    expires
  })
}

interface LogIn {
  tenant: Tenant
  /** In canonical form. */
  email: string
  challenge_response: string
  /** What an earlier login on the same browser answered. */
  device: string | undefined
  address: string
  /** The browser's `User-Agent`. */
  agent: string
}

/** One session for one answered challenge. Every failure looks the same, whoever exists. */
export async function logIn(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log'>,
  input: LogIn
): Promise<{ access_token: string; device: string }> {
  const { tenant, email, address } = input
  const { company_id } = tenant
  await consume(deps, 'sign_in_address', [company_id, networkOf(address)])
  const response = splitResponse(input.challenge_response)
  const challenge =
    response && readChallenge(deps, { ...response, tenant, email, purpose: 'login' })
  if (!response || !challenge) throw loginFailed(deps, input)
  const outcome = await inCompany(deps.db, company_id, async tx => {
    const account = await findAccount(tx, company_id, email)
    const counted = failureLimits(deps, input, account?.user_id)
    // counted before the check, so that guesses in parallel count too
    for (const [name, key] of counted) await consume(deps, name, key)
    const user_id = holderOf(deps.keys, account, response)
    if (user_id === undefined || !account) return undefined
    const { disabled } = account
    const done = disabled
      ? (await spendChallenge(tx, company_id, challenge)) && { disabled }
      : await createSession(tx, deps, input, account, challenge)
    if (done) for (const [name, key] of counted) await refund(deps, name, key)
    return done
  })
  if (!outcome) throw loginFailed(deps, input)
  if ('disabled' in outcome) throw accountDisabled('user', outcome.disabled)
  const { user_id } = outcome
  deps.log.info({ audit: 'login_ok', company: company_id, user: user_id }, 'signed in')
  const access_token = await issueToken(deps, tenant, {
    user_id,
    session_id: outcome.session_id,
    pending: false,
    signedIn: outcome.created_at,
    expires: tokenEnd(outcome.created_at, outcome.expires_at)
  })
  return { access_token, device: createDevice(deps, company_id, user_id) }
}

/** Ends the session, or all of the person; their streams close. */
export async function logOut(
  deps: Pick<Deps, 'db' | 'clock' | 'wakes'>,
  { person, all }: { person: Person; all: boolean }
): Promise<void> {
  const { company_id, id, session_id } = person
  const now = deps.clock()
  await inCompany(deps.db, company_id, async tx => {
    let ended = tx
      .updateTable('session')
      .set({ revoked_at: now })
      .where('company_id', '=', company_id)
      .where('user_id', '=', id)
      .where('revoked_at', 'is', null)
    if (all) {
      // ends a session too that another call is just creating
      await tx
        .updateTable('user')
        .set({ tokens_valid_after: now })
        .where('company_id', '=', company_id)
        .where('id', '=', id)
        .execute()
    } else ended = ended.where('id', '=', session_id)
    await ended.execute()
    tx.afterCommit(() => deps.wakes.sessions.send({ company: company_id, user: id }))
  })
}

const maxListed = 100

/** Where the person is signed in now; the session of the call first. */
export async function listSessions(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: Person
): Promise<Session[]> {
  return inCompany(deps.db, person.company_id, tx => readSessions(tx, deps, person))
}

export async function readSessions(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { company_id, id, session_id }: Person
): Promise<Session[]> {
  const now = deps.clock()
  // a token is renewed within the hour, or its session has no living one left
  const lastSeen = new Date(now.getTime() - tokenMinutes * 60_000)
  const rows = await tx
    .selectFrom('session')
    .innerJoin('user', join =>
      join
        .onRef('user.company_id', '=', 'session.company_id')
        .onRef('user.id', '=', 'session.user_id')
    )
    .where('session.company_id', '=', company_id)
    .where('session.user_id', '=', id)
    .where('session.revoked_at', 'is', null)
    .where('session.expires_at', '>', now)
    .where('session.last_seen_at', '>', lastSeen)
    .whereRef('session.created_at', '>=', 'user.tokens_valid_after')
    .select(['session.id', 'session.agent', 'session.created_at', 'session.last_seen_at'])
    .orderBy(query => query('session.id', '=', session_id), 'desc')
    .orderBy('session.last_seen_at', 'desc')
    .orderBy('session.id', 'desc')
    .limit(maxListed)
    .execute()
  return rows.map(row => ({
    id: row.id,
    agent: row.agent,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    current: row.id === session_id
  }))
}

/** Ends one session of the person, in this browser or another; its streams close. */
export async function endSession(
  deps: Pick<Deps, 'db' | 'clock' | 'wakes'>,
  { person, session_id }: { person: Person; session_id: string }
): Promise<void> {
  const { company_id, id } = person
  await inCompany(deps.db, company_id, async tx => {
    const ended = await tx
      .updateTable('session')
      .set({ revoked_at: deps.clock() })
      .where('company_id', '=', company_id)
      .where('user_id', '=', id)
      .where('id', '=', session_id)
      .where('revoked_at', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (!ended) throw new AppError('not_found', 'No such session')
    tx.afterCommit(() => deps.wakes.sessions.send({ company: company_id, user: id }))
  })
}

/** Forgets sessions a month after their end. */
export async function forgetSessions(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  const before = new Date(deps.clock().getTime() - 30 * 86_400_000)
  await inCompany(deps.db, company_id, tx =>
    tx
      .deleteFrom('session')
      .where('company_id', '=', company_id)
      .where('expires_at', '<', before)
      .execute()
  )
}

async function findSession(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    company_id,
    user_id,
    session_id
  }: { company_id: CompanyId; user_id: string; session_id: string }
) {
  const found = await inCompanyOnce(deps.db, company_id, tx =>
    sessionsOf(tx)
      .where('session.id', '=', session_id)
      .where('session.user_id', '=', user_id)
      .executeTakeFirst()
  )
  return found && isLive(found, deps.clock()) ? found : undefined
}

/** Sessions of the company, with what their holders may do. */
function sessionsOf(tx: Tx) {
  return tx
    .selectFrom('session')
    .innerJoin('user', join =>
      join
        .onRef('user.company_id', '=', 'session.company_id')
        .onRef('user.id', '=', 'session.user_id')
    )
    .innerJoin('company', 'company.id', 'session.company_id')
    .where('session.company_id', '=', tx.companyId)
    .select([
      'session.id',
      'session.user_id',
      'session.created_at',
      'session.expires_at',
      'session.revoked_at',
      'user.permissions',
      'user.tokens_valid_after',
      'user.disabled as user_disabled',
      'company.disabled as company_disabled'
    ])
}

/** By the session's age and not the token's `iat`, which knows no milliseconds. */
function isLive(
  session: {
    created_at: Date
    expires_at: Date
    revoked_at: Date | null
    tokens_valid_after: Date
  },
  now: Date
): boolean {
  const { created_at, expires_at, revoked_at, tokens_valid_after } = session
  return !revoked_at && expires_at > now && created_at >= tokens_valid_after
}

interface Account {
  user_id: string
  disabled: DisabledMark | null
  tokens_valid_after: Date
  key: SealedKey
}

async function findAccount(
  tx: Tx,
  company_id: CompanyId,
  email: string
): Promise<Account | undefined> {
  const row = await tx
    .selectFrom('user')
    .innerJoin('user_key', join =>
      join
        .onRef('user_key.company_id', '=', 'user.company_id')
        .onRef('user_key.user_id', '=', 'user.id')
    )
    .where('user.company_id', '=', company_id)
    .where('user.email', '=', email)
    .where('user_key.retired_at', 'is', null)
    .orderBy('user_key.created_at', 'desc')
    .select([
      'user.id',
      'user.disabled',
      'user.tokens_valid_after',
      'user_key.key_id',
      'user_key.kdf',
      'user_key.pub_enc'
    ])
    .limit(1)
    // a change of password waits for this login and ends its session, or this login sees the new key
    .forKeyShare('user_key')
    .executeTakeFirst()
  if (!row) return undefined
  const { id: user_id, disabled, tokens_valid_after, key_id, kdf, pub_enc } = row
  const key = { company_id, user_id, key_id, kdf, pub_enc }
  return { user_id, disabled, tokens_valid_after, key }
}

/** Opens and tries a key for a stranger as for a person, so that time tells nothing. */
function holderOf(
  keys: Keys,
  account: Account | undefined,
  { challenge, signature }: { challenge: string; signature: Uint8Array }
): string | undefined {
  const key = account?.key ?? decoyOf(keys)
  return verifiesSealed(keys, key, Buffer.from(challenge), signature) ? account?.user_id : undefined
}

const decoys = new WeakMap<Keys, SealedKey>()

/** A key that nobody holds, sealed like everybody's. */
function decoyOf(keys: Keys): SealedKey {
  const made = decoys.get(keys) ?? makeDecoy(keys)
  decoys.set(keys, made)
  return made
}

function makeDecoy(keys: Keys): SealedKey {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const place = { company_id: 'decoy', user_id: 'decoy', key_id: 'decoy', kdf: 'a1' }
  const jwk = PublicKeyJwk.parse(publicKey.export({ format: 'jwk' }))
  return { ...place, pub_enc: sealPublicKey(keys, place, jwk) }
}

/** Spends the challenge and makes the session in one statement; `undefined` where it was spent before. */
async function createSession(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  { tenant, agent }: Pick<LogIn, 'tenant' | 'agent'>,
  { user_id, tokens_valid_after }: Account,
  challenge: Parameters<typeof spentRow>[1]
): Promise<
  { user_id: string; session_id: string; created_at: Date; expires_at: Date } | undefined
> {
  const { company_id } = tenant
  const session_id = newId(deps)
  // a clock set back since a sign-out everywhere must not make sessions that have ended already
  const created_at = new Date(Math.max(deps.clock().getTime(), tokens_valid_after.getTime()))
  const expires_at = new Date(created_at.getTime() + sessionHours * 3_600_000)
  const { n, expires_at: spent_until } = spentRow(company_id, challenge)
  const made = await tx.raw({
    name: 'create_session',
    text: createSessionSql,
    values: [
      company_id,
      n,
      spent_until,
      session_id,
      user_id,
      browserFamily(agent),
      created_at,
      expires_at
    ]
  })
  return made.length === 0 ? undefined : { user_id, session_id, created_at, expires_at }
}

const createSessionSql = `
  with spent as (
    insert into used_challenge (company_id, n, expires_at) values ($1, $2, $3)
    on conflict (company_id, n) do nothing
    returning n
  )
  insert into session (company_id, id, user_id, agent, created_at, last_seen_at, expires_at)
  select $1, $4, $5, $6, $7, $7, $8 from spent
  returning id`

/** A browser that has signed in before counts on its own, so that no stranger can block its owner. */
function failureLimits(
  deps: Pick<Deps, 'keys'>,
  { tenant, email, device, address }: LogIn,
  user_id: string | undefined
): [LimitName, Counted][] {
  const { company_id } = tenant
  if (device !== undefined && user_id && isDeviceOf(deps, device, company_id, user_id)) {
    return [['login_device', [company_id, device]]]
  }
  return [
    ['login_address', [company_id, email, networkOf(address)]],
    ['login_email', [company_id, email]]
  ]
}

function createDevice(
  deps: Pick<Deps, 'keys' | 'random'>,
  company_id: CompanyId,
  user_id: string
): string {
  const random = Buffer.from(deps.random(16)).toString('base64url')
  return `${random}.${deviceMac(deps, company_id, user_id, random).toString('base64url')}`
}

function isDeviceOf(
  deps: Pick<Deps, 'keys'>,
  device: string,
  company_id: CompanyId,
  user_id: string
): boolean {
  // one spelling only: another would have a bucket of its own
  const [, random = '', mac = ''] =
    /^([\w-]{21}[AQgw])\.([\w-]{42}[AEIMQUYcgkosw048])$/.exec(device) ?? []
  return (
    random !== '' &&
    timingSafeEqual(deviceMac(deps, company_id, user_id, random), Buffer.from(mac, 'base64url'))
  )
}

function deviceMac(
  deps: Pick<Deps, 'keys'>,
  company_id: CompanyId,
  user_id: string,
  random: string
): Buffer {
  return deps.keys.mac('device', `${company_id}|${user_id}|${random}`)
}

/** `'Mozilla/5.0 … Firefox/142.0'` → `'Firefox'`: enough to recognise one's own devices by. */
function browserFamily(agent: string): string {
  // each of the later ones also stands in the agents of the earlier
  const families = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari']
  const found = families.find(family => agent.includes(`${family}/`))
  return found === 'Edg' ? 'Edge' : found === 'OPR' ? 'Opera' : (found ?? 'Other')
}

function refuseDisabled(scope: 'user' | 'company', mark: DisabledMark | null): void {
  if (mark) throw accountDisabled(scope, mark)
}

function accountDisabled(scope: 'user' | 'company', mark: DisabledMark): AppError {
  const who = scope === 'user' ? 'person' : 'company'
  return new AppError('account_disabled', `The ${who} is disabled`, {
    disabled: disabledBy(scope, mark)
  })
}

function loginFailed(deps: Pick<Deps, 'keys' | 'log'>, { tenant, email }: LogIn): AppError {
  const who = deps.keys.mac('pseudonym', `email|${email}`).toString('hex').slice(0, 16)
  deps.log.warn({ audit: 'login_failed', company: tenant.company_id, who }, 'login refused')
  return new AppError('login_failed', 'E-mail and password do not match, or the challenge is used')
}
