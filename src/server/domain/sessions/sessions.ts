import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxSessionsPerPerson } from '../../../contract/kit/limits.ts'
import type { Session } from '../../../contract/sessions.ts'
import { selectInCompany, updateById, updateInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { newId } from '../ids.ts'
import { buildUsedChallengeRow } from '../key-proofs/challenges.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'
import { accessTokenMinutes, issueAccessToken, newAccessTokenExpiry } from './access-tokens.ts'

/** Permissions are read from the database for each call. */
export interface AuthenticatedCaller {
  id: string
  session_id: string
  company_id: CompanyId
  /** Such a caller is a sign-up and may make only few calls. */
  pending: boolean
  permissions: string[]
  /** The e-mail was confirmed after the token was issued, so the token must be replaced. */
  outdated: boolean
  token_expires: Date
  session_expires: Date
  /** The password was entered again in this session within the last five minutes. */
  confirmed: boolean
  /** Set if a program calls in place of the person. `session_id` is then the id of the key. */
  key: { id: string; scopes: readonly string[] } | undefined
}

/** The id under which a caller's counters and idempotency keys are stored. */
export function apiKeyOrPersonIdOf({ id, key }: Pick<AuthenticatedCaller, 'id' | 'key'>): string {
  return key?.id ?? id
}

const sessionHours = 12
const confirmedMs = 5 * 60_000
// A token is valid for an hour, so the calls that pages repeat renew it about every 20 minutes.
const renewMinutes = 40
// between two updates of `last_seen_at`
const seenMinutes = 1

/** Returns undefined if no new token is needed or the session has ended. */
export async function renewAccessToken(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random'>,
  { tenant, person }: { tenant: Tenant; person: AuthenticatedCaller }
): Promise<string | undefined> {
  const now = deps.clock()
  const expires = newAccessTokenExpiry(now, person.session_expires)
  const left = person.token_expires.getTime() - now.getTime()
  const gained = expires.getTime() - person.token_expires.getTime()
  const isNear = left <= renewMinutes * 60_000 && gained >= 1000
  if (!isNear && !person.outdated) return undefined
  const session = await inCompany(deps.db, person.company_id, tx =>
    updateById(tx, 'session', person.session_id)
      // the list of sessions relies on it
      .set({ last_seen_at: now })
      .where('revoked_at', 'is', null)
      .returning('created_at')
      .executeTakeFirst()
  )
  if (!session) return undefined
  return issueAccessToken(deps, tenant, {
    user_id: person.id,
    session_id: person.session_id,
    pending: person.pending,
    signedIn: session.created_at,
    expires
  })
}

// skips rows that another transaction changes, because a call must not wait for them
export async function recordSessionUse(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    company_id,
    user_id,
    session_id,
    last_seen_at
  }: { company_id: CompanyId; user_id: string; session_id: string; last_seen_at: Date }
): Promise<void> {
  const now = deps.clock()
  if (now.getTime() - last_seen_at.getTime() < seenMinutes * 60_000) return
  await inCompany(deps.db, company_id, tx =>
    tx.raw({ text: recordSessionUseSql, values: [company_id, user_id, session_id, now] })
  )
}

const recordSessionUseSql = `
  with person as (
    select id from "user"
    where company_id = $1 and id = $2
      and last_seen_at <= $4::timestamptz - interval '${seenMinutes} minutes'
    for no key update skip locked
  ), seen as (
    update "user" set last_seen_at = $4 from person
    where "user".company_id = $1 and "user".id = person.id
  ), used as (
    select id from session
    where company_id = $1 and id = $3
      and last_seen_at <= $4::timestamptz - interval '${seenMinutes} minutes'
    for no key update skip locked
  )
  update session set last_seen_at = $4 from used
  where session.company_id = $1 and session.id = used.id`

export async function recordPasswordConfirmation(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { session_id }: AuthenticatedCaller
): Promise<void> {
  await updateById(tx, 'session', session_id)
    .set({ confirmed_until: new Date(deps.clock().getTime() + confirmedMs) })
    .where('revoked_at', 'is', null)
    .execute()
}

// if `until` is more than five minutes ahead, the clock was set back after the confirmation
export function isPasswordConfirmed(until: Date | null, now: Date): boolean {
  const left = (until?.getTime() ?? 0) - now.getTime()
  return left > 0 && left <= confirmedMs
}

