import { sql } from 'kysely'
import { AppError, type ReachedLimit } from '../../../contract/kit/errors.ts'
import { selectById, updateInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'
import { type GroupQuota, readQuotasOfPerson, storagePeriodStart } from './usage.ts'

/** What a group pays for a person: reserved until it is charged or released, or charged at once. */
export interface QuotaReservation {
  user_id: string
  group_id: string
  period_start: Date
  requests: number
  bytes: number
  // the day of the statistics to which they count
  made_at: Date
}

type ActKind = 'deposit' | 'verify'

interface Payer {
  company_id: CompanyId
  user_id: string
  now: Date
}

export interface QuotaNeed {
  // undefined if any group of the person can pay
  category_id?: string
  requests: number
  bytes: number
}

type QuotaOutcome = QuotaReservation | AppError

/**
 * Chooses for each need, after the earlier ones, the group with the most requests left that allows
 * the category and has enough. Takes and locks nothing. The error is `storage_limit_reached` if a
 * group has requests left, `request_limit_reached` if none has, and `forbidden` if no group allows
 * the category.
 */
export async function planQuota(
  tx: Tx,
  payer: Payer,
  needs: readonly QuotaNeed[]
): Promise<QuotaOutcome[]> {
  const { user_id, now } = payer
  const byCategory = new Map<string | undefined, GroupQuota[]>()
  for (const { category_id } of needs) {
    if (byCategory.has(category_id)) continue
    const query = { ...payer, ...(category_id === undefined ? {} : { category_id }) }
    byCategory.set(category_id, await readQuotasOfPerson(tx, query))
  }
  // copies, one for each group, because a group may allow several categories
  const groups = new Map(
    [...byCategory.values()].flat().map(quota => [quota.group_id, { ...quota }])
  )
  return needs.map(({ category_id, requests, bytes }) => {
    const quotas = (byCategory.get(category_id) ?? [])
      .flatMap(({ group_id }) => groups.get(group_id) ?? [])
      .toSorted(mostRequestsLeft)
    const able = quotas.filter(({ requestsLeft }) => (requestsLeft ?? Infinity) >= requests)
    const taker = able.find(({ bytesLeft }) => (bytesLeft ?? Infinity) >= bytes)
    if (!taker) return refusalOf(quotas, able, now)
    taker.requestsTaken += requests
    taker.bytesTaken += bytes
    if (taker.requestsLeft !== null) taker.requestsLeft -= requests
    if (taker.bytesLeft !== null) taker.bytesLeft -= bytes
    const { group_id, period_start } = taker
    return { user_id, group_id, period_start, requests, bytes, made_at: now }
  })
}

/**
 * Locks the usage of the groups in the order of their ids. Throws `unavailable` if the person's
 * last group was deleted meanwhile.
 */
export async function chargeQuota(
  tx: Tx,
  payer: Payer,
  needs: readonly QuotaNeed[],
  kind: ActKind,
  planned?: QuotaOutcome[]
): Promise<QuotaOutcome[]> {
  const outcomes = await take(tx, payer, needs, 'used', planned)
  for (const sum of sumsOf(outcomes)) await addToFigures(tx, sum, kind)
  return outcomes
}

/** Throws the error of `planQuota` if no group has enough left. */
export async function reserveQuota(tx: Tx, input: Payer & QuotaNeed): Promise<QuotaReservation> {
  const [outcome] = await take(tx, input, [input], 'reserved')
  if (!outcome || outcome instanceof AppError) throw outcome
  return outcome
}

export async function chargeVerification(
  tx: Tx,
  { requests, ...payer }: Payer & Pick<QuotaNeed, 'requests'>
): Promise<void> {
  const [outcome] = await chargeQuota(tx, payer, [{ requests, bytes: 0 }], 'verify')
  if (outcome instanceof AppError) throw outcome
}

/** Must be called in the transaction that records the reserved deposit. */
export async function turnReservationIntoUsage(tx: Tx, held: QuotaReservation): Promise<void> {
  await move(tx, partsOf(held), { reserved: -1, used: 1 })
  await addToFigures(tx, held, 'deposit')
}

export async function releaseReservation(tx: Tx, held: QuotaReservation): Promise<void> {
  await move(tx, partsOf(held), { reserved: -1, used: 0 })
}

/**
 * Counts on the day on which the deposit was begun. Its reservation must be released before: every
 * transaction locks a group's usage before its statistics, or two could deadlock.
 */
export async function addFailedDepositToStatistics(
  tx: Tx,
  { group_id, made_at }: QuotaReservation
): Promise<void> {
  await sql`
    insert into usage_day as so_far (company_id, group_id, day, failed)
    select ${tx.companyId}::uuid, ${group_id}::uuid, (${made_at}::timestamptz at time zone 'utc')::date, 1
    on conflict (company_id, group_id, day) do update set failed = so_far.failed + 1`.execute(tx)
}

export interface FreedStorage {
  group_id: string
  user_id: string
  bytes: number
}

/**
 * Locks the groups in the order of their ids and then the people, so that two transactions cannot
 * deadlock.
 */
export async function subtractStorage(tx: Tx, freed: readonly FreedStorage[]): Promise<void> {
  for (const { group_id, bytes } of sumsBy(each => each.group_id)) {
    await updateInCompany(tx, 'usage')
      .set({ used: sql<number>`used - ${bytes}::bigint` })
      .where('group_id', '=', group_id)
      .where('kind', '=', 'storage')
      .execute()
  }
  for (const { group_id, user_id, bytes } of sumsBy(each => `${each.group_id} ${each.user_id}`)) {
    await updateInCompany(tx, 'user_usage')
      .set({ used: sql<number>`used - ${bytes}::bigint` })
      .where('group_id', '=', group_id)
      .where('user_id', '=', user_id)
      .where('kind', '=', 'storage')
      .execute()
  }

  function sumsBy(keyOf: (each: FreedStorage) => string): FreedStorage[] {
    const byKey = [...Map.groupBy(freed, keyOf)].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return byKey.map(([, own]) =>
      own.reduce((sum, each) => ({ ...each, bytes: sum.bytes + each.bytes }))
    )
  }
}

/**
 * For an upload whose reservation was released while no bytes arrived: in the same group, even if
 * the person has left it. Throws `storage_limit_reached`.
 */
export async function reserveReleasedStorage(
  tx: Tx,
  { group_id, bytes }: { group_id: string; bytes: number }
): Promise<void> {
  const { max_storage, taken } = await selectById(tx, 'group', group_id)
    .leftJoin('usage', join =>
      joinInCompany(join, 'usage.group_id', 'group.id').on('usage.kind', '=', 'storage')
    )
    .select(['group.max_storage', sql<number>`coalesce(used + reserved, 0)`.as('taken')])
    .executeTakeFirstOrThrow()
  const part = {
    group_id,
    kind: 'storage',
    period_start: storagePeriodStart,
    amount: bytes
  } as const
  const added = await add(tx, 'reserved', [part])
  if (added.length === 0) throw storageRefused({ bytesTaken: taken, max_storage })
}

function mostRequestsLeft(a: GroupQuota, b: GroupQuota): number {
  return (b.requestsLeft ?? Infinity) === (a.requestsLeft ?? Infinity)
    ? (b.bytesLeft ?? Infinity) - (a.bytesLeft ?? Infinity) || 0
    : (b.requestsLeft ?? Infinity) - (a.requestsLeft ?? Infinity)
}

function refusalOf(quotas: GroupQuota[], able: GroupQuota[], now: Date): AppError {
  const full = able.at(-1)
  if (full) return storageRefused(full)
  const [first] = quotas
  return first
    ? requestsRefused(first, now)
    : new AppError('forbidden', 'No group of the caller allows this')
}

// the statement that adds also checks the limits; if it adds too little, a parallel call was faster
// and the groups are chosen anew
async function take(
  tx: Tx,
  payer: Payer,
  needs: readonly QuotaNeed[],
  into: 'reserved' | 'used',
  planned?: QuotaOutcome[]
): Promise<QuotaOutcome[]> {
  let outcomes = planned ?? (await planQuota(tx, payer, needs))
  for (;;) {
    const parts = sumsOf(outcomes).flatMap(partsOf)
    const added = parts.length === 0 ? [] : await add(tx, into, parts)
    if (added.length === parts.length) return outcomes
    // the rows stay locked, so the next choice is certain for these groups
    await move(tx, added, { reserved: 0, used: 0, [into]: -1 })
    outcomes = await planQuota(tx, payer, needs)
    if (outcomes.some(each => each instanceof AppError && each.code === 'forbidden')) {
      throw groupsChanged()
    }
  }
}

// in the order in which groups are locked
function sumsOf(outcomes: QuotaOutcome[]): QuotaReservation[] {
  const paid = outcomes.flatMap(each => (each instanceof AppError ? [] : [each]))
  return [...Map.groupBy(paid, ({ group_id }) => group_id)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, own]) =>
      own.reduce((sum, each) => ({
        ...each,
        requests: sum.requests + each.requests,
        bytes: sum.bytes + each.bytes
      }))
    )
}

