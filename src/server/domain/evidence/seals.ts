import { sql } from 'kysely'
import type { LogProgress, Rung } from '../../../contract/requests.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { LogState } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

/** A record is sealed once a signed checkpoint covers its leaf. */
export interface Seal {
  rung: Rung
  leaf_index: number
  sealed?: string
}

interface LeafRow {
  leaf_id: string
  idx: number
  state: LogState | null
  published_size: number | null
  sealed_at: Date | null
}

/** Returns them by the ids of the deposits. */
export async function readSeals(
  tx: Tx,
  deposit_ids: readonly string[]
): Promise<Map<string, Seal>> {
  if (deposit_ids.length === 0) return new Map()
  const { rows } = await sql<LeafRow>`
    select leaf.leaf_id, leaf.idx, state.state, state.published_size,
      case when ${isFirstCheckpointKept} then (
        select published_at from log_checkpoint
         where company_id = leaf.company_id and log_no = leaf.log_no and size > leaf.idx
         order by size limit 1
      ) end as sealed_at
    from log_leaf as leaf
      join deposit on deposit.company_id = leaf.company_id and deposit.id = leaf.leaf_id
      left join log_state as state
        on state.company_id = leaf.company_id and state.log_no = leaf.log_no
    where leaf.company_id = ${tx.companyId}::uuid
      and leaf.leaf_id = any(${deposit_ids}::text[])`.execute(tx)
  return new Map(rows.map(row => [row.leaf_id, sealOf(row)]))
}

const keptDays = 90

/** Deletes old checkpoints, except each log's newest and its first, which proves the policy in receipts. */
export async function deleteOldCheckpoints(
  deps: Pick<Deps, 'db' | 'clock'>,
  company: CompanyId
): Promise<void> {
  const before = new Date(deps.clock().getTime() - keptDays * 86_400_000)
  await inCompany(deps.db, company, tx =>
    sql`
      delete from log_checkpoint old using log_state log
      where old.company_id = ${company} and log.company_id = ${company} and log.log_no = old.log_no
        and old.published_at < ${before} and old.size > 1 and old.size < log.published_size`.execute(
      tx
    )
  )
}

// The first checkpoint that covers a record is kept if the record itself is younger than the limit, or
// if a checkpoint is that does not cover the record.
const isFirstCheckpointKept = sql<boolean>`(
  deposit.recorded_at > now() - make_interval(days => ${keptDays}) or (
    select published_at > now() - make_interval(days => ${keptDays}) from log_checkpoint
     where company_id = leaf.company_id and log_no = leaf.log_no and size <= leaf.idx
     order by size desc limit 1
  )
)`

function sealOf({ sealed_at, ...row }: LeafRow): Seal {
  const rung = rungOf(row)
  const isTimed = rung === 'sealed' && sealed_at !== null
  return { leaf_index: row.idx, rung, ...(isTimed ? { sealed: sealed_at.toISOString() } : {}) }
}

/** `state` and `published_size` are those of the leaf's log, null before it is begun. */
export function rungOf({
  idx,
  state,
  published_size
}: Omit<LeafRow, 'leaf_id' | 'sealed_at'>): Rung {
  if (idx < (published_size ?? 0)) return 'sealed'
  return isFrozen(state) ? 'sealing_paused' : 'recorded'
}

/** Whether nothing is signed until an operator has looked at the log. */
export function isFrozen(state: LogState | null): boolean {
  return state !== null && state !== 'running' && state !== 'retired'
}

/** Returns undefined before the log is begun. */
export async function readLogProgress(tx: Tx): Promise<LogProgress | undefined> {
  const row = await selectInCompany(tx, 'log_head')
    .innerJoin('log_state', join => joinInCompany(join, 'log_state.log_no', 'log_head.log_no'))
    .select(({ selectFrom }) => [
      'log_state.state',
      'log_state.published_size',
      selectFrom('log_checkpoint')
        .whereRef('log_checkpoint.company_id', '=', 'log_head.company_id')
        .whereRef('log_checkpoint.log_no', '=', 'log_head.log_no')
        .whereRef('log_checkpoint.size', '=', 'log_state.published_size')
        .select('log_checkpoint.published_at')
        .as('published_at')
    ])
    .executeTakeFirst()
  if (!row) return undefined
  const { state, published_size: size, published_at } = row
  return {
    size,
    ...(published_at ? { at: published_at.toISOString() } : {}),
    ...(isFrozen(state) ? { paused: true as const } : {})
  }
}
