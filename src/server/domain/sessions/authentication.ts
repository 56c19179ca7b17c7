import { sql } from 'kysely'
import { toDisabledState } from '../../../contract/kit/disabled.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { updateById } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { DisabledMark } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant, WatchedCaller } from '../deps.ts'
import { hashApiKey, looksLikeApiKey } from './api-key-secrets.ts'
import { type AuthenticatedCaller, isPasswordConfirmed, recordSessionUse } from './sessions.ts'

/** The shortest time between two updates of an API key's last use, in milliseconds. */
const usedMs = 5 * 60_000

/**
 * Returns the person to whom an access token or an API key belongs. Throws `unauthenticated` if the
 * access token is invalid or revoked, was issued for another host, or was issued before the person
 * signed out everywhere. Also throws it if the API key is expired or unknown in the company. Throws
 * `account_disabled` if the person or the company is disabled.
 */
export async function authenticate(
  deps: Pick<Deps, 'db' | 'tokens' | 'clock'>,
  tenant: Tenant,
  token: string
): Promise<AuthenticatedCaller> {
  if (looksLikeApiKey(token)) return authenticateKey(deps, tenant, token)
  const claims = await deps.tokens.read(tenant, token, deps.clock())
  const { company_id } = tenant
  const found = await findSession(deps, { company_id, ...claims })
  if (!found) throw sessionEndedError()
  refuseDisabled(found)
  await recordSessionUse(deps, { company_id, ...claims, last_seen_at: found.last_seen_at })
  return {
    id: claims.user_id,
    session_id: claims.session_id,
    company_id,
    // from the session and not from the token, because a confirmation of the e-mail changes only
    // the session
    pending: found.pending,
    // a sign-up has no permissions yet
    permissions: found.permissions ?? [],
    outdated: claims.pending !== found.pending,
    token_expires: claims.expires,
    session_expires: found.expires_at,
    confirmed: isPasswordConfirmed(found.confirmed_until, deps.clock()),
    key: undefined
  }
}

/**
 * Returns the owner of an API key. `permissions` is empty, because the scopes of the key decide
 * what the program may do. The key is looked up by its hash, so the response time to a wrong key
 * reveals nothing about other keys.
 */
async function authenticateKey(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id }: Tenant,
  secret: string
): Promise<AuthenticatedCaller> {
  const hash = hashApiKey(secret)
  const read = (tx: Tx) => keyWithHash(tx, { company_id, hash: hash ?? Buffer.alloc(0) }).execute()
  const [found] = hash ? await inCompany(deps.db, company_id, read) : []
  const now = deps.clock()
  if (!found || !isLive(found, now)) {
    throw new AppError('unauthenticated', 'The key is unknown here, revoked or expired')
  }
  const { id, user_id, scopes, expires_at, last_used_at } = found
  refuseDisabled(found)
  if (now.getTime() - (last_used_at?.getTime() ?? 0) > usedMs) {
    await noteUse(deps, { company_id, id, now })
  }
  return {
    id: user_id,
    session_id: id,
    company_id,
    pending: false,
    permissions: [],
    outdated: false,
    token_expires: expires_at,
    session_expires: expires_at,
    confirmed: false,
    key: { id, scopes }
  }
}

async function noteUse(
  deps: Pick<Deps, 'db'>,
  { company_id, id, now }: { company_id: CompanyId; id: string; now: Date }
): Promise<void> {
  const before = new Date(now.getTime() - usedMs)
  await inCompany(deps.db, company_id, tx =>
    updateById(tx, 'api_key', id)
      .set({ last_used_at: now })
      .where(key => key.or([key('last_used_at', 'is', null), key('last_used_at', '<', before)]))
      .execute()
  )
}

/**
 * Returns the callers who have lost the right to what they began, each with the error that a new
 * call of theirs would get. All callers must belong to the company. Ignores whether their tokens
 * have expired, because a download or an upload may take longer than an hour.
 */
export async function findLostRights<Caller extends Pick<WatchedCaller, 'person' | 'permissions'>>(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId,
  callers: readonly Caller[]
): Promise<Map<Caller, AppError>> {
  const ids = [...new Set(callers.map(({ person }) => person.session_id))]
  const read = (tx: Tx) => manySessions(tx, { company_id, ids }).execute()
  const rows = await inCompany(deps.db, company_id, read)
  const now = deps.clock()
  const live = new Map(rows.filter(row => isLive(row, now)).map(row => [row.id, row]))
  const lost = new Map<Caller, AppError>()
  for (const caller of callers) {
    const session = live.get(caller.person.session_id)
    const reason = findLostRight(session, caller)
    if (reason) lost.set(caller, reason)
  }
  return lost
}

/**
 * Throws the error that a new call of the caller would get if their session, or their key, has ended
 * since the call began. For calls that have waited for a lock. The transaction must be of the
 * caller's company.
 */
export async function requireStillLive(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  person: AuthenticatedCaller
): Promise<void> {
  const ids = [person.session_id]
  const [row] = await manySessions(tx, { company_id: tx.companyId, ids }).execute()
  const session = row && isLive(row, deps.clock()) ? row : undefined
  const reason = findLostRight(session, { person, permissions: [] })
  if (reason) throw reason
}

type SessionRow = Awaited<ReturnType<ReturnType<typeof sessionsOf>['execute']>>[number]

