import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { processRunsCondition } from '../../db/processes.ts'
import type { Database } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'

type LeasedTable = 'upload' | 'mail' | 'company' | 'import' | 'register_import'

/**
 * A lease is the right of one process to work on a row until a certain time. The process renews it
 * while it works; if the process dies, the lease ends by itself.
 */
export interface LeaseSettings<Table extends LeasedTable> {
  table: Table
  /** The column with the time at which the lease ends. */
  until: string & keyof Database[Table]
  ms: number
  /**
   * The column with the name of the process. With it, a row is free as soon as that process has
   * ended.
   */
  by?: string & keyof Database[Table]
}

interface Change {
  id: string
  where?: RawBuilder<SqlBool> | undefined
  /** Other columns that the same statement sets. */
  set?: Record<string, unknown> | undefined
}

export function unleasedCondition<Table extends LeasedTable>(
  { until, by }: LeaseSettings<Table>,
  now: Date
): RawBuilder<SqlBool> {
  const isOver = sql<SqlBool>`(${sql.ref(until)} is null or ${sql.ref(until)} <= ${now})`
  return by ? sql`(${isOver} or not ${processRunsCondition(sql.ref(by))})` : isOver
}

/** Skips rows that other transactions are leasing at this moment. */
export function takeNextLease<Table extends 'upload' | 'mail'>(
  tx: Tx,
  lease: LeaseSettings<Table>,
  now: Date,
  { where, orderBy, set }: Omit<Change, 'id'> & { orderBy: RawBuilder<unknown> }
): Promise<Selectable<Database[Table]> | undefined> {
  const next = sql`(
    select id from ${sql.table(lease.table)}
    where company_id = ${tx.companyId} and ${unleasedCondition(lease, now)} and (${where ?? sql`true`})
    order by ${orderBy} limit 1 for update skip locked)`
  return write(tx, lease, { id: next, set }, endOf(lease, now))
}

/** Returns undefined if the row was not leased. By default, `free` is `unleasedCondition`. */
export function takeLease<Table extends LeasedTable>(
  tx: Tx,
  lease: LeaseSettings<Table>,
  now: Date,
  { id, where, set, free = unleasedCondition(lease, now) }: Change & { free?: RawBuilder<SqlBool> }
): Promise<Selectable<Database[Table]> | undefined> {
  const isClaimed = sql<SqlBool>`(${free}) and (${where ?? sql`true`})`
  return write(tx, lease, { id, where: isClaimed, set }, endOf(lease, now))
}

/**
 * Leases the import that has waited longest. It locks all that wait, so that two processes cannot
 * begin two imports of one company.
 */
export async function takeOldestImport<Table extends 'import' | 'register_import'>(
  tx: Tx,
  { clock, process }: Pick<Deps, 'clock' | 'process'>,
  lease: LeaseSettings<Table>,
  waits: RawBuilder<SqlBool>
): Promise<Selectable<Database[Table]> | undefined> {
  const now = clock()
  const { rows } = await sql<{ id: string; is_free: boolean }>`
    select id, ${unleasedCondition(lease, now)} as is_free from ${sql.table(lease.table)}
    where company_id = ${tx.companyId} and ${waits} order by requested_at, id for update`.execute(
    tx
  )
  const [next] = rows
  if (!next || rows.some(({ is_free }) => !is_free)) return undefined
  const set = {
    generation: sql`generation + 1`,
    attempts: sql`attempts + 1`,
    leased_by: process ?? null
  }
  return takeLease(tx, lease, now, { id: next.id, set })
}

/** Returns false, and changes nothing, if the row does not satisfy `change.where`. */
export async function renewLease<Table extends LeasedTable>(
  tx: Tx,
  lease: LeaseSettings<Table>,
  now: Date,
  change: Change
): Promise<boolean> {
  return (await write(tx, lease, change, endOf(lease, now))) !== undefined
}

/** With `from`, another process can lease the row only from that time on. */
export async function releaseLease<Table extends LeasedTable>(
  tx: Tx,
  lease: LeaseSettings<Table>,
  change: Change,
  from: Date | null = null
): Promise<boolean> {
  return (await write(tx, lease, change, from)) !== undefined
}

function endOf({ ms }: Pick<LeaseSettings<LeasedTable>, 'ms'>, now: Date): Date {
  return new Date(now.getTime() + ms)
}

async function write<Table extends LeasedTable>(
  tx: Tx,
  { table, until }: LeaseSettings<Table>,
  { id, where, set = {} }: Omit<Change, 'id'> & { id: string | RawBuilder<unknown> },
  end: Date | null
): Promise<Selectable<Database[Table]> | undefined> {
  const company = table === 'company' ? 'id' : 'company_id'
  const changes = Object.entries({ [until]: end, ...set }).map(
    ([column, value]) => sql`${sql.ref(column)} = ${value}`
  )
  const { rows } = await sql<Selectable<Database[Table]>>`
    update ${sql.table(table)} set ${sql.join(changes)}
    where ${sql.ref(company)} = ${tx.companyId} and id = ${id} and (${where ?? sql`true`})
    returning *`.execute(tx)
  return rows[0]
}