interface UsagePart {
  group_id: string
  kind: 'requests' | 'storage'
  period_start: Date
  amount: number
}

function partsOf({ group_id, period_start, requests, bytes }: QuotaReservation): UsagePart[] {
  const parts: UsagePart[] = [
    { group_id, kind: 'requests', period_start, amount: requests },
    { group_id, kind: 'storage', period_start: storagePeriodStart, amount: bytes }
  ]
  return parts.filter(({ amount }) => amount > 0)
}

// Returns the parts that stay within the limits. Locks groups by id, requests, storage, then the
// figures of the person and of the day. A choice made anew may begin with an earlier group: should
// two transactions then wait for each other, PostgreSQL ends one, and it is repeated.
async function add(
  tx: Tx,
  into: 'reserved' | 'used',
  parts: readonly UsagePart[]
): Promise<UsagePart[]> {
  const column = sql.ref(into)
  const { rows } = await sql<{ group_id: string; kind: string }>`
    with part as (
      select part.group_id, part.kind, part.period_start, part.amount,
        case part.kind when 'requests' then max_requests else max_storage end as most
      from ${unnested(parts)}
      join "group" on "group".company_id = ${tx.companyId}::uuid and "group".id = part.group_id
      -- only a new row locks the group, because many calls would lock it at the same time
      where exists (
        select from usage where usage.company_id = ${tx.companyId}::uuid
          and usage.group_id = part.group_id and usage.kind = part.kind
          and usage.period_start = part.period_start
      ) or exists (
        select from "group" as locked where locked.company_id = ${tx.companyId}::uuid
          and locked.id = part.group_id
        for key share
      )
      order by part.group_id, part.kind
    )
    insert into usage as so_far (company_id, group_id, kind, period_start, ${column})
    select ${tx.companyId}::uuid, group_id, kind, period_start, amount from part
    where most is null or amount <= most
    on conflict (company_id, group_id, kind, period_start) do update
      set ${column} = so_far.${column} + excluded.${column}
      where (
        select most is null or so_far.used + so_far.reserved + amount <= most from part
        where part.group_id = excluded.group_id and part.kind = excluded.kind
      )
    returning group_id, kind`
    .execute(tx)
    .catch(refuseDeletedGroup)
  return parts.filter(part =>
    rows.some(({ group_id, kind }) => group_id === part.group_id && kind === part.kind)
  )
}

