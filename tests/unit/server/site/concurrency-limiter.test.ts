import { expect, test } from 'vitest'
import { limitConcurrency } from '../../../../src/server/site/concurrency-limiter.ts'

test('runs a few of one key at a time, lets some wait and refuses the rest, and other keys go on', async () => {
  const inLine = limitConcurrency({ atOnce: 2, waiting: 3 })
  const isOpen = Promise.withResolvers<void>()
  let running = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++running)
    await isOpen.promise
    running--
    return 'done'
  }
  const all = Promise.allSettled(Array.from({ length: 7 }, () => inLine('acme', work)))
  expect(await inLine('beta', async () => 'done')).toBe('done')
  isOpen.resolve()
  const outcomes = (await all).map(({ status }) => status)
  expect(outcomes.filter(status => status === 'fulfilled')).toHaveLength(5)
  expect(outcomes.slice(5)).toEqual(['rejected', 'rejected'])
  expect(most).toBe(2)
  const failing = inLine('acme', () => Promise.reject(new Error('broken')))
  await expect(failing).rejects.toThrow('broken')
  expect(await inLine('acme', async () => 'again')).toBe('again')
})
