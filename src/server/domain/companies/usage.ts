import { sql } from 'kysely'
import type { Usage } from '../../../contract/users.ts'
import { type Interval, intervals, periodOf } from '../../../core/limit-period.ts'
import { inSameCompany } from '../../db/joins.ts'
import { prepare } from '../../db/prepared-statements.ts'
import type { StatementBuilder } from '../../db/query-executor.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'

/**
 * The start of the period in which storage is counted. There is only one period, because used
 * storage is never reset.
 */
export const storagePeriod = new Date(0)

/**
 * Returns how much the person's groups have used and may use together, and what the person has used
 * of it. A limit is `null` if one of the groups is unlimited.
 */
export async function usageOf(
  tx: Tx,
  input: { company_id: CompanyId; user_id: string; now: Date }
): Promise<Usage> {
  const meters = await readMeters(tx, input)
  const total = (of: (meter: Meter) => number) => meters.reduce((sum, each) => sum + of(each), 0)
  const limited = (of: (meter: Meter) => number | null) =>
    meters.reduce<number | null>((sum, meter) => {
      const more = of(meter)
      return sum === null || more === null ? null : sum + more
    }, 0)
  const resets = meters.flatMap(({ resets_at }) => (resets_at ? [resets_at.getTime()] : []))
  return {
    requests_used: total(meter => meter.requestsTaken),
    requests_limit: limited(meter => meter.max_requests),
    requests_remaining: limited(meter => meter.requestsLeft),
    storage_used: total(meter => meter.bytesTaken),
    storage_limit: limited(meter => meter.max_storage),
    storage_remaining: limited(meter => meter.bytesLeft),
    resets_at: resets.length > 0 ? new Date(Math.min(...resets)).toISOString() : null,
    own: await readOwn(tx, input, meters)
  }
}

/**
 * The limits of a group and what is used of them. `requestsTaken` and `bytesTaken` include
 * reservations. `requestsLeft` and `bytesLeft` are `null` without a limit.
 */
export interface Meter {
  group_id: string
  period_start: Date
  resets_at: Date | null
  max_requests: number | null
  max_storage: number | null
  requestsTaken: number
  bytesTaken: number
  requestsLeft: number | null
  bytesLeft: number | null
}

const groupsOf = prepare((db, query: PersonsMeters) => groupsOfPerson(db, query))

const groupsFor = prepare((db, query: PersonsMeters & { category_id: string }) =>
  groupsOfPerson(db, query)
    .innerJoin('group_category', join => inSameCompany(join, 'group_category.group_id', 'group.id'))
    .where('group_category.category_id', '=', query.category_id)
)

const groupsNamed = prepare((db, query: MeterQuery & { group_ids: readonly string[] }) =>
  groupsFrom(db, query).where(sql<boolean>`"group".id = any (${query.group_ids}::uuid[])`)
)

function groupsOfPerson(db: StatementBuilder, query: PersonsMeters) {
  return groupsFrom(db, query)
    .innerJoin('group_user', join => inSameCompany(join, 'group_user.group_id', 'group.id'))
    .where('group_user.user_id', '=', query.user_id)
}

/**
 * Builds the query of groups with their limits and usage. A group has a row for each period with
 * usage that may be the current one, and at least one row.
 */
function groupsFrom(db: StatementBuilder, query: MeterQuery) {
  return db
    .selectFrom('group')
    .leftJoin('usage as requests', join =>
      inSameCompany(join, 'requests.group_id', 'group.id')
        .on('requests.kind', '=', 'requests')
        .on('requests.period_start', '>', earliestPeriod(query.now))
        .on('requests.period_start', '<=', latestPeriod(query.now))
    )
    .leftJoin('usage as storage', join =>
      inSameCompany(join, 'storage.group_id', 'group.id')
        .on('storage.kind', '=', 'storage')
        .on('storage.period_start', '=', storagePeriod)
    )
    .where('group.company_id', '=', query.company_id)
    .select([
      'group.id',
      'group.max_requests',
      'group.max_requests_interval',
      'group.max_storage',
      'group.created_at',
      'requests.period_start',
      'requests.used as requests_used',
      'requests.reserved as requests_reserved',
      'storage.used as storage_used',
      'storage.reserved as storage_reserved'
    ])
}

/**
 * Returns SQL for a time before the start of a group's current period, so that earlier periods are
 * not read. The time may be up to a day too early, because years differ in length; `periodOf` picks
 * the exact period afterwards. The SQL uses only `now` and the group's interval, because under
 * row-level security PostgreSQL could not use the index with anything else.
 */
function earliestPeriod(now: Date) {
  return sql<Date>`
    case "group".max_requests_interval
      when 'P1D' then ${now}::timestamptz - interval '2 days'
      when 'P30D' then ${now}::timestamptz - interval '31 days'
      when 'P1Y' then ${now}::timestamptz - interval '1 year 1 day'
      else '-infinity'
    end`
}