interface Holder {
  user_id: string
  tokens_valid_after: Date
  /** When the unconfirmed sign-up expires, and with it the session. */
  waits_until?: Date
}

interface NewSession {
  user_id: string
  session_id: string
  pending: boolean
  created_at: Date
  expires_at: Date
  /** How many other sessions the person has that are not over. */
  others: number
}

// also uses up the challenge of the login; undefined if it was used before
export async function createSession(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  agent: string,
  { user_id, tokens_valid_after, waits_until }: Holder,
  challenge: Parameters<typeof buildUsedChallengeRow>[1]
): Promise<NewSession | undefined> {
  const session_id = newId(deps)
  // if the clock was set back, the new session must still be newer than the last sign-out
  // everywhere
  const created_at = new Date(Math.max(deps.clock().getTime(), tokens_valid_after.getTime()))
  const end = created_at.getTime() + sessionHours * 3_600_000
  const expires_at = new Date(Math.min(end, waits_until?.getTime() ?? end))
  const pending = waits_until !== undefined
  const { n, expires_at: spent_until } = buildUsedChallengeRow(tx.companyId, challenge)
  const [made] = await tx.raw<{ others: number }>({
    text: createSessionSql,
    values: [
      tx.companyId,
      n,
      spent_until,
      session_id,
      user_id,
      browserFamily(agent),
      created_at,
      expires_at,
      pending
    ]
  })
  return made && { user_id, session_id, pending, created_at, expires_at, ...made }
}

// skips the update of `last_seen_at` while another transaction changes the person, because a login
// must not wait for the person's row
const createSessionSql = `
  with spent as (
    insert into used_challenge (company_id, n, expires_at) values ($1, $2, $3)
    on conflict (company_id, n) do nothing
    returning n
  ), due as (
    select u.id from "user" u, spent
    where u.company_id = $1 and u.id = $5
      and u.last_seen_at <= $7::timestamptz - interval '${seenMinutes} minutes'
    for no key update of u skip locked
  ), seen as (
    update "user" set last_seen_at = $7 from due
    where "user".company_id = $1 and "user".id = due.id
  )
  insert into session
    (company_id, id, user_id, agent, created_at, last_seen_at, expires_at, pending)
  select $1, $4, $5, $6, $7, $7, $8, $9 from spent
  returning (
    select count(*) from session other
     where other.company_id = $1 and other.user_id = $5
       and other.revoked_at is null and other.expires_at > $7
  ) as others`

// Called after the commit of a login: logins do not wait for each other, so the last of several
// parallel ones is the first to see all their sessions. `others` is what the login itself saw.
export async function endSessionsBeyondLimit(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
  company_id: CompanyId,
  { user_id, session_id, others }: Pick<NewSession, 'user_id' | 'session_id' | 'others'>
): Promise<void> {
  // the other half is room for sessions of parallel logins
  if (others < maxSessionsPerPerson / 2) return
  const now = deps.clock()
  await inCompany(deps.db, company_id, async tx => {
    const ended = await updateInCompany(tx, 'session')
      .set({ revoked_at: now })
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('session')
          .where('company_id', '=', company_id)
          .where('user_id', '=', user_id)
          // the new one is not the newest if the clock was set back
          .where('id', '!=', session_id)
          .where('revoked_at', 'is', null)
          .where('expires_at', '>', now)
          .orderBy('created_at', 'desc')
          .orderBy('id', 'desc')
          .offset(maxSessionsPerPerson - 1)
          .select('id')
      )
      .returning('id')
      .execute()
    if (ended.length > 0) signalSessionChanges(tx, deps, [user_id])
  })
}

/** Each then ends 12 hours after its start. */
export async function convertSignUpSessions(
  tx: Tx,
  deps: Pick<Deps, 'signals'>,
  user_id: string
): Promise<void> {
  await updateInCompany(tx, 'session')
    .set({
      pending: false,
      expires_at: sql<Date>`created_at + make_interval(hours => ${sessionHours})`
    })
    .where('user_id', '=', user_id)
    .execute()
  signalSessionChanges(tx, deps, [user_id])
}

/** After the commit, streams, downloads and uploads check whether they may continue. */
export function signalSessionChanges(
  tx: Tx,
  { signals }: Pick<Deps, 'signals'>,
  user_ids: readonly string[]
): void {
  tx.afterCommit(() => {
    for (const user of user_ids) signals.sessions.send({ company: tx.companyId, user })
  })
}

