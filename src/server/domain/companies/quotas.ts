import { sql } from 'kysely'
import { AppError, type LimitFigures } from '../../../contract/errors.ts'
import { inSameCompany } from '../../db/joins.ts'
import { prepare } from '../../db/prepared-statements.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId } from '../deps.ts'
import { type Meter, readMeters, storagePeriod } from './usage.ts'

/** Requests and bytes that are reserved for one person in a group's period. */
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
  /**
   * Considers only groups that allow this category. Without it all groups of the person are
   * considered.
   */
  category_id?: string
  requests: number
  bytes: number
  now: Date
  /** The meters of the groups, if the caller has already read them. */
  meters?: Promise<Meter[]>
}

/**
 * Reserves requests and bytes in the group that has the most requests left. Throws
 * `request_limit_reached` or `storage_limit_reached` if no group has enough left. After this error
 * the transaction must end. The statement itself checks the limit, so parallel calls cannot exceed
 * it.
 */
export async function reserveQuota(tx: Tx, input: ReserveInput): Promise<Reservation> {
  return take(tx, input, 'reserved')
}

/** Counts requests as used at once. Throws `request_limit_reached` if no group has enough left. */
export async function chargeRequests(tx: Tx, input: Omit<ReserveInput, 'bytes'>): Promise<void> {
  await take(tx, { ...input, bytes: 0 }, 'used')
}

/** Turns a reservation into usage. Must run in the transaction that records the deposit. */
export async function settleReservation(
  tx: Tx,
  company_id: CompanyId,
  held: Reservation
): Promise<void> {
  await lockUsage(tx, company_id, held)
  await Promise.all([move(tx, company_id, held, 1), addToOwn(tx, { company_id, ...held })])
}

/** Releases a reservation, so that its requests and bytes are available again. */
export async function releaseReservation(
  tx: Tx,
  company_id: CompanyId,
  held: Reservation
): Promise<void> {
  await lockUsage(tx, company_id, held)
  await move(tx, company_id, held, 0)
}

/**
 * Reserves bytes again for an upload whose reservation was released. Uses the same group, even if
 * the person has left it. Throws `storage_limit_reached` if the group does not have enough left.
 */
export async function reserveStorage(
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
    // the savepoint allows to undo the refused reservation and its locks before the next group is
    // tried
    const [, outcome] = await Promise.all([
      isLast || tx.raw(savepoint),
      takeFrom(tx, meter, input, into)
    ])
    if (!(outcome instanceof AppError)) return outcome
    if (!isLast) await sql`rollback to savepoint take`.execute(tx)
    // prefer the storage error, because this group still had requests left
    if (!refusal || outcome.code === 'storage_limit_reached') refusal = outcome
  }
  throw refusal ?? new AppError('forbidden', 'No group of the caller allows this')
}

/** A statement for `raw`, because `raw` keeps the order of statements that are sent together. */
const savepoint = { name: 'savepoint_take', text: 'savepoint take', values: [] }

/**
 * Reserves or charges everything in one group. Returns the error if the group does not have enough
 * left. The caller must then roll back.
 */
async function takeFrom(
  tx: Tx,
  meter: Meter,
  { company_id, user_id, requests, bytes, now }: ReserveInput,
  into: 'reserved' | 'used'
): Promise<Reservation | AppError> {
  const { group_id, period_start, max_requests, max_storage } = meter
  const place = { company_id, group_id, into }
  const held = { user_id, group_id, period_start, requests, bytes }
  // the lock order everywhere: requests, storage, the person's own usage
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

/** Adds to a usage row if the sum stays within the limit. Returns whether it did. */
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

/** Adds to the person's own usage, which contains no reservations. */
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

/**
 * Locks the usage of requests and then that of storage, in the same order as `reserveQuota`. A
 * plain update would lock in the order of its query plan.
 */
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
