import { sql } from 'kysely'
import { AppError, type ReachedLimit } from '../../../contract/kit/errors.ts'
import { selectById, updateInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'
import { type GroupQuota, readQuotasOfPerson, storagePeriodStart } from './usage.ts'

/**
 * Requests (entries of the history) and bytes that are reserved for a person in a group until they
 * are charged or released. `period_start` is the start of the group's quota period in which the
 * requests are counted.
 */
export interface QuotaReservation {
  user_id: string
  group_id: string
  period_start: Date
  requests: number
  bytes: number
  /** When the requests were made. They count toward the usage figures of that day. */
  made_at: Date
}

type Kind = 'deposit' | 'verify'

interface ReserveInput {
  company_id: CompanyId
  user_id: string
  /**
   * Only a group that allows this category can be chosen. Undefined if any group of the person can
   * be chosen.
   */
  category_id?: string
  requests: number
  bytes: number
  kind: Kind
  now: Date
  /**
   * The limits and current usage of the groups to choose from, if the caller has already begun to
   * read them. If undefined, they are read from the database.
   */
  quotas?: Promise<GroupQuota[]>
}

/**
 * Reserves requests (entries of the history) and bytes for a person, in one of their groups. If
 * several groups have enough left, chooses the one with the most requests left. Throws
 * `request_limit_reached` or `storage_limit_reached` if no group has enough. Throws `forbidden` if
 * no group of the person allows the category. After an error, the caller must roll the transaction
 * back. The statement that reserves also checks the limit, so parallel calls cannot exceed it.
 */
export async function reserveQuota(
  tx: Tx,
  input: Omit<ReserveInput, 'kind'>
): Promise<QuotaReservation> {
  return take(tx, { ...input, kind: 'deposit' }, 'reserved')
}

/**
 * Counts requests as used by one of the person's groups, without reserving them before. A request
 * is an entry of the history. Throws `request_limit_reached` if no group has enough left.
 */
export async function chargeRequests(tx: Tx, input: Omit<ReserveInput, 'bytes'>): Promise<void> {
  await take(tx, { ...input, bytes: 0 }, 'used')
}

/**
 * A deposit to charge to the quota of a group. It uses one request (entry of the history) and
 * `bytes` of storage.
 */
export interface DepositCharge {
  category_id: string
  bytes: number
}

interface ChargesInput {
  company_id: CompanyId
  user_id: string
  charges: readonly DepositCharge[]
  now: Date
}

/**
 * Returns for each charge the id of the group to which `chargeDepositsToGroups` would charge it
 * now, or the error if no group has enough left. Charges and locks nothing, so parallel calls can
 * still use up the quota before the deposits are charged.
 */
export async function planDepositCharges(
  tx: Tx,
  input: ChargesInput
): Promise<(string | AppError)[]> {
  return distribute(await readQuotasByCategory(tx, input), input)
}

/**
 * Charges several deposits of a person. Each is charged to the group with the most requests left,
 * among the person's groups that allow its category and have enough left. Returns for each charge
 * the id of the group, or the error if there is no such group. Throws `unavailable` if the person's
 * groups change meanwhile. Locks the usage of the groups in the order of their ids.
 */
export async function chargeDepositsToGroups(
  tx: Tx,
  input: ChargesInput
): Promise<(string | AppError)[]> {
  const { user_id } = input
  const places = [...groupsOf(await readQuotasByCategory(tx, input)).values()]
    .toSorted((a, b) => (a.group_id < b.group_id ? -1 : 1))
    .map(({ group_id, period_start }) => ({ group_id, period_start }))
  for (const place of places) {
    const refused = await addUsed(tx, { ...place, requests: 0, bytes: 0 }).catch(refuseDeleted)
    if (refused) throw refused
  }
  const quotasByCategory = await readQuotasByCategory(tx, input)
  for (const { group_id, period_start } of groupsOf(quotasByCategory).values()) {
    const isLocked = places.some(
      place =>
        place.group_id === group_id && place.period_start.getTime() === period_start.getTime()
    )
    if (!isLocked) throw groupsChanged()
  }
  const outcomes = distribute(quotasByCategory, input)
  const made_at = input.now
  const sums = places.map(place => {
    const own = input.charges.filter((_charge, at) => outcomes[at] === place.group_id)
    const bytes = own.reduce((sum, charge) => sum + charge.bytes, 0)
    return { ...place, user_id, made_at, requests: own.length, bytes }
  })
  const charged = sums.filter(({ requests }) => requests > 0)
  // the usage of all groups is locked before the figures of any
  for (const sum of charged) await addUsed(tx, sum)
  for (const sum of charged) await addToFigures(tx, sum, 'deposit')
  return outcomes
}

/**
 * Adds requests and bytes to the usage of a group without checking its limits. If both numbers are
 * 0, only locks the group's usage, so that the caller can then read it and check the limits.
 */
async function addUsed(
  tx: Tx,
  sum: Pick<QuotaReservation, 'group_id' | 'period_start' | 'requests' | 'bytes'>
): Promise<void> {
  const { group_id, period_start, requests, bytes } = sum
  const place = { group_id, into: 'used' as const, limit: null }
  await add(tx, { ...place, kind: 'requests', period_start, amount: requests })
  await add(tx, { ...place, kind: 'storage', period_start: storagePeriodStart, amount: bytes })
}

async function readQuotasByCategory(
  tx: Tx,
  input: ChargesInput
): Promise<Map<string, GroupQuota[]>> {
  const { company_id, user_id, charges, now } = input
  const categories = [...new Set(charges.map(({ category_id }) => category_id))]
  const found = new Map<string, GroupQuota[]>()
  for (const category_id of categories) {
    found.set(category_id, await readQuotasOfPerson(tx, { company_id, user_id, category_id, now }))
  }
  return found
}

/**
 * Returns the quota (limits and usage) of each group, as a map with the ids of the groups as keys.
 * The quotas are copies, so the caller may change them.
 */
function groupsOf(quotasByCategory: Map<string, GroupQuota[]>): Map<string, GroupQuota> {
  const all = [...quotasByCategory.values()].flat()
  return new Map(all.map(quota => [quota.group_id, { ...quota }]))
}

/**
 * Chooses a group for each charge. Returns for each charge the id of the group, or an error if no
 * group has enough left. Each choice takes into account what the earlier charges will use.
 */
function distribute(
  quotasByCategory: Map<string, GroupQuota[]>,
  { charges, now }: ChargesInput
): (string | AppError)[] {
  const groups = groupsOf(quotasByCategory)
  return charges.map(({ category_id, bytes }) => {
    const quotas = (quotasByCategory.get(category_id) ?? [])
      .flatMap(({ group_id }) => groups.get(group_id) ?? [])
      .toSorted(mostRequestsLeft)
    const taker = quotas.find(
      ({ requestsLeft, bytesLeft }) =>
        (requestsLeft ?? Infinity) >= 1 && (bytesLeft ?? Infinity) >= bytes
    )
    if (!taker) return refusalOf(quotas, now)
    taker.requestsTaken += 1
    taker.bytesTaken += bytes
    if (taker.requestsLeft !== null) taker.requestsLeft -= 1
    if (taker.bytesLeft !== null) taker.bytesLeft -= bytes
    return taker.group_id
  })
}

/**
 * Returns the error for a deposit that cannot be charged to any group in `quotas`:
 * - `storage_limit_reached` if a group has requests left, but not enough storage.
 * - `request_limit_reached` if no group has requests left.
 * - `forbidden` if `quotas` is empty, because then no group of the caller allows the deposit.
 */
function refusalOf(quotas: GroupQuota[], now: Date): AppError {
  const full = quotas.find(({ requestsLeft }) => (requestsLeft ?? Infinity) >= 1)
  if (full) return storageRefused(full)
  const [first] = quotas
  return first
    ? requestsRefused(first, now)
    : new AppError('forbidden', 'No group of the caller allows this')
}

/**
 * Turns a reservation into usage of the group and of the person. Must be called in the transaction
 * that records the reserved deposit.
 */
export async function turnReservationIntoUsage(tx: Tx, held: QuotaReservation): Promise<void> {
  await lockUsage(tx, held)
  await move(tx, held, 1)
  await addToFigures(tx, held, 'deposit')
}

/** Releases a reservation, so that the group can use its requests and bytes again. */
export async function releaseReservation(tx: Tx, held: QuotaReservation): Promise<void> {
  await lockUsage(tx, held)
  await move(tx, held, 0)
}

/**
 * Counts a failed deposit in the group's daily statistics, on the day on which the deposit was
 * begun. The caller must first have released the deposit's reservation in the same transaction,
 * because every transaction must lock the group's usage before its statistics. Otherwise two
 * transactions could deadlock.
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

/** Bytes that a person no longer stores and that were charged to a group. */
export interface FreedStorage {
  group_id: string
  user_id: string
  bytes: number
}

/**
 * Subtracts storage that is no longer used from the usage of the groups and people to which it was
 * charged. Locks the rows of the groups first, in the order of their ids, and then those of the
 * people, so that two transactions cannot deadlock.
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
 * Reserves storage again for an upload whose reservation was released while no bytes arrived. Uses
 * the same group as before, even if the person has left it. Throws `storage_limit_reached` if the
 * group does not have enough left.
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
  const isAdded = await add(tx, {
    group_id,
    into: 'reserved',
    kind: 'storage',
    period_start: storagePeriodStart,
    amount: bytes,
    limit: max_storage
  })
  if (!isAdded) throw storageRefused({ bytesTaken: taken, max_storage })
}

function mostRequestsLeft(a: GroupQuota, b: GroupQuota): number {
  return (b.requestsLeft ?? Infinity) === (a.requestsLeft ?? Infinity)
    ? (b.bytesLeft ?? Infinity) - (a.bytesLeft ?? Infinity) || 0
    : (b.requestsLeft ?? Infinity) - (a.requestsLeft ?? Infinity)
}

async function take(
  tx: Tx,
  input: ReserveInput,
  into: 'reserved' | 'used'
): Promise<QuotaReservation> {
  const quotas = (await (input.quotas ?? readQuotasOfPerson(tx, input))).toSorted(mostRequestsLeft)
  let refusal: AppError | undefined
  for (const quota of quotas) {
    const isLast = quota === quotas.at(-1)
    // the savepoint allows to undo the refused reservation and its locks before the next group is
    // tried
    if (!isLast) await sql`savepoint take`.execute(tx)
    const outcome = await takeFrom(tx, quota, input, into)
    if (!(outcome instanceof AppError)) return outcome
    if (!isLast) await sql`rollback to savepoint take`.execute(tx)
    // prefer the storage error, because this group still had requests left
    if (!refusal || outcome.code === 'storage_limit_reached') refusal = outcome
  }
  throw refusal ?? new AppError('forbidden', 'No group of the caller allows this')
}

/**
 * Reserves or charges requests and bytes in the group of `quota`. Returns the error if the group
 * does not have enough left or was deleted meanwhile. After an error the caller must roll the
 * transaction back, because one counter (requests or storage) may already have changed when the
 * other is refused.
 */
async function takeFrom(
  tx: Tx,
  quota: GroupQuota,
  { user_id, requests, bytes, kind, now }: ReserveInput,
  into: 'reserved' | 'used'
): Promise<QuotaReservation | AppError> {
  const { group_id, period_start, max_requests, max_storage } = quota
  const place = { group_id, into }
  const held = { user_id, group_id, period_start, requests, bytes, made_at: now }
  try {
    // the lock order everywhere: requests, storage, the figures of the person and of the day
    const hasRequests = await add(tx, {
      ...{ ...place, kind: 'requests', period_start },
      ...{ amount: requests, limit: max_requests }
    })
    if (!hasRequests) return requestsRefused(quota, now)
    const ofStorage = { ...place, kind: 'storage', period_start: storagePeriodStart }
    const hasRoom =
      bytes === 0 || (await add(tx, { ...ofStorage, amount: bytes, limit: max_storage }))
    if (!hasRoom) return storageRefused(quota)
    if (into === 'used') await addToFigures(tx, held, kind)
    return held
  } catch (error) {
    return refuseDeleted(error)
  }
}

interface Addition {
  group_id: string
  kind: string
  period_start: Date
  into: 'reserved' | 'used'
  amount: number
  limit: number | null
}

/**
 * Adds an amount to a row of the table `usage` if the sum stays within the limit. Returns whether
 * it did.
 */
async function add(tx: Tx, addition: Addition): Promise<boolean> {
  const { group_id, kind, period_start, into, amount, limit } = addition
  const column = sql.ref(into)
  const { rows } = await sql`
    insert into usage as so_far (company_id, group_id, kind, period_start, ${column})
    select ${tx.companyId}::uuid, ${group_id}::uuid, ${kind}, ${period_start}::timestamptz, ${amount}::bigint
    where ${limit}::bigint is null or ${amount}::bigint <= ${limit}::bigint
    on conflict (company_id, group_id, kind, period_start) do update
      set ${column} = so_far.${column} + excluded.${column}
      where ${limit}::bigint is null or so_far.used + so_far.reserved + ${amount}::bigint <= ${limit}::bigint
    returning group_id`.execute(tx)
  return rows.length > 0
}

/**
 * Returns the error `unavailable` if `error` says that the group to charge was deleted meanwhile.
 * Throws any other `error`.
 */
function refuseDeleted(error: unknown): AppError {
  const { code, constraint } = Object(error)
  if (code === '23503' && constraint === 'usage_company_id_group_id_fkey') return groupsChanged()
  throw error
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

/**
 * Adds charged requests and bytes to two figures: what the person has used in the group, and what
 * the group has used on the day of the requests.
 */
async function addToFigures(tx: Tx, use: QuotaReservation, kind: Kind): Promise<void> {
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

/**
 * Locks the two rows of the table `usage` that count the reservation: first the row of requests,
 * then the row of storage. `reserveQuota` locks them in the same order. A single update would lock
 * them in the order of its query plan.
 */
async function lockUsage(tx: Tx, held: QuotaReservation): Promise<void> {
  await sql`
    select 1 from usage
    where company_id = ${tx.companyId} and group_id = ${held.group_id}
      and ((kind = 'requests' and period_start = ${held.period_start})
        or (kind = 'storage' and period_start = ${storagePeriodStart}))
    order by kind for update`.execute(tx)
}

async function move(tx: Tx, held: QuotaReservation, keep: 0 | 1): Promise<void> {
  await sql`
    update usage set
      reserved = reserved - case kind when 'requests' then ${held.requests}::bigint else ${held.bytes}::bigint end,
      used = used + ${keep}::int * case kind when 'requests' then ${held.requests}::bigint else ${held.bytes}::bigint end
    where company_id = ${tx.companyId} and group_id = ${held.group_id}
      and ((kind = 'requests' and period_start = ${held.period_start})
        or (kind = 'storage' and period_start = ${storagePeriodStart}))`.execute(tx)
}
