import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { deleteInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

/** How many days the response to a call with an idempotency key is stored. */
const keptDays = 7
const forgottenAtOnce = 1000

/**
 * A call that may have the header `Idempotency-Key`. The caller's id (`actor`), the route and the
 * key together identify it.
 */
export interface IdempotentCall {
  actor: string
  route: string
  key: string | undefined
  /** The input of the call. A later call with the same key and another input is refused. */
  input: unknown
}

/**
 * Runs `effect` for the first call with an idempotency key and stores its result. For a repeated
 * call, returns the stored result with `replayed` true. A call without a key always runs `effect`.
 * Effect and result are in one transaction, so a crash undoes both. Throws `idempotency_in_flight`
 * while another call with the same key runs, and `idempotency_key_reused` if the first call had
 * another input.
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

/**
 * Deletes up to 1000 stored responses of idempotent calls that are older than a week. Returns
 * whether there may be more.
 */
export async function deleteExpiredResponses(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - keptDays * 86_400_000)
  return inCompany(deps.db, company_id, async tx => {
    const statement = deleteExpiredResponsesStatement({
      ...{ company_id, before, batch: forgottenAtOnce }
    })
    return (await statement.execute(tx)).rows.length === forgottenAtOnce
  })
}

/**
 * The statement that deletes a company's oldest stored responses: `batch` at most, and only those
 * stored before `before`.
 */
export const deleteExpiredResponsesStatement = ({
  company_id,
  before,
  batch
}: {
  company_id: CompanyId
  before: Date
  batch: number
}) =>
  sql<{ key: string }>`
      delete from idempotency
      where company_id = ${company_id}::uuid and (actor, route, key) in (
        select actor, route, key from idempotency
        where company_id = ${company_id}::uuid and created_at < ${before}::timestamptz
        order by created_at limit ${batch}::int
      )
      returning key`

/**
 * What `claimIdempotencyKeys` found for the key of one call. An error says that the key is in use,
 * or was used for another input.
 */
export type IdempotencyKeyOutcome<Body> =
  /**
   * The key was new. The caller of `claimIdempotencyKeys` must run the call, and then store its
   * response or free its key.
   */
  | 'claimed'
  /** The key was used before. `body` is the response that was stored. */
  | { body: Body }
  | AppError

/** The caller and the route of calls that differ only in their keys. */
type CallsOfOne = Pick<IdempotentCall, 'actor' | 'route'>

/**
 * Claims the idempotency keys of several calls of one actor. The keys must differ. Claims them in
 * sorted order, so that two parallel callers cannot deadlock. Returns an outcome for each call, in
 * the order of the calls.
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

/**
 * How long to wait for a key that another running call uses, in milliseconds. This timeout applies
 * only when keys are claimed one at a time, after the attempt to claim all of them together has
 * timed out.
 */
const heldKeyMillis = 100

/**
 * Claims idempotency keys. `claimed` are the keys that were new, `held` those that another running
 * call uses. All other keys were used before.
 */
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

/**
 * Runs a statement that may wait for a lock. If the wait times out, undoes the statement and
 * returns undefined, and the transaction can continue.
 */
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

/**
 * Stores the responses to calls whose keys `claimIdempotencyKeys` has claimed. May be sent after a
 * log was locked, because it changes only rows of this transaction.
 */
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

/**
 * Frees idempotency keys of calls that were refused or whose effect was undone. With `body`, frees
 * only keys whose stored response is `body`.
 */
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

/** Returns the error for an idempotency key that was used before with another input. */
export function idempotencyKeyReusedError(): AppError {
  return new AppError('idempotency_key_reused', 'The key was used for another input')
}
