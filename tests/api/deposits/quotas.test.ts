import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import type { CompanyId } from '../../../src/server/domain/deps.ts'
import {
  type QuotaReservation,
  releaseReservation,
  reserveQuota,
  turnReservationIntoUsage
} from '../../../src/server/domain/limits/quotas.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { runCount, testTimeout } from '../../helpers/soak.ts'

// D-02

const day = 86_400_000
let app: TestApp
let people: TestPerson[]
let company: CompanyId
let start: number
beforeAll(async () => {
  app = await makeApp({
    limits: { max_requests: 3, max_requests_interval: 'P1D', max_storage: 100 }
  })
  people = [await app.signUp(), await app.signUp()]
  const [found] = Object.values(app.companies)
  if (!found) throw new Error('no such company')
  company = found
  start = Math.ceil(Date.now() / day) * day // a midnight, at which a period begins
})
afterAll(() => app[Symbol.asyncDispose]())

type Step =
  | { do: 'reserve'; bytes: number; person: number }
  | { do: 'settle' | 'release'; which: number; crashes: boolean }
  | { do: 'limit'; requests: number | null; storage: number | null }
  | { do: 'wait'; ms: number }

const limit = fc.option(fc.nat({ max: 5 }))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reserve'),
      bytes: fc.nat({ max: 60 }),
      person: fc.nat({ max: 1 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('settle', 'release'),
      which: fc.nat({ max: 9 }),
      crashes: fc.boolean()
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('limit'),
      requests: limit,
      storage: fc.option(fc.nat({ max: 150 }))
    })
  },
  // to the last millisecond of a period, to the first of the next, or within
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(1, day - 1, day) })
  }
)

test(
  'keeps to the figures of a plain model through returns, crashes, new limits and midnights',
  async () => {
    const granted = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async steps => {
        await app.owner.query('delete from usage; delete from user_usage')
        let limits: { requests: number | null; storage: number | null } = {
          requests: 3,
          storage: 100
        }
        await setLimits(limits)
        let now = start
        let stored = 0
        const taken = new Map<number, number>()
        const held: { bytes: number; day: number; reservation: QuotaReservation }[] = []
        /**
         * What each person has used: requests in each period, and bytes in one period that never
         * ends.
         */
        const own = new Map<string, number>()
        const addOwn = (key: string, amount: number) => {
          if (amount > 0) own.set(key, (own.get(key) ?? 0) + amount)
        }

        for (const each of steps) {
          const today = Math.floor(now / day)
          if (each.do === 'wait') now += each.ms
          else if (each.do === 'limit') {
            limits = each
            await setLimits(each)
          } else if (each.do === 'reserve') {
            const bytes = each.bytes
            const requestsLeft =
              limits.requests === null || (taken.get(today) ?? 0) < limits.requests
            const inUse = stored + held.reduce((sum, one) => sum + one.bytes, 0)
            const fits = bytes === 0 || limits.storage === null || inUse + bytes <= limits.storage
            const outcome = await tryReserve(each.person, bytes, new Date(now))
            const expected = requestsLeft
              ? fits
                ? 'held'
                : 'storage_limit_reached'
              : 'request_limit_reached'
            granted.add(expected)
            if (outcome instanceof AppError) {
              expect(outcome.code).toBe(expected)
              const resets = new Date((today + 1) * day).toISOString()
              expect(outcome.figures).toEqual(
                expected === 'request_limit_reached'
                  ? { used: taken.get(today) ?? 0, limit: limits.requests, resets_at: resets }
                  : { used: inUse, limit: limits.storage, resets_at: null }
              )
            } else {
              expect(expected).toBe('held')
              taken.set(today, (taken.get(today) ?? 0) + 1)
              held.push({ bytes, day: today, reservation: outcome })
            }
          } else {
            const [one] = held.splice(each.which % Math.max(1, held.length), 1)
            if (!one) continue
            const act = each.do === 'settle' ? turnReservationIntoUsage : releaseReservation
            if (each.crashes) {
              // undone with its transaction, and done again
              const crash = inCompany(app.deps.db, company, async tx => {
                await act(tx, one.reservation)
                throw new Error('crash')
              })
              await expect(crash).rejects.toThrow('crash')
            }
            await inCompany(app.deps.db, company, tx => act(tx, one.reservation))
            if (each.do === 'settle') {
              stored += one.bytes
              const { user_id } = one.reservation
              addOwn(`${user_id} requests ${one.day * day}`, 1)
              addOwn(`${user_id} storage 0`, one.bytes)
            } else taken.set(one.day, (taken.get(one.day) ?? 1) - 1)
          }
        }

        const waiting = held.reduce((sum, one) => sum + one.bytes, 0)
        const { rows } = await app.owner.query(
          `select kind, coalesce(sum(used), 0)::int as used, coalesce(sum(reserved), 0)::int as reserved
           from unnest('{requests,storage}'::text[]) as kind left join usage using (kind)
           group by kind order by kind`
        )
        const requests = [...taken.values()].reduce((sum, one) => sum + one, 0)
        expect(rows).toEqual([
          { kind: 'requests', used: requests - held.length, reserved: held.length },
          { kind: 'storage', used: stored, reserved: waiting }
        ])
        const { rows: owned } = await app.owner.query(
          `select user_id || ' ' || kind || ' ' || (extract(epoch from period_start) * 1000)::bigint as key, used::int
           from user_usage`
        )
        expect(new Map(owned.map(({ key, used }) => [key, used]))).toEqual(own)
      }),
      { numRuns: runCount(30, 10_000) }
    )
    expect([...granted].sort()).toEqual(['held', 'request_limit_reached', 'storage_limit_reached'])
  },
  testTimeout(240_000)
)

async function tryReserve(
  index: number,
  bytes: number,
  now: Date
): Promise<QuotaReservation | AppError> {
  const person = people[index]
  if (!person) throw new Error('no such person')
  try {
    return await inCompany(app.deps.db, company, tx =>
      reserveQuota(tx, { company_id: company, user_id: person.id, requests: 1, bytes, now })
    )
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

async function setLimits(limits: { requests: number | null; storage: number | null }) {
  await app.owner.query('update "group" set max_requests = $1, max_storage = $2', [
    limits.requests,
    limits.storage
  ])
}