function latestPeriod(now: Date) {
  return sql<Date>`
    case when "group".max_requests_interval is null then "group".created_at else ${now}::timestamptz end`
}

interface MeterQuery {
  company_id: CompanyId
  now: Date
}

interface PersonsMeters extends MeterQuery {
  user_id: string
}

/**
 * Returns the limits and usage of the person's groups, or only of those that allow the category.
 */
export async function readMeters(
  tx: Tx,
  input: PersonsMeters & { category_id?: string }
): Promise<Meter[]> {
  const { category_id } = input
  const rows =
    category_id === undefined
      ? await tx.run(groupsOf, input)
      : await tx.run(groupsFor, { ...input, category_id })
  return metersOf(rows, input.now)
}

/** Returns the limits and usage of the groups in `group_ids`, by the group's id. */
export async function readGroupMeters(
  tx: Tx,
  input: MeterQuery & { group_ids: readonly string[] }
): Promise<Map<string, Meter>> {
  const meters = metersOf(await tx.run(groupsNamed, input), input.now)
  return new Map(meters.map(meter => [meter.group_id, meter]))
}

type MeterRow = Awaited<ReturnType<ReturnType<typeof groupsFrom>['execute']>>[number]

function metersOf(rows: MeterRow[], now: Date): Meter[] {
  return [...Map.groupBy(rows, row => row.id).values()].flatMap(taken => {
    const [group] = taken
    if (!group) return []
    const period = periodOf(intervalOf(group.max_requests_interval), group.created_at, now)
    const current = taken.find(row => row.period_start?.getTime() === period.start.getTime())
    const requestsTaken = (current?.requests_used ?? 0) + (current?.requests_reserved ?? 0)
    const bytesTaken = (group.storage_used ?? 0) + (group.storage_reserved ?? 0)
    return {
      group_id: group.id,
      period_start: period.start,
      resets_at: period.resets_at,
      max_requests: group.max_requests,
      max_storage: group.max_storage,
      requestsTaken,
      bytesTaken,
      requestsLeft: left(group.max_requests, requestsTaken),
      bytesLeft: left(group.max_storage, bytesTaken)
    }
  })
}

function left(limit: number | null, taken: number): number | null {
  return limit === null ? null : Math.max(0, limit - taken)
}

function intervalOf(text: string | null): Interval {
  return intervals.find(interval => interval === text) ?? null
}

/**
 * Returns what the person has used in the groups of `meters`, including what their open uploads
 * reserve.
 */
async function readOwn(
  tx: Tx,
  { company_id, user_id }: { company_id: CompanyId; user_id: string },
  meters: Meter[]
): Promise<{ requests_used: number; storage_used: number }> {
  const groups = meters.map(meter => meter.group_id)
  const periods = meters.map(meter => meter.period_start)
  const [own] = await tx.run(ownUsage, { company_id, user_id, groups, periods })
  return own ?? { requests_used: 0, storage_used: 0 }
}

interface OwnGroups {
  company_id: CompanyId
  user_id: string
  groups: string[]
  /** The start of the current period of each group in `groups`, in the same order. */
  periods: Date[]
}

/**
 * Sums what a person has used and reserved. The states of open uploads are read by separate
 * queries, because each state has an index of its own.
 */
const ownUsage = prepare(
  (_db, { company_id, user_id, groups, periods }: OwnGroups) => sql<{
    requests_used: number
    storage_used: number
  }>`
    with current (group_id, kind, period_start) as (
      select group_id, kind, case kind when 'requests' then period_start else ${storagePeriod}::timestamptz end
      from unnest(${groups}::uuid[], ${periods}::timestamptz[]) as meter (group_id, period_start),
        unnest(array['requests', 'storage']) as kind
    ), open_upload (group_id, period_start, bytes) as (
      select group_id, period_start, size - released from upload
      where company_id = ${company_id} and user_id = ${user_id} and state = 'uploading'
      union all
      select group_id, period_start, size - released from upload
      where company_id = ${company_id} and user_id = ${user_id} and state in ('received', 'held')
    ), own (kind, amount) as (
      select kind, used from user_usage join current using (group_id, kind, period_start)
      where company_id = ${company_id} and user_id = ${user_id}
      union all
      select kind, case kind when 'requests' then 1 else bytes end
      from open_upload join current using (group_id)
      where kind = 'storage' or open_upload.period_start = current.period_start
    )
    select
      coalesce(sum(amount) filter (where kind = 'requests'), 0)::bigint as requests_used,
      coalesce(sum(amount) filter (where kind = 'storage'), 0)::bigint as storage_used
    from own`
)
