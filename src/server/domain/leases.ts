import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Tx } from '../db/scope.ts'

type LeasedTable = 'upload' | 'mail' | 'company'

/**
 * Describes the right of one process to work on a row until a certain time. The process extends the
 * time while it works.
 */
export interface Lease<Table extends LeasedTable> {
  table: Table
  /**
   * The column that contains the end of the lease. A row without an end, or with one in the past,
   * is free.
   */
  until: string & keyof Database[Table]
  /** How long a lease lasts without being renewed, in milliseconds. */
  ms: number
}

interface Change {
  id: string
  /** A further condition that the row must satisfy. */
  where?: RawBuilder<SqlBool> | undefined
  /** Further columns to set in the same statement. */
  set?: Record<string, unknown> | undefined
}

/** Returns the SQL condition that a row is not leased. */
export function isFree<Table extends LeasedTable>(
  { until }: Lease<Table>,
  now: Date
): RawBuilder<SqlBool> {
  return sql`(${sql.ref(until)} is null or ${sql.ref(until)} <= ${now})`
}

/**
 * Leases the first free row of the company. Skips rows that another transaction is leasing at this
 * moment. Returns the updated row, or undefined if no row is free.
 */
export function claimNext<Table extends 'upload' | 'mail'>(
  tx: Tx,
  lease: Lease<Table>,
  now: Date,
  { where, orderBy, set }: Omit<Change, 'id'> & { orderBy: RawBuilder<unknown> }
): Promise<Selectable<Database[Table]> | undefined> {
  const next = sql`(
    select id from ${sql.table(lease.table)}
    where company_id = ${tx.companyId} and ${isFree(lease, now)} and (${where ?? sql`true`})
    order by ${orderBy} limit 1 for update skip locked)`
  return write(tx, lease, { id: next, set }, endOf(lease, now))
}

/**
 * Leases the row with this id if it is free. `free` can be another condition for a free row.
 * Returns the updated row, or undefined if another process has leased it.
 */
export function claim<Table extends LeasedTable>(
  tx: Tx,
  lease: Lease<Table>,
  now: Date,
  { id, where, set, free = isFree(lease, now) }: Change & { free?: RawBuilder<SqlBool> }
): Promise<Selectable<Database[Table]> | undefined> {
  const isClaimed = sql<SqlBool>`(${free}) and (${where ?? sql`true`})`
  return write(tx, lease, { id, where: isClaimed, set }, endOf(lease, now))
}

/** Extends the lease of a row. Returns false if no row satisfies the conditions in `change`. */
export async function renew<Table extends LeasedTable>(
  tx: Tx,
  lease: Lease<Table>,
  now: Date,
  change: Change
): Promise<boolean> {
  return (await write(tx, lease, change, endOf(lease, now))) !== undefined
}

/**
 * Ends the lease of a row. The row is free at once or, with `from`, from that time on. Returns
 * false if no row satisfies the conditions in `change`.
 */
export async function release<Table extends LeasedTable>(
  tx: Tx,
  lease: Lease<Table>,
  change: Change,
  from: Date | null = null
): Promise<boolean> {
  return (await write(tx, lease, change, from)) !== undefined
}

function endOf({ ms }: Pick<Lease<LeasedTable>, 'ms'>, now: Date): Date {
  return new Date(now.getTime() + ms)
}

async function write<Table extends LeasedTable>(
  tx: Tx,
  { table, until }: Lease<Table>,
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
