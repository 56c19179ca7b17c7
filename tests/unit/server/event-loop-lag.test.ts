import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createLagMeter, watchEventLoopLag } from '../../../src/server/event-loop-lag.ts'

test('is late once three beats in a row were, and a little after', () => {
  const read = createLagMeter()
  expect([300, 300].map(read)).toEqual([0, 0])
  expect(read(250)).toBe(250)
  expect(read(0)).toBe(200)
  expect(Array.from({ length: 20 }, () => read(0)).at(-1)).toBeLessThan(5)
})

test('takes a short pause for none', () => {
  const read = createLagMeter()
  expect([0, 400, 0, 400, 0].map(read)).toEqual([0, 0, 0, 0, 0])
})

test('is late after one long block, and a little after', () => {
  const read = createLagMeter()
  expect(read(6700)).toBe(6700)
  expect([0, 0, 0, 0, 0].map(read).at(-1)).toBeGreaterThan(2000)
})

test('watches the event loop of this process', async () => {
  using lag = watchEventLoopLag()
  const until = performance.now() + 1200
  while (performance.now() < until) Math.sqrt(until)
  await setImmediate()
  await setImmediate()
  expect(lag.ms()).toBeGreaterThan(1000)
})