// a bare update would lock the rows in the order of its plan, not in that of `add`
async function move(
  tx: Tx,
  parts: readonly UsagePart[],
  { reserved, used }: { reserved: -1 | 0; used: -1 | 0 | 1 }
): Promise<void> {
  if (parts.length === 0) return
  await sql`
    with part as (
      select part.* from ${unnested(parts)}
      join usage on usage.company_id = ${tx.companyId}::uuid and usage.group_id = part.group_id
        and usage.kind = part.kind and usage.period_start = part.period_start
      order by part.group_id, part.kind
      for update of usage
    )
    update usage
    set reserved = usage.reserved + ${reserved}::int * part.amount,
      used = usage.used + ${used}::int * part.amount
    from part
    where usage.company_id = ${tx.companyId}::uuid and usage.group_id = part.group_id
      and usage.kind = part.kind and usage.period_start = part.period_start`.execute(tx)
}

function unnested(parts: readonly UsagePart[]) {
  return sql`unnest(
    ${parts.map(({ group_id }) => group_id)}::uuid[], ${parts.map(({ kind }) => kind)}::text[],
    ${parts.map(({ period_start }) => period_start)}::timestamptz[],
    ${parts.map(({ amount }) => amount)}::bigint[]
  ) as part (group_id, kind, period_start, amount)`
}

