import { sql } from 'kysely'
import { AppError } from '../../../contract/errors.ts'
import type { Session } from '../../../contract/sessions.ts'
import { inSameCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { newId } from '../ids.ts'
import { spentChallengeRow } from '../key-proofs/challenges.ts'
import { issueToken, tokenEnd, tokenMinutes } from './access-tokens.ts'

/** The caller, read again for each call. */
export interface Person {
  id: string
  session_id: string
  company_id: CompanyId
  /** The e-mail is not confirmed yet. */
  pending: boolean
  permissions: string[]
  /** The token was issued for another state of the session. */
  outdated: boolean
  token_expires: Date
  session_expires: Date
}

const sessionHours = 12
/**
 * A poll renews a token that has no more than these minutes left, so that a session is written
 * three times an hour.
 */
const renewMinutes = 40

/**
 * Returns a token for another hour when the caller's is about to expire, but never beyond the
 * session.
 */
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

/** Holder of a new session. */
interface Holder {
  user_id: string
  tokens_valid_after: Date
  /** Until when a sign-up waits for its confirmation. */
  waits_until?: Date
}

export interface NewSession {
  user_id: string
  session_id: string
  pending: boolean
  created_at: Date
  expires_at: Date
}

/**
 * Uses up the challenge and creates the session in one statement. Returns undefined where the
 * challenge was used before.
 */
export async function createSession(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  agent: string,
  { user_id, tokens_valid_after, waits_until }: Holder,
  challenge: Parameters<typeof spentChallengeRow>[1]
): Promise<NewSession | undefined> {
  const session_id = newId(deps)
  // after a clock was set back, a new session must not be older than the last sign-out everywhere
  const created_at = new Date(Math.max(deps.clock().getTime(), tokens_valid_after.getTime()))
  const end = created_at.getTime() + sessionHours * 3_600_000
  const expires_at = new Date(Math.min(end, waits_until?.getTime() ?? end))
  const pending = waits_until !== undefined
  const { n, expires_at: spent_until } = spentChallengeRow(tx.companyId, challenge)
  const made = await tx.raw({
    name: 'create_session',
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
  return made.length === 0 ? undefined : { user_id, session_id, pending, created_at, expires_at }
}

const createSessionSql = `
  with spent as (
    insert into used_challenge (company_id, n, expires_at) values ($1, $2, $3)
    on conflict (company_id, n) do nothing
    returning n
  )
  insert into session
    (company_id, id, user_id, agent, created_at, last_seen_at, expires_at, pending)
  select $1, $4, $5, $6, $7, $7, $8, $9 from spent
  returning id`

/** Turns the sessions of a sign-up into those of its person, with the usual life. */
export async function confirmPendingSessions(
  tx: Tx,
  deps: Pick<Deps, 'signals'>,
  { company_id, user_id }: { company_id: CompanyId; user_id: string }
): Promise<void> {
  await tx
    .updateTable('session')
    .set({
      pending: false,
      expires_at: sql<Date>`created_at + make_interval(hours => ${sessionHours})`
    })
    .where('company_id', '=', company_id)
    .where('user_id', '=', user_id)
    .execute()
  tx.afterCommit(() => deps.signals.sessions.send({ company: company_id, user: user_id }))
}

/** Ends the session of the call, or all sessions of the person. Their streams close. */
export async function logOut(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
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
      // also ends a session that another call is creating
      await tx
        .updateTable('user')
        .set({ tokens_valid_after: now })
        .where('company_id', '=', company_id)
        .where('id', '=', id)
        .execute()
    } else ended = ended.where('id', '=', session_id)
    await ended.execute()
    tx.afterCommit(() => deps.signals.sessions.send({ company: company_id, user: id }))
  })
}

const maxListed = 100

/** Returns the person's sessions, that of the call first. */
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
  // tokens are renewed within the hour, so an older session has no valid token
  const lastSeen = new Date(now.getTime() - tokenMinutes * 60_000)
  const rows = await tx
    .selectFrom('session')
    .innerJoin('user', join => inSameCompany(join, 'user.id', 'session.user_id'))
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

/** Ends one session of the person. Its streams close. */
export async function endSession(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
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
    tx.afterCommit(() => deps.signals.sessions.send({ company: company_id, user: id }))
  })
}

/** Ends all sessions of a person except one, if given. Their streams close. */
export async function endSessions(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'signals'>,
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
  tx.afterCommit(() => deps.signals.sessions.send({ company: company_id, user: user_id }))
}

/** Deletes sessions a month after their end. */
export async function deleteExpiredSessions(
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

/** `'Mozilla/5.0 … Firefox/142.0'` → `'Firefox'`, enough to recognize one's own devices. */
function browserFamily(agent: string): string {
  // agents of the earlier ones also contain the names of the later ones
  const families = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari']
  const found = families.find(family => agent.includes(`${family}/`))
  return found === 'Edg' ? 'Edge' : found === 'OPR' ? 'Opera' : (found ?? 'Other')
}
