import { AppError } from '../../../contract/kit/errors.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { networksOfAddress } from '../ip-addresses.ts'

/** Who looks up references: a person, or the network of an address. */
export type MissCounted = { user_id: string } | { address: string }

/** One reference of a register, and whether the register lists it. */
export interface ReferenceLookUp {
  /** The same for all check fields, whether the reference exists or not. */
  key: string
  isHit: boolean
}

const minuteMs = 60_000
const dayMs = 86_400_000
const perMinute = 10
const perDay = 60
const perReferenceDay = 20
// for the networks /64, /56 and /48 of an IPv6 address; IPv4 has only the first
const networkFactors = [1, 4, 16]

/**
 * Counts the misses of a call, exactly even if calls race in several processes. Throws
 * `lookup_limited`, and counts nothing, if one more miss than the hits and misses of this call would
 * exceed a limit: hits and misses are refused alike, so a refusal does not tell them apart. Beyond
 * the limit of a reference, only networks and people without a miss that day go on, so that
 * strangers cannot block it.
 */
export async function countLookupMisses(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  counted: MissCounted,
  lookUps: readonly ReferenceLookUp[]
): Promise<void> {
  if (lookUps.length === 0) return
  const callers = callersOf(counted)
  const all = { asked: lookUps.length, misses: lookUps.filter(({ isHit }) => !isHit).length }
  const byKey = [...Map.groupBy(lookUps, ({ key }) => key)]
  const counters: Counter[] = [
    ...callers.flatMap(({ key, factor }): Counter[] => [
      { ...all, of: 'minute', key: ['minute', key], ms: minuteMs, limit: perMinute * factor },
      { ...all, of: 'day', key: ['day', key], ms: dayMs, limit: perDay * factor }
    ]),
    ...byKey.map(([key, same]): Counter => {
      const misses = same.filter(({ isHit }) => !isHit).length
      const asked = same.length
      return {
        asked,
        misses,
        of: 'reference',
        key: ['ref', key],
        ms: dayMs,
        limit: perReferenceDay
      }
    })
  ]
  const sums = await add(tx, deps, counters)
  // of the widest network
  const today = sums.findLast(({ of }) => of === 'day')
  const isFirstToday = today !== undefined && today.before === 0 && all.asked === 1
  const reached = sums.filter(
    ({ of, before, asked, limit }) =>
      before + asked > limit && !(of === 'reference' && isFirstToday)
  )
  const last = reached.toSorted((a, b) => b.expires_at.getTime() - a.expires_at.getTime())[0]
  if (!last) return
  const leftMs = last.expires_at.getTime() - deps.clock().getTime()
  throw new AppError('lookup_limited', 'Too many references were not found', {
    retryAfter: Math.max(1, Math.ceil(leftMs / 1000)),
    figures: {
      used: Math.min(last.before, last.limit),
      limit: last.limit,
      resets_at: last.expires_at.toISOString()
    }
  })
}

interface Counter {
  of: 'minute' | 'day' | 'reference'
  key: string[]
  ms: number
  limit: number
  asked: number
  misses: number
}

async function add(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  counters: readonly Counter[]
): Promise<(Counter & { before: number; expires_at: Date })[]> {
  const now = deps.clock()
  // so that no network address and no reference is stored
  const named = counters.map(counter => {
    const text = JSON.stringify(['lookup', tx.companyId, ...counter.key])
    return { ...counter, counter: deps.keys.mac('pseudonym', text).subarray(0, 16) }
  })
  const rows = await tx.raw<{ counter: Buffer; misses: number; expires_at: Date }>({
    text: addSql,
    values: [
      tx.companyId,
      named.map(({ counter }) => counter),
      named.map(({ misses }) => misses),
      named.map(({ ms }) => new Date(now.getTime() + ms)),
      now
    ]
  })
  return named.flatMap(each => {
    const row = rows.find(({ counter }) => counter.equals(each.counter))
    return row ? [{ ...each, before: row.misses - each.misses, expires_at: row.expires_at }] : []
  })
}

// in one order, so that two calls do not wait for each other
const addSql = `
  insert into lookup_miss as so_far (company_id, counter, misses, expires_at)
  select $1, counter, misses, expires_at
  from unnest($2::bytea[], $3::integer[], $4::timestamptz[]) as given (counter, misses, expires_at)
  order by counter
  on conflict (company_id, counter) do update set
    misses = excluded.misses + case when so_far.expires_at > $5 then so_far.misses else 0 end,
    expires_at = case when so_far.expires_at > $5 then so_far.expires_at else excluded.expires_at end
  returning counter, misses, expires_at`

function callersOf(counted: MissCounted): { key: string; factor: number }[] {
  if ('user_id' in counted) return [{ key: counted.user_id, factor: 1 }]
  return networksOfAddress(counted.address).map((key, tier) => ({
    key,
    factor: networkFactors[tier] ?? 1
  }))
}
