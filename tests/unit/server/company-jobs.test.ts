import { expect, test } from 'vitest'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import type { CompanyId, Deps } from '../../../src/server/domain/deps.ts'
import { createSignaledJob } from '../../../src/server/jobs/each-company.ts'

const large = toCompanyId('01978a5e-0000-7000-8000-00000000000a')
const small = toCompanyId('01978a5e-0000-7000-8000-00000000000b')

/**
 * Creates a job with this many pieces of work for each company. `send` sends the signal of the job.
 */
function makeJob(work: Record<string, number>, parallel = 1) {
  const done: CompanyId[] = []
  let send = (_company: CompanyId) => {}
  let stopped = false
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  // as: without a schedule the job reads nothing from the database
  const job = createSignaledJob({ log } as unknown as Deps, {
    name: 'test',
    parallel,
    signal: {
      send: company => send(company),
      on: listener => {
        send = listener
        return () => {}
      }
    },
    async workOnNext(company, { onFound }) {
      const left = work[company] ?? 0
      if (left === 0) return false
      work[company] = left - 1
      if (parallel > 1) onFound()
      await Promise.resolve()
      if (work['fails']) return false
      done.push(company)
      return true
    }
  })
  const runs: Promise<void>[] = []
  const start = () => {
    if (runs.length < parallel) runs.push(job.run(() => stopped, false))
  }
  job.wake?.(start)
  return {
    done,
    send: (company: CompanyId) => send(company),
    stop: () => {
      stopped = true
    },
    ended: async () => {
      for (const run of runs) await run
    }
  }
}

test('companies take turns, one piece of work each', async () => {
  const job = makeJob({ [large]: 4, [small]: 2 })
  job.send(large)
  job.send(small)
  await job.ended()
  expect(job.done).toEqual([large, small, large, small, large, large])
})

test('the pieces of one company are done at the same time where they need not wait', async () => {
  const job = makeJob({ [large]: 9 }, 3)
  job.send(large)
  await job.ended()
  expect(job.done).toHaveLength(9)
})

test('work that fails is not tried again immediately', async () => {
  const work = { [large]: 9, fails: 1 }
  const job = makeJob(work)
  job.send(large)
  await job.ended()
  expect(work[large]).toBe(8)
})

test('a job that is stopped begins no further piece', async () => {
  const job = makeJob({ [large]: 9 })
  job.send(large)
  job.stop()
  await job.ended()
  expect(job.done).toEqual([large])
})
