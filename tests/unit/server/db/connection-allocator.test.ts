import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import {
  ConnectionAllocator,
  type ConnectionRequestOptions,
  type ConnectionSlot
} from '../../../../src/server/db/connection-allocator.ts'

const present = { hasOthers: () => false }
const options = {
  size: 4,
  reserve: 1,
  heavy: 2,
  whenContended: { usual: 4, heavy: 2 },
  present,
  waitMs: 60_000
}

test('gives all to a company alone, and keeps the reserve for those who hold none', () => {
  const desk = openDesk()
  desk.ask('acme', 6)
  expect(desk.served).toEqual(['acme', 'acme', 'acme', 'acme'])
  desk.ask('beta', 2)
  expect(desk.served.slice(4)).toEqual(['beta'])
  expect(desk.allocator.waiting).toBe(3)
})

test('serves the company that holds fewest, and of equals the one that was served longest ago', async () => {
  const desk = openDesk()
  desk.ask('acme', 20)
  desk.ask('beta', 3)
  desk.served.length = 0
  // acme has four and beta the reserve, which then stays free for a third
  for (let n = 0; n < 4; n++) await desk.release('acme')
  expect(desk.served).toEqual(['beta', 'acme', 'acme'])
})

test('divides what comes free by company and not by who asks for most', async () => {
  const desk = openDesk()
  desk.ask('acme', 100)
  desk.ask('beta', 10)
  for (let n = 0; n < 16; n++) await desk.release(n % 2 === 0 ? 'acme' : 'beta')
  expect(desk.served.filter(who => who === 'beta').length).toBeGreaterThanOrEqual(8)
})

test('serves some of every company however many there are', async () => {
  const desk = openDesk()
  const names = Array.from({ length: 30 }, (_, n) => `company ${n}`)
  desk.ask('acme', 50)
  for (const name of names) desk.ask(name, 1)
  while (desk.allocator.waiting > 0) await desk.release(desk.holders()[0] ?? '')
  const last = Math.max(...names.map(name => desk.served.indexOf(name)))
  expect(last).toBeLessThan(40)
})

test('lets long reads hold few connections in all, and the rest goes to others', async () => {
  const desk = openDesk()
  desk.ask('acme', 10, { isHeavy: true })
  expect(desk.served).toHaveLength(2)
  desk.ask('acme', 2)
  expect(desk.served).toHaveLength(4)
  desk.ask('beta', 1, { isHeavy: true })
  await desk.release('acme')
  expect(desk.served.at(-1)).toBe('beta')
})

test('beside others a company holds what the cores serve, of long reads too', async () => {
  const desk = openDesk({
    ...options,
    whenContended: { usual: 2, heavy: 1 },
    present: { hasOthers: () => true }
  })
  desk.ask('beta', 1)
  desk.ask('acme', 3)
  desk.ask('acme', 2, { isHeavy: true })
  expect(desk.served).toEqual(['beta', 'acme', 'acme', 'acme'])
  await desk.release('beta')
  expect(desk.served).toHaveLength(4)
  await desk.release('acme')
  expect(desk.served).toHaveLength(5)
})

test('long background work takes nothing from the calls of its company, and no reserve', () => {
  const desk = openDesk({
    ...options,
    whenContended: { usual: 1, heavy: 1 },
    present: { hasOthers: () => true }
  })
  desk.ask('acme', 2, { isBackground: true })
  desk.ask('acme', 1)
  expect(desk.served).toEqual(['acme', 'acme', 'acme'])
  desk.ask('beta', 1)
  desk.ask('gamma', 1, { isBackground: true })
  desk.ask('gamma', 1)
  expect(desk.served.slice(3)).toEqual(['beta', 'gamma'])
  expect(desk.allocator.waiting).toBe(1)
})

test('a company that is alone again holds all, though nobody gave back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let hasOthers = true
  const desk = openDesk({
    ...options,
    whenContended: { usual: 1, heavy: 1 },
    present: { hasOthers: () => hasOthers }
  })
  desk.ask('acme', 3)
  expect(desk.served).toEqual(['acme'])
  hasOthers = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(desk.served).toEqual(['acme', 'acme', 'acme'])
  vi.useRealTimers()
})

test('a caller that goes leaves the line, and is served no more', async () => {
  const desk = openDesk()
  desk.ask('acme', 5)
  const caller = Object.assign(new EventEmitter(), { destroyed: false })
  const left = desk.allocator.take('acme', { caller })
  caller.emit('close')
  await expect(left).rejects.toThrow('the caller has gone')
  const gone = desk.allocator.take('acme', {
    caller: Object.assign(new EventEmitter(), { destroyed: true })
  })
  await expect(gone).rejects.toThrow('the caller has gone')
  expect(desk.allocator.waiting).toBe(1)
  expect(caller.listenerCount('close')).toBe(0)
})

test('a caller that goes after it was served takes nobody out of the line', async () => {
  let hasOthers = true
  const desk = openDesk({
    ...options,
    whenContended: { usual: 1, heavy: 1 },
    present: { hasOthers: () => hasOthers }
  })
  desk.ask('acme', 2)
  hasOthers = false
  const caller = Object.assign(new EventEmitter(), { destroyed: false })
  // finds somebody in the line, joins it, and is served with it because the others have gone
  await desk.allocator.take('acme', { caller })
  expect(desk.served).toHaveLength(2)
  expect(caller.listenerCount('close')).toBe(0)
  desk.ask('acme', 2)
  expect(desk.allocator.waiting).toBe(1)
  caller.emit('close')
  expect(desk.allocator.waiting).toBe(1)
  await desk.release('acme')
  expect(desk.allocator.waiting).toBe(0)
  expect(desk.served).toHaveLength(4)
})

test('whoever waits too long is refused as where the database is busy', async () => {
  const allocator = new ConnectionAllocator({ ...options, waitMs: 1 })
  const held: ConnectionSlot[] = []
  for (let n = 0; n < 4; n++) {
    const slot = allocator.take('acme')
    if (!(slot instanceof Promise)) held.push(slot)
  }
  expect(held).toHaveLength(4)
  await expect(allocator.take('acme')).rejects.toMatchObject({ code: '53300' })
  expect(allocator.waiting).toBe(0)
  const patient = allocator.take('acme', { waitMs: 60_000 })
  const tooLong = allocator.take('acme')
  await expect(tooLong).rejects.toMatchObject({ code: '53300' })
  held[0]?.release()
  expect(await patient).toBeDefined()
})

/**
 * Creates the allocator to test. `ask` requests connections, and `served` lists who got them, in
 * order.
 */
function openDesk(how = options) {
  const allocator = new ConnectionAllocator(how)
  const served: string[] = []
  const held = new Map<string, ConnectionSlot[]>()
  const take = (who: string, slot: ConnectionSlot) => {
    served.push(who)
    held.set(who, [...(held.get(who) ?? []), slot])
  }
  return {
    allocator,
    served,
    holders: () => [...held].filter(([, all]) => all.length > 0).map(([who]) => who),
    ask(who: string, times: number, options?: ConnectionRequestOptions) {
      for (let n = 0; n < times; n++) {
        const slot = allocator.take(who, options)
        if (slot instanceof Promise) slot.then(given => take(who, given)).catch(() => undefined)
        else take(who, slot)
      }
    },
    async release(who: string) {
      held.get(who)?.shift()?.release()
      await Promise.resolve()
      await Promise.resolve()
    }
  }
}
