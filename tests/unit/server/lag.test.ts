import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openLag } from '../../../src/server/lag.ts'

test('tells how late the event loop is, once it has been for three beats, and a little after', async () => {
  using lag = openLag()
  await pause()
  await pause()
  expect(lag.ms()).toBeLessThan(200)
  for (let holds = 0; holds < 3; holds++) await pause()
  expect(lag.ms()).toBeGreaterThan(200)
  await new Promise(resolve => setTimeout(resolve, 60))
  expect(lag.ms()).toBeGreaterThan(100)
})

/** Holds the loop for longer than is too late, then lets its timers come. */
async function pause(): Promise<void> {
  const until = performance.now() + 300
  while (performance.now() < until) Math.sqrt(until)
  await setImmediate()
  await setImmediate()
}
