import { toDisabledState } from '../../../contract/kit/disabled.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { updateById } from '../../db/company-queries.ts'
import type { DisabledMark } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant, WatchedCaller } from '../deps.ts'
import { hashApiKey, looksLikeApiKey } from './api-key-secrets.ts'
import { type AuthenticatedCaller, isPasswordConfirmed, recordSessionUse } from './sessions.ts'

const usedMs = 5 * 60_000

/**
 * Calls `countCall` as soon as it knows the id of the person or, for a program, of the API key.
 * Throws `unauthenticated`, or `account_disabled` if the person or the company is disabled.
 */
export async function authenticate(
  deps: Pick<Deps, 'db' | 'tokens' | 'clock'>,
  tenant: Tenant,
  token: string,
  countCall: (id: string) => void = () => undefined
): Promise<AuthenticatedCaller> {
  if (looksLikeApiKey(token)) return authenticateKey(deps, tenant, token, countCall)
  const claims = await deps.tokens.read(tenant, token, deps.clock())
  countCall(claims.user_id)
  const { company_id } = tenant
  const values = [company_id, [claims.session_id]]
  const read = (tx: Tx) => tx.raw<SessionRow>({ text: sessionsSql, values })
  const [found] = await inCompany(deps.db, company_id, read)
  if (found?.user_id !== claims.user_id || !isLive(found, deps.clock())) throw sessionEndedError()
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

// `permissions` stays empty, because the scopes of the key decide. The key is looked up by its
// hash, so the response time to a wrong key reveals nothing about other keys.
async function authenticateKey(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id }: Tenant,
  secret: string,
  countCall: (id: string) => void
): Promise<AuthenticatedCaller> {
  const hash = hashApiKey(secret)
  const read = (tx: Tx) => tx.raw<SessionRow>({ text: keyOfHashSql, values: [company_id, hash] })
  const [found] = hash ? await inCompany(deps.db, company_id, read) : []
  const now = deps.clock()
  if (!found || !isLive(found, now)) {
    throw new AppError('unauthenticated', 'The key is unknown here, revoked or expired')
  }
  const { id, user_id, scopes, expires_at, last_seen_at } = found
  countCall(id)
  refuseDisabled(found)
  if (now.getTime() - last_seen_at.getTime() > usedMs) {
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

// All callers must belong to the company. Ignores whether their tokens have expired, because a
// download or an upload may take longer than an hour.
export async function findLostRights<Caller extends Pick<WatchedCaller, 'person' | 'permissions'>>(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId,
  callers: readonly Caller[]
): Promise<Map<Caller, AppError>> {
  const ids = [...new Set(callers.map(({ person }) => person.session_id))]
  const rows = await inCompany(deps.db, company_id, tx => readSessionsAndKeys(tx, ids))
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
 * For calls that have waited for a lock: throws if the caller's session or key has ended since the
 * call began. The transaction must be of the caller's company.
 */
export async function requireStillLive(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  person: AuthenticatedCaller
): Promise<void> {
  const [row] = await readSessionsAndKeys(tx, [person.session_id])
  const session = row && isLive(row, deps.clock()) ? row : undefined
  const reason = findLostRight(session, { person, permissions: [] })
  if (reason) throw reason
}

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

export function sessionEndedError(): AppError {
  return new AppError('unauthenticated', 'The session has ended')
}

interface SessionRow {
  id: string
  user_id: string
  created_at: Date
  expires_at: Date
  revoked_at: Date | null
  pending: boolean
  confirmed_until: Date | null
  last_seen_at: Date
  scopes: string[]
  /** Null, as `tokens_valid_after`, if the session belongs to an unconfirmed sign-up. */
  permissions: string[] | null
  tokens_valid_after: Date | null
  user_disabled: DisabledMark | null
  company_disabled: DisabledMark | null
}

// written by hand, because every call runs one of these statements

const sessionsSql = `
  select session.id, session.user_id, session.created_at, session.expires_at, session.revoked_at,
    session.pending, session.confirmed_until, session.last_seen_at, '{}'::text[] as scopes,
    person.permissions, person.tokens_valid_after,
    person.disabled as user_disabled, company.disabled as company_disabled
  from session
  join company on company.id = session.company_id
  left join "user" person
    on person.company_id = session.company_id and person.id = session.user_id
  where session.company_id = $1 and session.id = any($2::uuid[])`

// a key stays valid when its owner signs out everywhere, so `tokens_valid_after` is its own time
const keysSql = `
  select api_key.id, api_key.user_id, api_key.created_at, api_key.expires_at,
    null::timestamptz as revoked_at, false as pending, null::timestamptz as confirmed_until,
    coalesce(api_key.last_used_at, 'epoch') as last_seen_at, api_key.scopes,
    '{}'::text[] as permissions, api_key.created_at as tokens_valid_after,
    person.disabled as user_disabled, company.disabled as company_disabled
  from api_key
  join company on company.id = api_key.company_id
  join "user" person on person.company_id = api_key.company_id and person.id = api_key.user_id
  where api_key.company_id = $1`

const keyOfHashSql = `${keysSql} and api_key.hash = $2`

function readSessionsAndKeys(tx: Tx, ids: readonly string[]): Promise<SessionRow[]> {
  const text = `${sessionsSql} union all ${keysSql} and api_key.id = any($2::uuid[])`
  return tx.raw({ text, values: [tx.companyId, ids] })
}

// the start of the session and not `iat` of a token, because that has no milliseconds
function isLive(session: SessionRow, now: Date): boolean {
  const { created_at, expires_at, revoked_at, pending, tokens_valid_after } = session
  if (revoked_at || expires_at <= now) return false
  return tokens_valid_after ? created_at >= tokens_valid_after : pending
}

function findDisabled(found: SessionRow): AppError | undefined {
  const { company_disabled, user_disabled, permissions } = found
  if (company_disabled) return accountDisabledError('company', company_disabled, permissions)
  return user_disabled ? accountDisabledError('user', user_disabled) : undefined
}

function refuseDisabled(found: SessionRow): void {
  const disabled = findDisabled(found)
  if (disabled) throw disabled
}

/**
 * Only administrators of a suspended company are told why it is suspended. `permissions` are those
 * of the caller.
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