function findLostRight(
  session: SessionRow | undefined,
  { person, permissions }: Pick<WatchedCaller, 'person' | 'permissions'>
): AppError | undefined {
  if (session?.user_id !== person.id) return sessionEndedError()
  const disabled = findDisabled(session)
  if (disabled) return disabled
  if (permissions.every(each => session.permissions?.includes(each))) return undefined
  return new AppError('forbidden', 'A permission was taken away')
}

/** Returns the error for a call whose session, or whose key, has ended. */
export function sessionEndedError(): AppError {
  return new AppError('unauthenticated', 'The session has ended')
}

interface Wanted {
  company_id: CompanyId
  user_id: string
  session_id: string
}

async function findSession(deps: Pick<Deps, 'db' | 'clock'>, wanted: Wanted) {
  const read = (tx: Tx) => oneSession(tx, wanted).execute()
  const [found] = await inCompany(deps.db, wanted.company_id, read)
  return found && isLive(found, deps.clock()) ? found : undefined
}

const oneSession = (tx: Tx, { company_id, user_id, session_id }: Wanted) =>
  sessionsOf(tx, company_id)
    .where('session.id', '=', session_id)
    .where('session.user_id', '=', user_id)
    .select('session.last_seen_at')

const manySessions = (tx: Tx, { company_id, ids }: { company_id: CompanyId; ids: string[] }) =>
  sessionsOf(tx, company_id)
    .where('session.id', '=', sql<string>`any(${ids}::uuid[])`)
    .unionAll(keysOf(tx, company_id).where('api_key.id', '=', sql<string>`any(${ids}::uuid[])`))

const keyWithHash = (tx: Tx, { company_id, hash }: { company_id: CompanyId; hash: Buffer }) =>
  keysOf(tx, company_id)
    .where('api_key.hash', '=', hash)
    .select(['api_key.scopes', 'api_key.last_used_at'])

/**
 * Builds the query of sessions with their person and company. The columns of the person are null if
 * the session belongs to an unconfirmed sign-up.
 */
function sessionsOf(tx: Tx, company_id: CompanyId) {
  return tx
    .selectFrom('session')
    .leftJoin('user', join => joinInCompany(join, 'user.id', 'session.user_id'))
    .innerJoin('company', 'company.id', 'session.company_id')
    .where('session.company_id', '=', company_id)
    .select([
      'session.id',
      'session.user_id',
      'session.created_at',
      'session.expires_at',
      'session.revoked_at',
      'session.pending',
      'session.confirmed_until',
      'user.permissions',
      'user.tokens_valid_after',
      'user.disabled as user_disabled',
      'company.disabled as company_disabled'
    ])
}

/**
 * Builds the query of API keys. It selects the same columns as `sessionsOf`, so that one statement
 * can read both. A key stays valid when its owner signs out everywhere, because its
 * `tokens_valid_after` is always the time at which the key was created.
 */
function keysOf(tx: Tx, company_id: CompanyId) {
  return tx
    .selectFrom('api_key')
    .innerJoin('user', join => joinInCompany(join, 'user.id', 'api_key.user_id'))
    .innerJoin('company', 'company.id', 'api_key.company_id')
    .where('api_key.company_id', '=', company_id)
    .select([
      'api_key.id',
      'api_key.user_id',
      'api_key.created_at',
      'api_key.expires_at',
      sql<Date | null>`null::timestamptz`.as('revoked_at'),
      sql<boolean>`false`.as('pending'),
      sql<Date | null>`null::timestamptz`.as('confirmed_until'),
      sql<string[] | null>`'{}'::text[]`.as('permissions'),
      sql<Date | null>`api_key.created_at`.as('tokens_valid_after'),
      'user.disabled as user_disabled',
      'company.disabled as company_disabled'
    ])
}

/**
 * Returns whether a session is neither revoked nor expired, and began after the person last signed
 * out everywhere. Uses the start time of the session, because the time of issue (`iat`) of a token
 * has no milliseconds.
 */
function isLive(
  session: {
    created_at: Date
    expires_at: Date
    revoked_at: Date | null
    pending: boolean
    tokens_valid_after: Date | null
  },
  now: Date
): boolean {
  const { created_at, expires_at, revoked_at, pending, tokens_valid_after } = session
  if (revoked_at || expires_at <= now) return false
  return tokens_valid_after ? created_at >= tokens_valid_after : pending
}

function findDisabled(found: {
  company_disabled: DisabledMark | null
  user_disabled: DisabledMark | null
  permissions: readonly string[] | null
}): AppError | undefined {
  const { company_disabled, user_disabled, permissions } = found
  if (company_disabled) return accountDisabledError('company', company_disabled, permissions)
  return user_disabled ? accountDisabledError('user', user_disabled) : undefined
}

function refuseDisabled(found: Parameters<typeof findDisabled>[0]): void {
  const disabled = findDisabled(found)
  if (disabled) throw disabled
}

/**
 * Returns the error for a call by a disabled person or in a suspended company. Only administrators
 * of a suspended company are told why it is suspended. `permissions` are those of the caller.
 */
export function accountDisabledError(
  scope: 'user' | 'company',
  mark: DisabledMark,
  permissions?: readonly string[] | null
): AppError {
  const who = scope === 'user' ? 'person' : 'company'
  const isTold = scope === 'user' || permissions?.includes('admin') === true
  return new AppError('account_disabled', `The ${who} is disabled`, {
    disabled: toDisabledState(scope, isTold ? mark : { ...mark, reason: 'other' })
  })
}
