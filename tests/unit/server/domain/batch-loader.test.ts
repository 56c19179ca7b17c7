import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createBatchLoader } from '../../../../src/server/domain/batch-loader.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const bounds = { maxItems: 100, slowMs: 50, maxAtOnce: 3 }

/**
 * Creates a source that answers `n * 10` for each item `n`. Each of its calls waits until the test
 * resolves the call's gate.
 */
function makeSource() {
  const asked: number[][] = []
  const gates: PromiseWithResolvers<void>[] = []
  async function ask(items: number[]): Promise<number[]> {
    asked.push(items)
    const gate = Promise.withResolvers<void>()
    gates.push(gate)
    await gate.promise
    return items.map(item => item * 10)
  }
  return { ask, asked, gate: (at: number) => gates[at] }
}

test('what is asked while an answer is under way goes together, and each gets its own', async () => {
  const { ask, asked, gate } = makeSource()
  const question = createBatchLoader(ask, bounds)
  const first = question([1])
  const second = question([2, 3])
  const third = question([4])
  expect(asked).toEqual([[1]])
  gate(0)?.resolve()
  expect(await first).toEqual([10])
  gate(1)?.resolve()
  expect(await second).toEqual([20, 30])
  expect(await third).toEqual([40])
  expect(asked).toEqual([[1], [2, 3, 4]])
  const fourth = question([5])
  expect(asked).toHaveLength(3)
  gate(2)?.resolve()
  expect(await fourth).toEqual([50])
})

test('takes no more items together than allowed, but one question whole', async () => {
  const { ask, asked, gate } = makeSource()
  const question = createBatchLoader(ask, { ...bounds, maxItems: 3 })
  const all = [question([1]), question([2, 3]), question([4, 5]), question([6, 7, 8, 9])]
  for (const [at, answer] of all.entries()) {
    gate(at)?.resolve()
    await answer
  }
  expect(asked).toEqual([[1], [2, 3], [4, 5], [6, 7, 8, 9]])
})

test('a failure is told to all who waited for it, and to nobody else', async () => {
  const { ask, gate } = makeSource()
  const question = createBatchLoader(ask, bounds)
  const first = question([1])
  const together = [question([2]), question([3])]
  gate(0)?.resolve()
  await first
  const told = Promise.allSettled(together)
  gate(1)?.reject(new Error('busy'))
  expect((await told).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const next = question([4])
  gate(2)?.resolve()
  expect(await next).toEqual([40])
})

test('an answer that is slow keeps nobody waiting', async () => {
  const { ask, asked, gate } = makeSource()
  const question = createBatchLoader(ask, bounds)
  const slow = question([1])
  const others = [question([2]), question([3])]
  vi.advanceTimersByTime(49)
  expect(asked).toEqual([[1]])
  vi.advanceTimersByTime(1)
  expect(asked).toEqual([[1], [2, 3]])
  gate(1)?.resolve()
  expect(await Promise.all(others)).toEqual([[20], [30]])
  const later = question([4])
  expect(asked).toEqual([[1], [2, 3], [4]])
  gate(2)?.resolve()
  expect(await later).toEqual([40])
  gate(0)?.resolve()
  expect(await slow).toEqual([10])
})

test('no more are under way than allowed, however slow, and the rest goes with the first to end', async () => {
  const { ask, asked, gate } = makeSource()
  const question = createBatchLoader(ask, bounds)
  const first = question([1])
  for (const item of [2, 3, 4, 5]) {
    void question([item])
    vi.advanceTimersByTime(50)
  }
  expect(asked).toEqual([[1], [2], [3]])
  gate(0)?.resolve()
  await first
  expect(asked).toEqual([[1], [2], [3], [4, 5]])
})
