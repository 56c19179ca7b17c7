import { sql } from 'kysely'
import { disabledDetails } from '../../../contract/disabled.ts'
import { AppError } from '../../../contract/errors.ts'
import { inSameCompany } from '../../db/joins.ts'
import { prepare } from '../../db/prepared-statements.ts'
import type { StatementBuilder } from '../../db/query-executor.ts'
import type { DisabledMark } from '../../db/schema.ts'
import { inCompanyOnce, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant, WaitingClient } from '../deps.ts'
import { isConfirmed, type Person } from './sessions.ts'

/** The call that is being authenticated, which counts against limits of concurrent calls. */
interface InFlight {
  caller: WaitingClient | undefined
  /**
   * Counts the call against the person's limit of concurrent calls. Throws `rate_limited` if the
   * person has too many.
   */
  countPerson(id: string): void
}

/**
 * Returns the person to whom an access token belongs. Throws `unauthenticated` if the token is
 * invalid, revoked, for another host or from before the person signed out everywhere. Throws
 * `account_disabled` if the person or the company is disabled.
 */
export async function authenticate(
  deps: Pick<Deps, 'db' | 'tokens' | 'clock'>,
  tenant: Tenant,
  token: string,
  inFlight?: InFlight
): Promise<Person> {
  const claims = await deps.tokens.read(tenant, token, deps.clock())
  inFlight?.countPerson(claims.user_id)
  const { company_id } = tenant
  const found = await findSession(deps, { company_id, ...claims }, inFlight?.caller)
  if (!found) throw new AppError('unauthenticated', 'The session has ended')
  refuseDisabled('company', found.company_disabled)
  refuseDisabled('user', found.user_disabled)
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
    confirmed: isConfirmed(found.confirmed_until, deps.clock())
  }
}

/** The status of a session. `disabled` means that the person or the company is disabled. */
export type SessionStatus = 'valid' | 'ended' | 'disabled'

/**
 * Returns the current status of the session of `person`. A session counts as ended when the token
 * of `person` has expired.
 */
export async function getSessionStatus(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: Person
): Promise<SessionStatus> {
  const standings = await getSessionStatuses(deps, person.company_id, [person])
  return standings.get(person) ?? 'ended'
}

/**
 * Returns whether the session of `person` is valid, even if their token has expired. Used while
 * something long goes on, such as a download, which may outlast the token.
 */
export async function isSignedIn(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: Person
): Promise<boolean> {
  return (await getSessionStatus(deps, { ...person, token_expires: farFuture })) === 'valid'
}

const farFuture = new Date(8.64e15)

/**
 * Returns the status of the session of each of `people`, with one query. All must belong to the
 * company.
 */
export async function getSessionStatuses<Holder extends Person>(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId,
  people: Holder[]
): Promise<Map<Holder, SessionStatus>> {
  const ids = [...new Set(people.map(({ session_id }) => session_id))]
  const rows = await inCompanyOnce(deps.db, company_id, tx =>
    tx.run(manySessions, { company_id, ids })
  )
  const now = deps.clock()
  const live = new Map(rows.filter(row => isLive(row, now)).map(row => [row.id, row]))
  const standingOf = ({ id, session_id, token_expires }: Person): SessionStatus => {
    const session = live.get(session_id)
    if (token_expires <= now || session?.user_id !== id) return 'ended'
    return session.company_disabled || session.user_disabled ? 'disabled' : 'valid'
  }
  return new Map(people.map(person => [person, standingOf(person)]))
}

interface Wanted {
  company_id: CompanyId
  user_id: string
  session_id: string
}

async function findSession(
  deps: Pick<Deps, 'db' | 'clock'>,
  wanted: Wanted,
  caller: WaitingClient | undefined
) {
  const read = (tx: Tx) => tx.run(oneSession, wanted)
  const [found] = await inCompanyOnce(deps.db, wanted.company_id, read, { caller })
  return found && isLive(found, deps.clock()) ? found : undefined
}

const oneSession = prepare((db, { company_id, user_id, session_id }: Wanted) =>
  sessionsOf(db, company_id)
    .where('session.id', '=', session_id)
    .where('session.user_id', '=', user_id)
)

const manySessions = prepare((db, { company_id, ids }: { company_id: CompanyId; ids: string[] }) =>
  sessionsOf(db, company_id).where('session.id', '=', sql<string>`any(${ids}::uuid[])`)
)

/**
 * Builds the query of the company's sessions, each with its person. The session of an unconfirmed
 * sign-up has no person.
 */
function sessionsOf(db: StatementBuilder, company_id: CompanyId) {
  return db
    .selectFrom('session')
    .leftJoin('user', join => inSameCompany(join, 'user.id', 'session.user_id'))
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
 * Returns whether a session is neither revoked nor expired, and began after its person last signed
 * out everywhere. Compares the start of the session, because the `iat` of a token has no
 * milliseconds.
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

function refuseDisabled(scope: 'user' | 'company', mark: DisabledMark | null): void {
  if (mark) throw accountDisabled(scope, mark)
}

/** Returns the error of a call by a disabled person or in a disabled company. */
export function accountDisabled(scope: 'user' | 'company', mark: DisabledMark): AppError {
  const who = scope === 'user' ? 'person' : 'company'
  return new AppError('account_disabled', `The ${who} is disabled`, {
    disabled: disabledDetails(scope, mark)
  })
}
