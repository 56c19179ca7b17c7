import { sql } from 'kysely'
import { AppError } from '../../contract/errors.ts'
import { prepare } from '../db/prepared-statements.ts'
import { inCompanyOnce, type Tx } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

/** For how many days a stored response is returned to repeated calls. */
const keptDays = 7
const forgottenAtOnce = 1000

/** A call with the header `Idempotency-Key`. Actor, route and key identify it. */
export interface IdempotentCall {
  actor: string
  route: string
  key: string
  /** The parsed input. A repeated call with the same key and another input is refused. */
  input: unknown
}

/**
 * Runs `effect` for the first call with a key and stores its result. Returns the stored result to
 * repeated calls. Effect and result are in one transaction, so a crash undoes both. Throws
 * `idempotency_in_flight` while another call with the same key runs, and `idempotency_key_reused`
 * for another input.
 */
export async function runOnce<Body extends object>(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  scope: { company_id: CompanyId; now: Date; act: IdempotentCall },
  effect: () => Promise<Body>
): Promise<{ body: Body; replayed: boolean }> {
  const { company_id, act } = scope
  // a keyed hash, because the input may contain the fingerprint of a document, which nobody must be
  // able to guess from the hash
  const fingerprint = deps.keys.mac('repetition', JSON.stringify(act.input))
  while (!(await claim(tx, scope, fingerprint))) {
    const body = await stored<Body>(tx, company_id, act, fingerprint)
    if (body) return { body, replayed: true }
    // the stored result expired between the two statements, so the key is free
  }
  const body = await effect()
  tx.sendWithCommit(tx.run(keepAnswer, { ...act, company_id, body: JSON.stringify(body) }))
  return { body, replayed: false }
}

interface Answer extends Omit<IdempotentCall, 'input'> {
  company_id: CompanyId
  body: string
}

const keepAnswer = prepare((db, { company_id, actor, route, key, body }: Answer) =>
  db
    .updateTable('idempotency')
    .set({ status: 200, body })
    .where('company_id', '=', company_id)
    .where('actor', '=', actor)
    .where('route', '=', route)
    .where('key', '=', key)
)

/**
 * Frees the key of a call whose effect was undone. Does nothing if the stored result is not `body`.
 */
export async function deleteAnswer(
  tx: Tx,
  { company_id, act, body }: { company_id: CompanyId; act: IdempotentCall; body: object }
): Promise<void> {
  await tx
    .deleteFrom('idempotency')
    .where('company_id', '=', company_id)
    .where('actor', '=', act.actor)
    .where('route', '=', act.route)
    .where('key', '=', act.key)
    .where('body', '=', JSON.stringify(body))
    .execute()
}

/** Deletes a batch of expired results. Returns whether there may be more. */
export async function deleteExpiredAnswers(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - keptDays * 86_400_000)
  return inCompanyOnce(deps.db, company_id, async tx => {
    const deleted = await tx.run(deleteAnswersBatch, { company_id, before, batch: forgottenAtOnce })
    return deleted.length === forgottenAtOnce
  })
}

export const deleteAnswersBatch = prepare(
  (_db, { company_id, before, batch }: { company_id: CompanyId; before: Date; batch: number }) =>
    sql<{ key: string }>`
      delete from idempotency
      where company_id = ${company_id}::uuid and (actor, route, key) in (
        select actor, route, key from idempotency
        where company_id = ${company_id}::uuid and created_at < ${before}::timestamptz
        order by created_at limit ${batch}::int
      )
      returning key`
)

async function claim(
  tx: Tx,
  scope: { company_id: CompanyId; now: Date; act: IdempotentCall },
  fingerprint: Buffer
): Promise<boolean> {
  const { actor, route, key } = scope.act
  try {
    // waits until another transaction that uses the key ends, at most `lock_timeout`
    const claimed = await tx.run(insertKey, {
      ...{ company_id: scope.company_id, actor, route, key, fingerprint },
      created_at: scope.now
    })
    return claimed.length > 0
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '55P03') {
      throw new AppError('idempotency_in_flight', 'The same call is still running', {
        cause: error,
        retryAfter: 2
      })
    }
    throw error
  }
}

interface Claim extends Omit<IdempotentCall, 'input'> {
  company_id: CompanyId
  fingerprint: Buffer
  created_at: Date
}

const insertKey = prepare((db, { company_id, actor, route, key, fingerprint, created_at }: Claim) =>
  db
    .insertInto('idempotency')
    .values({ company_id, actor, route, key, fingerprint, created_at })
    .onConflict(conflict => conflict.doNothing())
    .returning('key')
)

/**
 * Returns the stored result, or undefined if it has expired. Throws `idempotency_key_reused` for
 * another input.
 */
async function stored<Body>(
  tx: Tx,
  company_id: CompanyId,
  act: IdempotentCall,
  fingerprint: Buffer
): Promise<Body | undefined> {
  const row = await tx
    .selectFrom('idempotency')
    .where('company_id', '=', company_id)
    .where('actor', '=', act.actor)
    .where('route', '=', act.route)
    .where('key', '=', act.key)
    .select(['fingerprint', 'body'])
    .executeTakeFirst()
  if (!row) return undefined
  if (!row.fingerprint.equals(fingerprint)) {
    throw new AppError('idempotency_key_reused', 'The key was used for another input')
  }
  return row.body as Body // as: written by runOnce() for the same route
}
