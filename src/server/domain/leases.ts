import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Database } from '../db/schema.ts'
import type { Tx } from '../db/scope.ts'

type LeasedTable = 'upload' | 'mail' | 'company'

/**
 * The right of one process to work on a row until a time. The process moves this time ahead while
 * it works.
 */
export interface Lease<Table extends LeasedTable> {
  table: Table
  /** Column of the time. Nobody holds a row where it is absent or past. */
  until: string & keyof Database[Table]
  /** How long a process holds a row without renewing its lease. */
  ms: number
}

interface Change {
  id: string
  /** A further condition on the row. */
  where?: RawBuilder<SqlBool> | undefined
  /** Further columns to write in the same statement. */
  set?: Record<string, unknown> | undefined
}

/** Returns the condition under which nobody holds a row. */
export function isFree<Table extends LeasedTable>(
  { until }: Lease<Table>,
  now: Date
): RawBuilder<SqlBool> {
  return sql`(${sql.ref(until)} is null or ${sql.ref(until)} <= ${now})`
}

/**
 * Claims the first free row of the company and skips rows that another transaction is just claiming.
 * Returns the row as it then is, or undefined where none is free.
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
 * Claims a row that is free, or for which `free` holds. Returns the row as it then is, or undefined
 * where another process holds it.
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

/** Holds a row for longer. Returns whether there was one to hold. */
export async function renew<Table extends LeasedTable>(
  tx: Tx,
  lease: Lease<Table>,
  now: Date,
  change: Change
): Promise<boolean> {
  return (await write(tx, lease, change, endOf(lease, now))) !== undefined
}

/**
 * Releases a row, so that it can be claimed at once or from a given time on. Returns whether there
 * was one to release.
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
