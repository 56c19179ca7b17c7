import { sql } from 'kysely'
import type { UsageOfAllGroups } from '../../../contract/users.ts'
import { limitPeriodAt, limitPeriodLengths } from '../../../core/limit-period.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'

// used storage is never reset, so it has a single period
export const storagePeriodStart = new Date(0)

interface OwnUsage {
  requests_used: number
  storage_used: number
}

/**
 * A sum of limits is `null` if one of the groups is unlimited. `own` is what the person has used in
 * each group.
 */
export async function readUsageOfPersonAndGroups(
  tx: Tx,
  input: PersonQuotaQuery
): Promise<{ total: UsageOfAllGroups; own: Map<string, OwnUsage> }> {
  const quotas = await readQuotasOfPerson(tx, input)
  const own = await readOwnUsage(tx, input, quotas)
  const sum = (values: number[]) => values.reduce((all, each) => all + each, 0)
  const total = (of: (quota: GroupQuota) => number) => sum(quotas.map(of))
  const limited = (of: (quota: GroupQuota) => number | null) =>
    quotas.reduce<number | null>((all, quota) => {
      const more = of(quota)
      return all === null || more === null ? null : all + more
    }, 0)
  const resets = quotas.flatMap(({ resets_at }) => (resets_at ? [resets_at.getTime()] : []))
  return {
    own,
    total: {
      requests_used: total(quota => quota.requestsTaken),
      requests_limit: limited(quota => quota.max_requests),
      requests_remaining: limited(quota => quota.requestsLeft),
      storage_used: total(quota => quota.bytesTaken),
      storage_limit: limited(quota => quota.max_storage),
      storage_remaining: limited(quota => quota.bytesLeft),
      resets_at: resets.length > 0 ? new Date(Math.min(...resets)).toISOString() : null,
      own: {
        requests_used: sum([...own.values()].map(each => each.requests_used)),
        storage_used: sum([...own.values()].map(each => each.storage_used))
      }
    }
  }
}

/**
 * Requests are counted from `period_start` to `resets_at`. What is taken includes reservations;
 * what is left is `null` without a limit.
 */
export interface GroupQuota {
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

// A group has a row for each remaining period with requests, or one without. The query skips most
// past periods, so that it reads few rows; `quotasOf` picks the current period.
function groupsFrom(tx: Tx, query: QuotaQuery) {
  return tx
    .selectFrom('group')
    .leftJoin('usage as requests', join =>
      joinInCompany(join, 'requests.group_id', 'group.id')
        .on('requests.kind', '=', 'requests')
        .on('requests.period_start', '>', earliestPeriod(query.now))
        .on('requests.period_start', '<=', latestPeriod(query.now))
    )
    .leftJoin('usage as storage', join =>
      joinInCompany(join, 'storage.group_id', 'group.id')
        .on('storage.kind', '=', 'storage')
        .on('storage.period_start', '=', storagePeriodStart)
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

// A little before the current period. Depends only on `now` and the interval: with other values,
// PostgreSQL could not use the index under row-level security.
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

interface QuotaQuery {
  company_id: CompanyId
  now: Date
}

interface PersonQuotaQuery extends QuotaQuery {
  user_id: string
}

export async function readQuotasOfPerson(
  tx: Tx,
  input: PersonQuotaQuery & { category_id?: string }
): Promise<GroupQuota[]> {
  const { category_id } = input
  const own = groupsFrom(tx, input)
    .innerJoin('group_user', join => joinInCompany(join, 'group_user.group_id', 'group.id'))
    .where('group_user.user_id', '=', input.user_id)
  const paying =
    category_id === undefined
      ? own
      : own
          .innerJoin('group_category', join =>
            joinInCompany(join, 'group_category.group_id', 'group.id')
          )
          .where('group_category.category_id', '=', category_id)
  return quotasOf(await paying.execute(), input.now)
}

export async function readQuotasOfGroups(
  tx: Tx,
  input: QuotaQuery & { group_ids: readonly string[] }
): Promise<Map<string, GroupQuota>> {
  const named = groupsFrom(tx, input).where(
    sql<boolean>`"group".id = any (${input.group_ids}::uuid[])`
  )
  const quotas = quotasOf(await named.execute(), input.now)
  return new Map(quotas.map(quota => [quota.group_id, quota]))
}

/**
 * Returns groups that may have used `share` (0 to 1) of a limit above 0, perhaps in a past period.
 */
export async function readQuotasOfGroupsNearLimits(
  tx: Tx,
  { share, ...query }: QuotaQuery & { share: number }
): Promise<GroupQuota[]> {
  const near = groupsFrom(tx, query).where(
    sql<boolean>`
      (max_requests > 0 and requests.used + requests.reserved >= ${share}::float * max_requests
       or max_storage > 0 and storage.used + storage.reserved >= ${share}::float * max_storage)`
  )
  return quotasOf(await near.execute(), query.now)
}

type QuotaRow = Awaited<ReturnType<ReturnType<typeof groupsFrom>['execute']>>[number]

function quotasOf(rows: QuotaRow[], now: Date): GroupQuota[] {
  return [...Map.groupBy(rows, row => row.id).values()].flatMap(taken => {
    const [group] = taken
    if (!group) return []
    const interval = limitPeriodLengths.find(each => each === group.max_requests_interval) ?? null
    const period = limitPeriodAt(interval, group.created_at, now)
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

// Uploads in the state `uploading` are read apart from `received` and `held` ones, because they have
// an index of their own. Of the periods around now, the current one is picked afterwards.
async function readOwnUsage(
  tx: Tx,
  { company_id, user_id, now }: PersonQuotaQuery,
  quotas: GroupQuota[]
): Promise<Map<string, OwnUsage>> {
  const { rows } = await sql<{
    group_id: string
    kind: 'requests' | 'storage'
    period_start: Date
    amount: number
  }>`
    with open_upload (group_id, period_start, bytes) as (
      select group_id, period_start, size - released from upload
      where company_id = ${company_id} and user_id = ${user_id} and state = 'uploading'
      union all
      select group_id, period_start, size - released from upload
      where company_id = ${company_id} and user_id = ${user_id} and state in ('received', 'held')
    ), own (group_id, kind, period_start, amount) as (
      select group_id, kind, period_start, used from user_usage
      where company_id = ${company_id} and user_id = ${user_id}
      union all
      select group_id, 'requests', period_start, 1 from open_upload
      union all
      select group_id, 'storage', ${storagePeriodStart}::timestamptz, bytes from open_upload
    )
    select own.group_id, own.kind, own.period_start, sum(own.amount)::bigint as amount
    from own join "group" on "group".company_id = ${company_id} and "group".id = own.group_id
    where own.kind = 'storage'
      or own.period_start > ${earliestPeriod(now)} and own.period_start <= ${latestPeriod(now)}
    group by own.group_id, own.kind, own.period_start`.execute(tx)
  const amounts = new Map(
    rows.map(row => [`${row.group_id} ${row.kind} ${row.period_start.getTime()}`, row.amount])
  )
  return new Map(
    quotas.map(({ group_id, period_start }) => [
      group_id,
      {
        requests_used: amounts.get(`${group_id} requests ${period_start.getTime()}`) ?? 0,
        storage_used: amounts.get(`${group_id} storage ${storagePeriodStart.getTime()}`) ?? 0
      }
    ])
  )
}
