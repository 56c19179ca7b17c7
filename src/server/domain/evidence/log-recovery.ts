import { sql } from 'kysely'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type LockedLog, lockLog } from './logs.ts'

/** `db` connects as the owner of the tables, because the service may not delete leaves. */
export type RecoveryDeps = Pick<
  Deps,
  'db' | 'keys' | 'companyKeys' | 'random' | 'clock' | 'settings' | 'logFiles'
>

/** A log cannot be mended in this way. The message is for operators. */
export class LogRefusal extends Error {}

export interface StoredLeaf {
  leaf_id: string
  leaf: string
  hash: Uint8Array
}

export function inLockedLog<T>(
  deps: RecoveryDeps,
  company: CompanyId,
  run: (tx: Tx, log: LockedLog) => Promise<T>
): Promise<T> {
  return inCompany(deps.db, company, async tx => {
    await allowLongWork(tx)
    const locked = await lockLog(tx)
    if (!locked) throw new LogRefusal('This company has no log.')
    return run(tx, locked)
  })
}

// Until the transaction ends, no leaf is committed, so deposits are refused. What takes long comes before.
export async function lockHead(tx: Tx): Promise<void> {
  await selectInCompany(tx, 'log_head').forUpdate().select('leaf_seq').executeTakeFirstOrThrow()
}

// an operator waits for it, and a log may have millions of leaves
export async function allowLongWork(tx: Tx): Promise<void> {
  await sql`set local statement_timeout = 0`.execute(tx)
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
}

export function readNewestNote(
  tx: Tx,
  log_no: number
): Promise<{ size: number; note: string } | undefined> {
  return selectInCompany(tx, 'log_checkpoint')
    .where('log_no', '=', log_no)
    .orderBy('size', 'desc')
    .limit(1)
    .select(['size', 'note'])
    .executeTakeFirst()
}

export function readLeaves(
  tx: Tx,
  log_no: number,
  from: number,
  to = Number.MAX_SAFE_INTEGER
): Promise<StoredLeaf[]> {
  return selectInCompany(tx, 'log_leaf')
    .where('log_no', '=', log_no)
    .where('idx', '>=', from)
    .where('idx', '<', to)
    .orderBy('idx')
    .select(['leaf_id', 'leaf', 'hash'])
    .execute()
}

export async function deleteLeaves(tx: Tx, log_no: number, from: number): Promise<void> {
  await tx
    .deleteFrom('log_leaf')
    .where('company_id', '=', tx.companyId)
    .where('log_no', '=', log_no)
    .where('idx', '>=', from)
    .execute()
}

export async function insertLeaves(
  tx: Tx,
  log_no: number,
  from: number,
  leaves: readonly StoredLeaf[]
): Promise<void> {
  await sql`
    insert into log_leaf (company_id, log_no, idx, leaf_id, leaf, hash)
    select ${tx.companyId}::uuid, ${log_no}::int, ${from}::bigint + nth - 1, leaf_id, leaf, hash
    from unnest(
      ${leaves.map(({ leaf_id }) => leaf_id)}::text[], ${leaves.map(({ leaf }) => leaf)}::text[],
      ${leaves.map(({ hash }) => Buffer.from(hash))}::bytea[]
    ) with ordinality as given (leaf_id, leaf, hash, nth)`.execute(tx)
}

// a history entry says which leaf it has, and where
export async function noteNewLeaves(
  tx: Tx,
  first: number,
  leaves: readonly StoredLeaf[]
): Promise<void> {
  const given = sql`unnest(
    ${leaves.map(({ leaf_id }) => leaf_id)}::text[],
    ${leaves.map(({ hash }) => Buffer.from(hash).toString('hex'))}::text[]
  ) with ordinality as given (leaf_id, leaf_hash, nth)`
  const company = tx.companyId
  await sql`
    update request set facts = facts || jsonb_build_object('leaf_hash', leaf_hash)
    from deposit, ${given}
    where deposit.company_id = ${company} and deposit.id = leaf_id
      and request.company_id = ${company} and request.id = deposit.request_id`.execute(tx)
  await sql`
    update event set payload = payload || jsonb_build_object('leaf_hash', leaf_hash, 'leaf_index', ${first}::bigint + nth - 1)
    from deposit, ${given}
    where deposit.company_id = ${company} and deposit.id = leaf_id
      and event.company_id = ${company} and event.request_id = deposit.request_id
      and event.payload ? 'leaf_hash'`.execute(tx)
}
