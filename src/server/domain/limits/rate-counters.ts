import { LRUCache } from 'lru-cache'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { inOneStatement } from '../../db/scope.ts'
import type { Deps, RateCount, RateCounters } from '../deps.ts'

// so long a refusal is repeated without asking the database, which would otherwise work for every
// call of a flood
const repeatedMs = 1000
const maxRepeated = 10_000
const maxDeleted = 10_000

export function createRateCounters({ db, clock }: Pick<Deps, 'db' | 'clock'>): RateCounters {
  const inProcess = new RateLimiterMemory({ points: 0, duration: 0 })
  const ends = new LRUCache<string, Date>({ max: maxRepeated, ttl: repeatedMs })

  const refusedAgain = <Count extends RateCount>(counts: readonly Count[], now: Date) =>
    counts.flatMap(count => {
      const end = count.reserve ? undefined : ends.get(keyOf(count.counter))
      const msLeft = end ? end.getTime() - now.getTime() : 0
      return msLeft > 0 ? [{ count, points: count.limit + 1, msLeft }] : []
    })

  return {
    async add(counts) {
      const now = clock()
      const [again] = refusedAgain(counts, now)
      if (again) return [again]
      const values = [
        now,
        counts.map(({ counter }) => counter),
        counts.map(({ points }) => points),
        counts.map(({ limit }) => limit),
        counts.map(({ seconds }) => new Date(now.getTime() + seconds * 1000))
      ]
      const rows = await inOneStatement<Row>(db, { text: addSql, values })
      return counts.slice(0, rows.length).map((count, index) => {
        const { points, expires_at } = rowAt(rows, index)
        if (points > count.limit) ends.set(keyOf(count.counter), expires_at)
        return { count, points, msLeft: expires_at.getTime() - now.getTime() }
      })
    },

    async takeBack(counters) {
      for (const counter of counters) ends.delete(keyOf(counter))
      const values = [counters, clock()]
      await inOneStatement(db, { text: takeBackSql, values }, { mayRunTwice: false })
    },

    async addInProcess(count) {
      const { counter, points, seconds } = count
      const sum = await inProcess.penalty(keyOf(counter), points, { customDuration: seconds })
      return { count, points: sum.consumedPoints, msLeft: sum.msBeforeNext }
    }
  }
}

/** Returns whether there may be more of them. */
export async function deleteExpiredRateCounts({
  db,
  clock
}: Pick<Deps, 'db' | 'clock'>): Promise<boolean> {
  const deleted = await inOneStatement(db, { text: deleteSql, values: [clock(), maxDeleted] })
  return deleted.length === maxDeleted
}

interface Row {
  points: number
  expires_at: Date
}

function rowAt(rows: readonly Row[], index: number): Row {
  const row = rows[index]
  if (!row) throw new Error('a count has no row')
  return row
}

function keyOf(counter: Buffer): string {
  return counter.toString('latin1')
}

// Does not wait for the disk, because all visitors of a company wait for the same row. If the database
// crashes, the counts of the last half second are lost.
const unflushed =
  "with unflushed as materialized (select set_config('synchronous_commit', 'off', true))"

const addSql = `${unflushed}
  select counted as points, counted_until as expires_at from unflushed,
    count_rates($1::timestamptz, $2::bytea[], $3::bigint[], $4::bigint[], $5::timestamptz[])`

// locks the rows in the order in which they are counted, so that two calls do not wait for each other
const takeBackSql = `${unflushed}, held as materialized (
    select counter from rate_count
    join unnest($1::bytea[]) with ordinality as given (counter, place) using (counter)
    where expires_at > $2 and points > 0
    order by place for update of rate_count
  )
  update rate_count set points = points - 1 from unflushed, held
  where rate_count.counter = held.counter`

const deleteSql = `
  delete from rate_count where counter in (
    select counter from rate_count where expires_at <= $1 limit $2 for update skip locked
  ) returning counter`
