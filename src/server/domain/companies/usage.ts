import { sql } from 'kysely'
import { AppError, type LimitFigures } from '../../../contract/errors.ts'
import type { Usage } from '../../../contract/users.ts'
import { type Interval, intervals, periodOf } from '../../../core/limit-period.ts'
import { inSameCompany } from '../../db/joins.ts'
import { prepare } from '../../db/prepared-statements.ts'
import type { StatementBuilder } from '../../db/query-executor.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'

/** Storage is never reset: its one period starts here. */
const storagePeriod = new Date(0)

/** What a reservation holds back: one group's, in one period, for one person. */
export interface Reservation {
  user_id: string
  group_id: string
  period_start: Date
  requests: number
  bytes: number
}

interface ReserveInput {
  company_id: CompanyId
  user_id: string
  /** Only groups that allow it; all groups of the person when absent. */
  category_id?: string
  requests: number
  bytes: number
  now: Date
  /** What `readMeters` reads, where that was asked for before. */
  meters?: Promise<Meter[]>
}

/**
 * Holds requests and bytes back in the group with most requests left; throws `request_limit_reached`
 * or `storage_limit_reached` with the figures when no group has room, which must end the transaction.
 * Exact however many calls race, because the limit stands in the statement's own condition.
 */
export async function reserve(tx: Tx, input: ReserveInput): Promise<Reservation> {
  return take(tx, input, 'reserved')
}

/** Uses requests at once, where nothing has to be waited for; refuses as `reserve` does. */
export async function charge(tx: Tx, input: Omit<ReserveInput, 'bytes'>): Promise<void> {
  await take(tx, { ...input, bytes: 0 }, 'used')
}

/** Turns a reservation into use, in the transaction of the effect. */
export async function settle(tx: Tx, company_id: CompanyId, held: Reservation): Promise<void> {
  await lockUsage(tx, company_id, held)
  await Promise.all([move(tx, company_id, held, 1), addToOwn(tx, { company_id, ...held })])
}

/** Gives a reservation back. */
export async function release(tx: Tx, company_id: CompanyId, held: Reservation): Promise<void> {
  await lockUsage(tx, company_id, held)
  await move(tx, company_id, held, 0)
}

/**
 * Holds bytes back once more for an upload that was admitted to the group before, whoever belongs to it by
 * now. Throws `storage_limit_reached` when there is no room.
 */
export async function reserveAgain(
  tx: Tx,
  { company_id, group_id, bytes }: { company_id: CompanyId; group_id: string; bytes: number }
): Promise<void> {
  const { max_storage, taken } = await tx
    .selectFrom('group')
    .leftJoin('usage', join =>
      inSameCompany(join, 'usage.group_id', 'group.id').on('usage.kind', '=', 'storage')
    )
    .where('group.company_id', '=', company_id)
    .where('group.id', '=', group_id)
    .select(['group.max_storage', sql<number>`coalesce(used + reserved, 0)`.as('taken')])
    .executeTakeFirstOrThrow()
  const place = { company_id, group_id, into: 'reserved' as const }
  const isAdded = await add(tx, {
    ...place,
    kind: 'storage',
    period_start: storagePeriod,
    amount: bytes,
    limit: max_storage
  })
  if (!isAdded) throw storageRefused({ bytesTaken: taken, max_storage })
}

/**
 * What all groups of a person have used and have left, and the person's own part of it. One unlimited group
 * makes a limit `null`.
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

/** The person's groups, each once for every period it may be in now and has used something in, or once. */
const groupsOf = prepare((db, asked: Asked) => groupsFrom(db, asked))

const groupsFor = prepare((db, asked: Asked & { category_id: string }) =>
  groupsFrom(db, asked)
    .innerJoin('group_category', join => inSameCompany(join, 'group_category.group_id', 'group.id'))
    .where('group_category.category_id', '=', asked.category_id)
)

