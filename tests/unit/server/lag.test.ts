import { expect, test } from 'vitest'
import { openLag } from '../../../src/server/lag.ts'

test('tells how late the event loop is, while it is held and a little after', async () => {
  using lag = openLag()
  await new Promise(resolve => setTimeout(resolve, 120))
  expect(lag.ms()).toBeLessThan(200)
  const until = performance.now() + 400
  while (performance.now() < until) Math.sqrt(until)
  expect(lag.ms()).toBeGreaterThan(200)
  await new Promise(resolve => setTimeout(resolve, 60))
  expect(lag.ms()).toBeGreaterThan(100)
})
