import { generateKeyPairSync, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../contract/errors.ts'
import type { Session } from '../../contract/sessions.ts'
import { splitResponse } from '../../core/challenge.ts'
import { PublicKeyJwk } from '../../core/public-key-jwt.ts'
import type { DisabledMark } from '../db/schema.ts'
import { inCompany, inCompanyOnce, type Tx } from '../db/scope.ts'
import { readChallenge, spendChallenge } from './challenges.ts'
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
  /** The token says another standing than the session has. */
  outdated: boolean
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
    // as the session stands by now: a confirmed e-mail opens it, whatever the token was made for
    pending: found.pending,
    permissions: found.permissions,
    outdated: claims.pending !== found.pending,
    token_expires: claims.expires,
    session_expires: found.expires_at
  }
}

/** How an open stream's person stands by now. */
export async function standing(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: Person
): Promise<'valid' | 'ended' | 'disabled'> {
  if (person.token_expires <= deps.clock()) return 'ended'
  const { company_id, id, session_id } = person
  const found = await findSession(deps, { company_id, user_id: id, session_id })
  if (!found) return 'ended'
  return found.company_disabled || found.user_disabled ? 'disabled' : 'valid'
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
  const isNear = left <= renewMinutes * 60_000 && gained >= 1000
  if (!isNear && !person.outdated) return undefined
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
    // sign-ups first: one that is confirmed in between is then found as a person
    const signUps = await findSignUps(tx, { company_id, email, now: deps.clock() })
    const person = await findAccount(tx, company_id, email)
    const counted = failureLimits(deps, input, person?.user_id)
    // counted before the check, so that guesses in parallel count too
    for (const [name, key] of counted) await consume(deps, name, key)
    const account = holderOf(deps.keys, [...(person ? [person] : []), ...signUps], response)
    if (!account) return undefined
    if (!(await spendChallenge(tx, company_id, challenge))) return undefined
    for (const [name, key] of counted) await refund(deps, name, key)
    if (account.disabled) return { disabled: account.disabled }
    return { ...account, session: await createSession(tx, deps, input, account) }
  })
  if (!outcome) throw loginFailed(deps, input)
  if (!('session' in outcome)) throw accountDisabled('user', outcome.disabled)
  const { user_id, pending, session } = outcome
  deps.log.info({ audit: 'login_ok', company: company_id, user: user_id }, 'signed in')
  const access_token = await issueToken(deps, tenant, {
    user_id,
    session_id: session.id,
    pending,
    signedIn: session.created_at,
    expires: tokenEnd(session.created_at, session.expires_at)
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

/** Signs a person out everywhere, but for one session where that is wanted; their streams close. */
export async function endSessions(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'wakes'>,
  { company_id, user_id, except }: { company_id: CompanyId; user_id: string; except?: string }
): Promise<void> {
  let ended = tx
    .updateTable('session')
    .set({ revoked_at: deps.clock() })
    .where('company_id', '=', company_id)
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
  if (except !== undefined) ended = ended.where('id', '!=', except)
  await ended.execute()
  tx.afterCommit(() => deps.wakes.sessions.send({ company: company_id, user: user_id }))
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

interface LiveSession {
  expires_at: Date
  pending: boolean
  permissions: string[]
  user_disabled: DisabledMark | null
  company_disabled: DisabledMark | null
}

async function findSession(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    company_id,
    user_id,
    session_id
  }: { company_id: CompanyId; user_id: string; session_id: string }
): Promise<LiveSession | undefined> {
  const found = await inCompanyOnce(deps.db, company_id, tx =>
    tx
      .selectFrom('session')
      .leftJoin('user', join =>
        join
          .onRef('user.company_id', '=', 'session.company_id')
          .onRef('user.id', '=', 'session.user_id')
      )
      .leftJoin('signup', join =>
        join
          .onRef('signup.company_id', '=', 'session.company_id')
          .onRef('signup.id', '=', 'session.user_id')
      )
      .innerJoin('company', 'company.id', 'session.company_id')
      .where('session.company_id', '=', company_id)
      .where('session.id', '=', session_id)
      .where('session.user_id', '=', user_id)
      .select([
        'session.created_at',
        'session.expires_at',
        'session.revoked_at',
        'session.pending',
        'signup.expires_at as signup_expires_at',
        'user.permissions',
        'user.tokens_valid_after',
        'user.disabled as user_disabled',
        'company.disabled as company_disabled'
      ])
      .executeTakeFirst()
  )
  const now = deps.clock()
  if (!found || found.revoked_at || found.expires_at <= now) return undefined
  if (found.pending) {
    const isWaiting = found.signup_expires_at !== null && found.signup_expires_at > now
    return isWaiting ? { ...found, permissions: [] } : undefined
  }
  const { permissions, tokens_valid_after } = found
  if (!permissions || !tokens_valid_after) return undefined
  // the session's age and not the token's `iat`, which knows no milliseconds
  return found.created_at < tokens_valid_after ? undefined : { ...found, permissions }
}

interface Account {
  user_id: string
  /** A sign-up whose e-mail is not confirmed yet. */
  pending: boolean
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
  return { user_id, pending: false, disabled, tokens_valid_after, key }
}

/** The newest sign-ups of an e-mail that wait for its confirmation. */
async function findSignUps(
  tx: Tx,
  { company_id, email, now }: { company_id: CompanyId; email: string; now: Date }
): Promise<Account[]> {
  const rows = await tx
    .selectFrom('signup')
    .where('company_id', '=', company_id)
    .where('email', '=', email)
    .where('expires_at', '>', now)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .select(['id', 'key_id', 'kdf', 'pub_enc'])
    .limit(slots - 1)
    // a confirmation waits for this login and takes its session along
    .forKeyShare()
    .execute()
  return rows.map(({ id: user_id, ...key }) => ({
    user_id,
    pending: true,
    disabled: null,
    tokens_valid_after: new Date(0),
    key: { company_id, user_id, ...key }
  }))
}

/** The person's key, and room for pending sign-ups of the same e-mail. */
const slots = 4

/** Opens and tries as many keys for a stranger as for a person, so that time tells nothing. */
function holderOf(
  keys: Keys,
  accounts: Account[],
  { challenge, signature }: { challenge: string; signature: Uint8Array }
): Account | undefined {
  const candidates = [...accounts.map(({ key }) => key), ...decoysOf(keys)].slice(0, slots)
  const signed = Buffer.from(challenge)
  const holds = candidates.map(key => verifiesSealed(keys, key, signed, signature))
  return accounts.find((_, at) => holds[at])
}

const decoys = new WeakMap<Keys, SealedKey[]>()

/** Keys that nobody holds, sealed like everybody's. */
function decoysOf(keys: Keys): SealedKey[] {
  const made = decoys.get(keys) ?? Array.from({ length: slots }, () => makeDecoy(keys))
  decoys.set(keys, made)
  return made
}

function makeDecoy(keys: Keys): SealedKey {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const place = { company_id: 'decoy', user_id: 'decoy', key_id: 'decoy', kdf: 'a1' }
  const jwk = PublicKeyJwk.parse(publicKey.export({ format: 'jwk' }))
  return { ...place, pub_enc: sealPublicKey(keys, place, jwk) }
}

async function createSession(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  { tenant, agent }: Pick<LogIn, 'tenant' | 'agent'>,
  { user_id, pending, tokens_valid_after }: Account
): Promise<{ id: string; created_at: Date; expires_at: Date }> {
  // a clock set back since a sign-out everywhere must not make sessions that have ended already
  const created_at = new Date(Math.max(deps.clock().getTime(), tokens_valid_after.getTime()))
  const session = {
    company_id: tenant.company_id,
    id: newId(deps),
    user_id,
    agent: browserFamily(agent),
    created_at,
    last_seen_at: created_at,
    pending,
    expires_at: new Date(created_at.getTime() + sessionHours * 3_600_000)
  }
  await tx.insertInto('session').values(session).execute()
  return session
}

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

function accountDisabled(scope: 'user' | 'company', { reason, since }: DisabledMark): AppError {
  const who = scope === 'user' ? 'person' : 'company'
  return new AppError('account_disabled', `The ${who} is disabled`, {
    disabled: { scope, reason, since }
  })
}

function loginFailed(deps: Pick<Deps, 'keys' | 'log'>, { tenant, email }: LogIn): AppError {
  const who = deps.keys.mac('pseudonym', `email|${email}`).toString('hex').slice(0, 16)
  deps.log.warn({ audit: 'login_failed', company: tenant.company_id, who }, 'login refused')
  return new AppError('login_failed', 'E-mail and password do not match, or the challenge is used')
}