function groupsFrom(db: StatementBuilder, asked: Asked) {
  return db
    .selectFrom('group_user')
    .innerJoin('group', join => inSameCompany(join, 'group.id', 'group_user.group_id'))
    .leftJoin('usage as requests', join =>
      inSameCompany(join, 'requests.group_id', 'group.id')
        .on('requests.kind', '=', 'requests')
        .on('requests.period_start', '>', earliestPeriod(asked.now))
        .on('requests.period_start', '<=', latestPeriod(asked.now))
    )
    .leftJoin('usage as storage', join =>
      inSameCompany(join, 'storage.group_id', 'group.id')
        .on('storage.kind', '=', 'storage')
        .on('storage.period_start', '=', storagePeriod)
    )
    .where('group_user.company_id', '=', asked.company_id)
    .where('group_user.user_id', '=', asked.user_id)
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
 * After this begins the period that a group is in, so that those of years are not read to find it. A day
 * early, because years are not equally long; `periodOf` says which it is. Nothing is computed of the
 * group's own columns: row-level security keeps such a bound from being looked up in the index.
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

interface Asked {
  company_id: CompanyId
  user_id: string
  now: Date
}

/** How full the person's groups are, or those of them that allow the category. */
export async function readMeters(
  tx: Tx,
  input: Asked & { category_id?: string }
): Promise<Meter[]> {
  const { category_id } = input
  const rows =
    category_id === undefined
      ? await tx.run(groupsOf, input)
      : await tx.run(groupsFor, { ...input, category_id })
  return [...Map.groupBy(rows, row => row.id).values()].flatMap(taken => {
    const [group] = taken
    if (!group) return []
    const period = periodOf(intervalOf(group.max_requests_interval), group.created_at, input.now)
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

function mostRequestsLeft(a: Meter, b: Meter): number {
  return (b.requestsLeft ?? Infinity) === (a.requestsLeft ?? Infinity)
    ? (b.bytesLeft ?? Infinity) - (a.bytesLeft ?? Infinity) || 0
    : (b.requestsLeft ?? Infinity) - (a.requestsLeft ?? Infinity)
}

async function take(tx: Tx, input: ReserveInput, into: 'reserved' | 'used'): Promise<Reservation> {
  const meters = (await (input.meters ?? readMeters(tx, input))).toSorted(mostRequestsLeft)
  let refusal: AppError | undefined
  for (const meter of meters) {
    const isLast = meter === meters.at(-1)
    // what one group refuses is undone before the next is asked, its locks too
    const [, outcome] = await Promise.all([
      isLast || tx.raw(savepoint),
      takeFrom(tx, meter, input, into)
    ])
    if (!(outcome instanceof AppError)) return outcome
    if (!isLast) await sql`rollback to savepoint take`.execute(tx)
    // a group with requests but no room left says more than one with neither
    if (!refusal || outcome.code === 'storage_limit_reached') refusal = outcome
  }
  throw refusal ?? new AppError('forbidden', 'No group of the caller allows this')
}

/** Sent beside what follows it, so it goes by `raw`, which keeps the order. */
const savepoint = { name: 'savepoint_take', text: 'savepoint take', values: [] }

/** Takes all that is asked from one group; a refusal leaves what was taken to be undone. */
async function takeFrom(
  tx: Tx,
  meter: Meter,
  { company_id, user_id, requests, bytes, now }: ReserveInput,
  into: 'reserved' | 'used'
): Promise<Reservation | AppError> {
  const { group_id, period_start, max_requests, max_storage } = meter
  const place = { company_id, group_id, into }
  const held = { user_id, group_id, period_start, requests, bytes }
  // requests before storage before the person's own, here and everywhere, so that nobody waits for each other
  const [hasRequests, hasRoom] = await Promise.all([
    add(tx, { ...place, kind: 'requests', period_start, amount: requests, limit: max_requests }),
    bytes === 0 ||
      add(tx, {
        ...place,
        kind: 'storage',
        period_start: storagePeriod,
        amount: bytes,
        limit: max_storage
      }),
    into === 'used' && addToOwn(tx, { company_id, ...held })
  ])
  if (!hasRequests) return requestsRefused(meter, now)
  if (!hasRoom) return storageRefused(meter)
  return held
}

interface Addition {
  company_id: CompanyId
  group_id: string
  kind: string
  period_start: Date
  into: 'reserved' | 'used'
  amount: number
  limit: number | null
}

/** Answers whether there was room for it below the limit. */
async function add(tx: Tx, addition: Addition): Promise<boolean> {
  return (await tx.run(additions[addition.into], addition)).length > 0
}

const additions = { reserved: additionTo('reserved'), used: additionTo('used') }

function additionTo(into: Addition['into']) {
  return prepare((_db, { company_id, group_id, kind, period_start, amount, limit }: Addition) => {
    const column = sql.ref(into)
    return sql<{ group_id: string }>`
      insert into usage as so_far (company_id, group_id, kind, period_start, ${column})
      select ${company_id}::uuid, ${group_id}::uuid, ${kind}, ${period_start}::timestamptz, ${amount}::bigint
      where ${limit}::bigint is null or ${amount}::bigint <= ${limit}::bigint
      on conflict (company_id, group_id, kind, period_start) do update
        set ${column} = so_far.${column} + excluded.${column}
        where ${limit}::bigint is null or so_far.used + so_far.reserved + ${amount}::bigint <= ${limit}::bigint
      returning group_id`
  })
}

function requestsRefused(meter: Meter, now: Date): AppError {
  const figures: LimitFigures = {
    used: meter.requestsTaken,
    limit: meter.max_requests ?? 0,
    resets_at: meter.resets_at?.toISOString() ?? null
  }
  return new AppError('request_limit_reached', 'The group has no requests left', {
    figures,
    ...(meter.resets_at
      ? { retryAfter: Math.ceil((meter.resets_at.getTime() - now.getTime()) / 1000) }
      : {})
  })
}

function storageRefused(meter: Pick<Meter, 'bytesTaken' | 'max_storage'>): AppError {
  return new AppError('storage_limit_reached', 'The group has no room left for these bytes', {
    figures: { used: meter.bytesTaken, limit: meter.max_storage ?? 0, resets_at: null }
  })
}

/** Adds to what the person has used; a reservation counts only once it is settled. */
async function addToOwn(tx: Tx, use: Reservation & { company_id: CompanyId }): Promise<void> {
  await tx.run(ownAddition, use)
}

const ownAddition = prepare(
  (_db, use: Reservation & { company_id: CompanyId }) => sql<object>`
    insert into user_usage as so_far (company_id, user_id, group_id, kind, period_start, used)
    select ${use.company_id}::uuid, ${use.user_id}::uuid, ${use.group_id}::uuid, kind, period_start, amount
    from (values
      ('requests', ${use.period_start}::timestamptz, ${use.requests}::bigint),
      ('storage', ${storagePeriod}::timestamptz, ${use.bytes}::bigint)
    ) as added (kind, period_start, amount)
    where amount > 0
    on conflict (company_id, user_id, group_id, kind, period_start) do update
      set used = so_far.used + excluded.used`
)

/** What the person has used of these groups, and what the person's open uploads reserve of them. */
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
  /** In which period each of the groups is. */
  periods: Date[]
}

/** The states of open uploads stand apart, because each has its own index. */
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

/** Requests before storage, as `reserve` takes them: an update alone locks in the order of its plan. */
async function lockUsage(tx: Tx, company_id: CompanyId, held: Reservation): Promise<void> {
  await sql`
    select 1 from usage
    where company_id = ${company_id} and group_id = ${held.group_id}
      and ((kind = 'requests' and period_start = ${held.period_start})
        or (kind = 'storage' and period_start = ${storagePeriod}))
    order by kind for update`.execute(tx)
}

async function move(tx: Tx, company_id: CompanyId, held: Reservation, keep: 0 | 1): Promise<void> {
  await sql`
    update usage set
      reserved = reserved - case kind when 'requests' then ${held.requests}::bigint else ${held.bytes}::bigint end,
      used = used + ${keep}::int * case kind when 'requests' then ${held.requests}::bigint else ${held.bytes}::bigint end
    where company_id = ${company_id} and group_id = ${held.group_id}
      and ((kind = 'requests' and period_start = ${held.period_start})
        or (kind = 'storage' and period_start = ${storagePeriod}))`.execute(tx)
}
