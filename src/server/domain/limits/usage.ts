import { sql } from 'kysely'
import type { UsageOfAllGroups } from '../../../contract/users.ts'
import {
  type LimitPeriodLength,
  limitPeriodAt,
  limitPeriodLengths
} from '../../../core/limit-period.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'

/**
 * The start of the period in which storage is counted. There is only one period, because used
 * storage is never reset.
 */
export const storagePeriodStart = new Date(0)

/** What a person has used and reserved in a group in its current period; storage in bytes. */
interface OwnUsage {
  requests_used: number
  storage_used: number
}

/**
 * Returns the limits and usage of a person's groups. `total` has the sums over all groups; the sum
 * of the limits is `null` if one of the groups is unlimited. `own` maps the id of each group to
 * what this person has used in it.
 */
export async function readUsageOfPersonAndGroups(
  tx: Tx,
  input: PersonQuotaQuery
): Promise<{ total: UsageOfAllGroups; own: Map<string, OwnUsage> }> {
  const quotas = await readQuotasOfPerson(tx, input)
  const { rows: used } = await ownUsage(input).execute(tx)
  const own = ownUsageOf(used, quotas)
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
 * The limits of a group and how much of each is used. Requests are counted from `period_start` to
 * `resets_at`, which is `null` if they are never reset. `requestsTaken` and `bytesTaken` include
 * reservations. `requestsLeft` and `bytesLeft` are `null` without a limit.
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

function groupsOfPerson(tx: Tx, query: PersonQuotaQuery) {
  return groupsFrom(tx, query)
    .innerJoin('group_user', join => joinInCompany(join, 'group_user.group_id', 'group.id'))
    .where('group_user.user_id', '=', query.user_id)
}

/**
 * Builds a query for groups with their limits and usage. A group has one row for each period with
 * requests. The query skips most past periods, so that it reads few rows. A remaining row may still
 * belong to a past period, so `quotasOf` picks the row of the current period. A group without
 * requests in the remaining periods has one row, in which `period_start` is null. Every row of a
 * group has the same storage usage.
 */
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

/**
 * Returns SQL for a time before the start of a group's current period. Queries use it to skip older
 * periods. The time is not exact: `limitPeriodAt` determines the exact period afterwards. The SQL
 * depends only on `now` and the group's interval. If it used other values, PostgreSQL could not use
 * the index under row-level security.
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

interface QuotaQuery {
  company_id: CompanyId
  now: Date
}

interface PersonQuotaQuery extends QuotaQuery {
  user_id: string
}

/**
 * Returns the limits and usage of the person's groups. With `category_id`, returns only groups that
 * allow that category.
 */
export async function readQuotasOfPerson(
  tx: Tx,
  input: PersonQuotaQuery & { category_id?: string }
): Promise<GroupQuota[]> {
  const { category_id } = input
  const own = groupsOfPerson(tx, input)
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

/** Returns the limits and usage of the groups in `group_ids`, as a map with the ids as keys. */
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
 * Returns the limits and usage of the company's groups that may have used at least `share` (0 to 1)
 * of a limit above 0. A group that used so much in a past period may be among them.
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
    const period = limitPeriodAt(intervalOf(group.max_requests_interval), group.created_at, now)
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

function intervalOf(text: string | null): LimitPeriodLength {
  return limitPeriodLengths.find(interval => interval === text) ?? null
}

/**
 * Returns what a person has used in the current period of each group in `quotas`, by group id.
 * `used` has at most one entry for each combination of group, kind and period.
 */
function ownUsageOf(used: PersonalUsage[], quotas: GroupQuota[]): Map<string, OwnUsage> {
  const amountOf = (group_id: string, kind: PersonalUsage['kind'], start: Date) =>
    used.find(
      each =>
        each.group_id === group_id &&
        each.kind === kind &&
        each.period_start.getTime() === start.getTime()
    )?.amount ?? 0
  return new Map(
    quotas.map(({ group_id, period_start }) => [
      group_id,
      {
        requests_used: amountOf(group_id, 'requests', period_start),
        storage_used: amountOf(group_id, 'storage', storagePeriodStart)
      }
    ])
  )
}

/** What a person has used and reserved in a group in one period. */
interface PersonalUsage {
  group_id: string
  kind: 'requests' | 'storage'
  period_start: Date
  amount: number
}

/**
 * The query for what a person has used and reserved. It returns one sum for each group, kind of
 * limit (requests or storage) and period of the limit. For requests, it returns only periods whose
 * start lies in a rough range around the start of the current period. `ownUsageOf` then picks the
 * current period. The query reads uploads in the state `uploading` separately from those in the
 * states `received` and `held`, because `uploading` has its own index.
 */
const ownUsage = ({ company_id, user_id, now }: PersonQuotaQuery) =>
  sql<PersonalUsage>`
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
    group by own.group_id, own.kind, own.period_start`
