import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { deleteInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

const keptDays = 7
const forgottenAtOnce = 1000

/** `actor` (the caller's id), `route` and `key` together identify the call. */
export interface IdempotentCall {
  actor: string
  route: string
  key: string | undefined
  /** A later call with the same key and another input is refused. */
  input: unknown
}

/**
 * Stores the result of `effect`, and returns it again for a repeated call. Effect and result are in
 * one transaction, so a crash undoes both. Throws `idempotency_in_flight` while another call with
 * the same key runs.
 */
export async function runOnce<Body extends object>(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  { key, input, ...caller }: IdempotentCall,
  effect: () => Promise<Body>
): Promise<{ body: Body; replayed: boolean }> {
  if (key === undefined) return { body: await effect(), replayed: false }
  const [outcome] = await claimIdempotencyKeys<Body>(tx, deps, caller, [{ key, input }])
  if (outcome instanceof AppError) throw outcome
  if (outcome && outcome !== 'claimed') return { ...outcome, replayed: true }
  const body = await effect()
  await storeIdempotentResponses(tx, caller, [{ key, body }])
  return { body, replayed: false }
}

/** Deletes up to 1000. Returns whether there may be more. */
export async function deleteExpiredResponses(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - keptDays * 86_400_000)
  return inCompany(deps.db, company_id, async tx => {
    const statement = deleteExpiredResponsesStatement(company_id, before, forgottenAtOnce)
    return (await statement.execute(tx)).rows.length === forgottenAtOnce
  })
}

export const deleteExpiredResponsesStatement = (
  company_id: CompanyId,
  before: Date,
  batch: number
) =>
  sql<{ key: string }>`
      delete from idempotency
      where company_id = ${company_id}::uuid and (actor, route, key) in (
        select actor, route, key from idempotency
        where company_id = ${company_id}::uuid and created_at < ${before}::timestamptz
        order by created_at limit ${batch}::int
      )
      returning key`

export type IdempotencyKeyOutcome<Body> =
  /** The caller must run the call, and then store its response or free its key. */
  | 'claimed'
  /** The key was used before, and this is the response that was stored. */
  | { body: Body }
  | AppError

type CallsOfOne = Pick<IdempotentCall, 'actor' | 'route'>

/**
 * The keys must differ. Claims them in sorted order, so that two parallel callers cannot deadlock.
 * Returns an outcome for each call.
 */
export async function claimIdempotencyKeys<Body extends object>(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  scope: CallsOfOne,
  calls: readonly { key: string; input: unknown }[]
): Promise<IdempotencyKeyOutcome<Body>[]> {
  const marked = calls.map(({ key, input }) => ({
    key,
    fingerprint: deps.keys.mac('repetition', JSON.stringify(input))
  }))
  const { claimed, held } = await claimKeys(tx, scope, marked, deps.clock())
  const rest = marked.filter(({ key }) => !claimed.has(key) && !held.has(key))
  const answers = rest.length === 0 ? [] : await readAnswers(tx, scope, rest)
  const kept = new Map(answers.map(row => [row.key, row]))
  return marked.map(({ key, fingerprint }) => {
    if (claimed.has(key)) return 'claimed'
    const row = kept.get(key)
    // without an answer: it expired between the two statements, and the next attempt finds the key
    // free
    if (!row?.body) return inFlight()
    if (!row.fingerprint.equals(fingerprint)) return idempotencyKeyReusedError()
    return { body: row.body as Body } // as: stored for the same route
  })
}

type MarkedKey = { key: string; fingerprint: Buffer }

// applies only to keys that are claimed one at a time, after the attempt to claim all together has
// timed out
const heldKeyMillis = 100

// `claimed` are the keys that were new, `held` those that another running call uses
async function claimKeys(
  tx: Tx,
  scope: CallsOfOne,
  calls: readonly MarkedKey[],
  now: Date
): Promise<{ claimed: Set<string>; held: Set<string> }> {
  const sorted = calls.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const insert = async (some: readonly MarkedKey[]) => {
    const keys = some.map(({ key }) => key)
    const fingerprints = some.map(({ fingerprint }) => fingerprint)
    const { rows } = await sql<{ key: string }>`
      insert into idempotency (company_id, actor, route, key, fingerprint, created_at)
      select ${tx.companyId}::uuid, ${scope.actor}::uuid, ${scope.route}, key, fingerprint,
        ${now}::timestamptz
      from unnest(${keys}::text[], ${fingerprints}::bytea[]) as call (key, fingerprint)
      order by key
      on conflict do nothing
      returning key`.execute(tx)
    return rows.map(({ key }) => key)
  }
  const all = await unlessHeld(tx, () => insert(sorted))
  if (all) return { claimed: new Set(all), held: new Set() }
  const claimed = new Set<string>()
  const held = new Set<string>()
  await sql`set local lock_timeout = ${sql.lit(heldKeyMillis)}`.execute(tx)
  for (const call of sorted) {
    const own = await unlessHeld(tx, () => insert([call]))
    if (!own) held.add(call.key)
    for (const key of own ?? []) claimed.add(key)
  }
  await sql`set local lock_timeout to default`.execute(tx)
  return { claimed, held }
}

// after a timeout the transaction can continue
async function unlessHeld<Result>(tx: Tx, run: () => Promise<Result>): Promise<Result | undefined> {
  await sql`savepoint claim`.execute(tx)
  try {
    return await run()
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    await sql`rollback to savepoint claim`.execute(tx)
    return undefined
  }
}

async function readAnswers(
  tx: Tx,
  { actor, route }: CallsOfOne,
  calls: readonly MarkedKey[]
): Promise<{ key: string; fingerprint: Buffer; body: object | null }[]> {
  const keys = calls.map(({ key }) => key)
  const { rows } = await sql<{ key: string; fingerprint: Buffer; body: object | null }>`
    select key, fingerprint, body from idempotency
    where company_id = ${tx.companyId}::uuid and actor = ${actor}::uuid and route = ${route}
      and key = any(${keys}::text[])`.execute(tx)
  return rows
}

/** May be sent after a log was locked, because it changes only rows of this transaction. */
export async function storeIdempotentResponses(
  tx: Tx,
  { actor, route }: CallsOfOne,
  answers: readonly { key: string; body: object }[]
): Promise<void> {
  const keys = answers.map(({ key }) => key)
  const bodies = answers.map(({ body }) => JSON.stringify(body))
  await sql`
    update idempotency set status = 200, body = answer.body::jsonb
    from unnest(${keys}::text[], ${bodies}::text[]) as answer (key, body)
    where idempotency.company_id = ${tx.companyId}::uuid and actor = ${actor}::uuid
      and route = ${route} and idempotency.key = answer.key`.execute(tx)
}

/** With `body`, frees only keys whose stored response is `body`. */
export async function releaseIdempotencyKeys(
  tx: Tx,
  { actor, route }: CallsOfOne,
  keys: string[],
  body?: object
): Promise<void> {
  const own = deleteInCompany(tx, 'idempotency')
    .where('actor', '=', actor)
    .where('route', '=', route)
    .where(sql<boolean>`key = any(${keys}::text[])`)
  await (body ? own.where('body', '=', JSON.stringify(body)) : own).execute()
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

function inFlight(): AppError {
  return new AppError('idempotency_in_flight', 'The same call is still running', { retryAfter: 2 })
}

export function idempotencyKeyReusedError(): AppError {
  return new AppError('idempotency_key_reused', 'The key was used for another input')
}
