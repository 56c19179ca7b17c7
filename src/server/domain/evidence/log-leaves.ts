import type { Tx } from '../../db/scope.ts'

/** A leaf to append to a company's evidence log, and its hash. */
export interface NewLeaf {
  record_id: string
  leaf: string
  hash: Uint8Array
}

/**
 * Appends leaves, in the given order, to the evidence log of the transaction's company. Must be the
 * last statement of the transaction, so that the company's row in `log_head` is locked only for a
 * short time.
 */
export async function appendLeaves(tx: Tx, leaves: readonly NewLeaf[]): Promise<void> {
  const values = [
    tx.companyId,
    leaves.length,
    leaves.map(({ record_id }) => record_id),
    leaves.map(({ leaf }) => leaf),
    leaves.map(({ hash }) => Buffer.from(hash))
  ]
  await tx.raw({ text: appendSql, values })
}

// Leaves are numbered in the order of their commit. No number is below that of the newest event,
// because an earlier release numbers leaves by events, also while this one runs. Without a head the
// number is null, and the statement fails.
const appendSql = `
  with head as (
    update log_head set leaf_seq = greatest(leaf_seq + $2::bigint, event_seq)
    where company_id = $1 returning leaf_seq as last
  )
  insert into log_leaf (company_id, seq, record_id, leaf, hash)
  select $1, (select last from head) - $2::bigint + nth, record_id, leaf, hash
  from unnest($3::text[], $4::text[], $5::bytea[]) with ordinality as given (record_id, leaf, hash, nth)`