export async function logOut(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
  { person, all }: { person: AuthenticatedCaller; all: boolean }
): Promise<void> {
  const { company_id, id, session_id } = person
  await inCompany(deps.db, company_id, async tx => {
    if (all) await signOutEverywhere(tx, deps, [id])
    else await revokeSession(tx, deps, id, session_id)
  })
}

/** Sessions that began earlier are then invalid, even if a parallel login commits them later. */
export async function signOutEverywhere(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
  user_ids: string[]
): Promise<void> {
  await updateInCompany(tx, 'user')
    .set({ tokens_valid_after: deps.clock() })
    .where(sql<boolean>`id = any (${user_ids}::uuid[])`)
    .execute()
  await endSessionsOfPeople(tx, deps, user_ids)
}

async function revokeSession(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
  user_id: string,
  session_id: string
): Promise<boolean> {
  const ended = await updateById(tx, 'session', session_id)
    .set({ revoked_at: deps.clock() })
    .where('user_id', '=', user_id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  signalSessionChanges(tx, deps, [user_id])
  return ended !== undefined
}

const sessionPage = 100

export async function listSessions(
  deps: Pick<Deps, 'db' | 'clock'>,
  { person, limit = sessionPage, ...page }: PageInput & { person: AuthenticatedCaller }
): Promise<Page<Session>> {
  return inCompany(deps.db, person.company_id, tx =>
    readPersonSessions(tx, deps, person, { limit, ...page })
  )
}

/** The session of this call comes first, then the others, most recently used first. */
export async function readPersonSessions(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { id, session_id }: Pick<AuthenticatedCaller, 'id' | 'session_id'>,
  page: PageInput
): Promise<Page<Session>> {
  const now = deps.clock()
  // a renewal counts as use, so a session that was not used for an hour has no valid token
  const lastSeen = new Date(now.getTime() - accessTokenMinutes * 60_000)
  const all = selectInCompany(tx, 'session')
    .innerJoin('user', join => joinInCompany(join, 'user.id', 'session.user_id'))
    .where('session.user_id', '=', id)
    .where('session.revoked_at', 'is', null)
    .where('session.expires_at', '>', now)
    .where('session.last_seen_at', '>', lastSeen)
    .whereRef('session.created_at', '>=', 'user.tokens_valid_after')
  const isCurrent = sql<boolean>`(session.id = ${session_id}::uuid)`
  const orders = {
    id: 'session.id',
    sorts: { use: [isCurrent, 'session.last_seen_at'] },
    usual: '-use'
  } as const
  const { items, next } = await readPage(all, orders, page, rows =>
    rows.select(['session.id', 'session.agent', 'session.created_at', 'session.last_seen_at'])
  )
  const sessions = items.map(row => ({
    id: row.id,
    agent: row.agent,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    current: row.id === session_id
  }))
  return { items: sessions, next }
}

export async function endSession(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
  { person, session_id }: { person: AuthenticatedCaller; session_id: string }
): Promise<void> {
  await inCompany(deps.db, person.company_id, async tx => {
    const isEnded = await revokeSession(tx, deps, person.id, session_id)
    if (!isEnded) throw new AppError('not_found', 'No such session')
  })
}

/** Ends all sessions but `except`. */
export async function endSessionsOfPeople(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
  user_ids: string[],
  except?: string
): Promise<void> {
  let ended = updateInCompany(tx, 'session')
    .set({ revoked_at: deps.clock() })
    .where(sql<boolean>`user_id = any (${user_ids}::uuid[])`)
    .where('revoked_at', 'is', null)
  if (except !== undefined) ended = ended.where('id', '!=', except)
  await ended.execute()
  signalSessionChanges(tx, deps, user_ids)
}

// `'Mozilla/5.0 … Firefox/142.0'` → `'Firefox'`, enough for people to recognize their own devices
function browserFamily(agent: string): string {
  // in this order, because the user agent of Edge, for example, also contains `Chrome` and `Safari`
  const families = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari']
  const found = families.find(family => agent.includes(`${family}/`))
  return found === 'Edg' ? 'Edge' : found === 'OPR' ? 'Opera' : (found ?? 'Other')
}
