import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCompanyActivityTracker } from '../../../../src/core/active-companies.ts'
import { createRequestScheduler } from '../../../../src/server/http/request-scheduler.ts'

test('begins what comes one at a time at once', async () => {
  const scheduler = createRequestScheduler(createCompanyActivityTracker(() => performance.now()))
  for (let n = 0; n < 50; n++) {
    expect(scheduler.wait('acme')).toBeUndefined()
    await setImmediate()
  }
})

test('begins a request of another company at once, however many of one wait', async () => {
  const { scheduler, begun, ask } = openGate()
  ask('acme', 1000)
  expect(scheduler.wait('beta')).toBeUndefined()
  await setImmediate()
  expect(begun('acme')).toBeLessThan(50)
})

test('begins one request of each company in a turn of the event loop, in the order they came', async () => {
  const { begun, ask, order } = openGate()
  ask('acme', 10)
  ask('beta', 3)
  const before = begun('acme')
  for (let turn = 0; turn < 4; turn++) await setImmediate()
  expect(begun('beta')).toBe(3)
  expect(begun('acme') - before).toBeLessThanOrEqual(5)
  while (order.length < 13) await setImmediate()
  const numbers = order.filter(([who]) => who === 'acme').map(([, n]) => n)
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
})

test('begins many of a company that is alone', async () => {
  const { begun, ask } = openGate()
  ask('acme', 64)
  for (let turn = 0; turn < 4; turn++) await setImmediate()
  expect(begun('acme')).toBe(64)
})

/**
 * Creates the scheduler to test. `ask` lets requests wait for their beginning, and `order` lists
 * those that have begun.
 */
function openGate() {
  const scheduler = createRequestScheduler(createCompanyActivityTracker(() => performance.now()))
  const order: [string, number][] = []
  return {
    scheduler,
    order,
    begun: (who: string) => order.filter(([each]) => each === who).length,
    ask(who: string, times: number) {
      for (let n = 0; n < times; n++) {
        const begin = () => order.push([who, n])
        const wait = scheduler.wait(who)
        if (wait) void wait.then(begin)
        else begin()
      }
    }
  }
}