function refuseDeletedGroup(error: unknown): never {
  throw Object(error).constraint === 'usage_company_id_group_id_fkey' ? groupsChanged() : error
}

function groupsChanged(): AppError {
  const retryAfter = 1
  return new AppError('unavailable', 'The groups of the caller have just changed', { retryAfter })
}

function requestsRefused(quota: GroupQuota, now: Date): AppError {
  const figures: ReachedLimit = {
    used: quota.requestsTaken,
    limit: quota.max_requests ?? 0,
    resets_at: quota.resets_at?.toISOString() ?? null
  }
  return new AppError('request_limit_reached', 'The group has no requests left', {
    figures,
    ...(quota.resets_at
      ? { retryAfter: Math.ceil((quota.resets_at.getTime() - now.getTime()) / 1000) }
      : {})
  })
}

function storageRefused(quota: Pick<GroupQuota, 'bytesTaken' | 'max_storage'>): AppError {
  return new AppError('storage_limit_reached', 'The group has no room left for these bytes', {
    figures: { used: quota.bytesTaken, limit: quota.max_storage ?? 0, resets_at: null }
  })
}

async function addToFigures(tx: Tx, use: QuotaReservation, kind: ActKind): Promise<void> {
  const isDeposit = kind === 'deposit'
  await sql`
    with of_day as (
      insert into usage_day as so_far (company_id, group_id, day, deposits, verifications, bytes)
      select ${tx.companyId}::uuid, ${use.group_id}::uuid, (${use.made_at}::timestamptz at time zone 'utc')::date,
        case when ${isDeposit}::boolean then ${use.requests}::bigint else 0 end,
        case when ${isDeposit}::boolean then 0 else ${use.requests}::bigint end,
        ${use.bytes}::bigint
      on conflict (company_id, group_id, day) do update
        set deposits = so_far.deposits + excluded.deposits,
          verifications = so_far.verifications + excluded.verifications,
          bytes = so_far.bytes + excluded.bytes
    )
    insert into user_usage as so_far (company_id, user_id, group_id, kind, period_start, used)
    select ${tx.companyId}::uuid, ${use.user_id}::uuid, ${use.group_id}::uuid, kind, period_start, amount
    from (values
      ('requests', ${use.period_start}::timestamptz, ${use.requests}::bigint),
      ('storage', ${storagePeriodStart}::timestamptz, ${use.bytes}::bigint)
    ) as added (kind, period_start, amount)
    where amount > 0
    on conflict (company_id, user_id, group_id, kind, period_start) do update
      set used = so_far.used + excluded.used`.execute(tx)
}
