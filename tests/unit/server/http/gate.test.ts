import { EventEmitter } from 'node:events'
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { type CompanyId, toCompanyId } from '../../../../src/server/db/scope.ts'
import { createGate } from '../../../../src/server/http/gate.ts'
import { Places } from '../../../../src/server/http/places.ts'

const counts = { all: 4, reserve: 1, besideOthers: 4, waiting: 100 }

test('gives all to a company alone, and keeps the reserve for those who hold none', async () => {
  const desk = openDesk()
  await desk.ask('acme', 6)
  expect(desk.served).toEqual(['acme', 'acme', 'acme', 'acme'])
  await desk.ask('beta', 2)
  expect(desk.served.slice(4)).toEqual(['beta'])
})

test('serves the company that holds fewest, and of equals the one that was served longest ago', async () => {
  const desk = openDesk()
  await desk.ask('acme', 20)
  await desk.ask('beta', 3)
  desk.served.length = 0
  // acme has four and beta the reserve, which then stays free for a third
  for (let n = 0; n < 4; n++) await desk.release('acme')
  expect(desk.served).toEqual(['beta', 'acme', 'acme'])
})

test('divides what comes free by company and not by who asks for most', async () => {
  const desk = openDesk()
  await desk.ask('acme', 100)
  await desk.ask('beta', 10)
  for (let n = 0; n < 16; n++) await desk.release(n % 2 === 0 ? 'acme' : 'beta')
  expect(desk.served.filter(who => who === 'beta').length).toBeGreaterThanOrEqual(8)
})

test('serves some of every company however many there are', async () => {
  const desk = openDesk()
  const names = Array.from({ length: 30 }, (_, n) => `company ${n}`)
  await desk.ask('acme', 50)
  for (const name of names) await desk.ask(name, 1)
  for (let n = 0; n < 80; n++) await desk.release(desk.holders()[0] ?? '')
  const last = Math.max(...names.map(name => desk.served.indexOf(name)))
  expect(desk.served).toHaveLength(80)
  expect(last).toBeLessThan(40)
})

test('beside others a company holds few', async () => {
  const desk = openDesk({ ...counts, besideOthers: 2 }, () => true)
  await desk.ask('acme', 5)
  await desk.ask('beta', 1)
  expect(desk.served).toEqual(['acme', 'acme', 'beta'])
  await desk.release('beta')
  expect(desk.served).toHaveLength(3)
  await desk.release('acme')
  expect(desk.served).toHaveLength(4)
})

test('a company that is alone again holds all, though nobody gave back', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let hasOthers = true
  const desk = openDesk({ ...counts, besideOthers: 1 }, () => hasOthers)
  await desk.ask('acme', 3)
  expect(desk.served).toEqual(['acme'])
  hasOthers = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(desk.served).toEqual(['acme', 'acme', 'acme'])
  vi.useRealTimers()
})

test('begins in one turn of the event loop as many as a company may hold, even if they end at once', async () => {
  const places = new Places(counts, () => false)
  let begun = 0
  const all = Array.from({ length: 40 }, () => places.run('acme', async () => begun++))
  await Promise.resolve()
  for (let turn = 1; turn <= 5; turn++) {
    await setImmediate()
    expect(begun).toBeLessThanOrEqual(4 * (turn + 1))
  }
  await Promise.all(all)
  expect(begun).toBe(40)
})

test('a client that goes leaves the line, and is served no more', async () => {
  const desk = openDesk()
  await desk.ask('acme', 4)
  const [client, gone] = [newClient(), newClient(true)]
  const left = desk.places.take('acme', { client })
  await desk.ask('acme', 1)
  client.emit('close')
  await expect(left).rejects.toMatchObject({ status: 400 })
  await expect(desk.places.take('acme', { client: gone })).rejects.toMatchObject({ status: 400 })
  expect(client.listenerCount('close') + gone.listenerCount('close')).toBe(0)
  await desk.release('acme')
  expect(desk.served).toHaveLength(5)
})

test('a client that goes after it was served takes nobody out of the line', async () => {
  const desk = openDesk()
  await desk.ask('acme', 4)
  const client = newClient()
  const served = desk.places.take('acme', { client })
  await desk.release('acme')
  await served
  expect(client.listenerCount('close')).toBe(0)
  await desk.ask('acme', 1)
  client.emit('close')
  await desk.release('acme')
  expect(desk.served).toHaveLength(5)
})

test('refuses whoever waits too long or finds too many in the line', async () => {
  const desk = openDesk({ ...counts, waiting: 1 })
  await desk.ask('acme', 4)
  const busy = { code: 'unavailable', retryAfter: 2 }
  const waiting = desk.places.take('acme', { waitMs: 20 })
  await expect(desk.places.take('acme')).rejects.toMatchObject(busy)
  await expect(waiting).rejects.toMatchObject(busy)
  const patient = desk.places.take('acme', { waitMs: 60_000 })
  await desk.release('acme')
  expect(await patient).toBeDefined()
})

const acme = toCompanyId('00000000-0000-4000-8000-000000000001')
const beta = toCompanyId('00000000-0000-4000-8000-000000000002')

test('long reads have four places of their own, and their calls hold no other', async () => {
  const gate = createGate()
  const isOver = Promise.withResolvers<void>()
  let reading = 0
  const search = async (company: CompanyId) => {
    const place = await gate.enter({ company })
    await place.longRead(() => {
      reading++
      return isOver.promise
    })
    place.end()
  }
  const searches = Array.from({ length: 30 }, () => search(acme))
  await expect.poll(() => reading).toBe(4)
  const places = await Promise.all(Array.from({ length: 16 }, () => gate.enter({ company: acme })))
  expect(places).toHaveLength(16)
  for (const place of places) place.end()
  isOver.resolve()
  await Promise.all(searches)
  expect(reading).toBe(30)
})

test('a company holds few for a second after another has asked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const gate = createGate()
  for (const company of [beta, acme]) (await gate.enter({ company })).end()
  await setImmediate()
  let served = 0
  const calls = Array.from({ length: 16 }, async () => {
    await gate.enter({ company: acme })
    served++
  })
  for (let turn = 0; turn < 20; turn++) await setImmediate() // each begins one call
  await vi.advanceTimersByTimeAsync(900)
  expect(served).toBe(Math.min(availableParallelism(), 16))
  await vi.advanceTimersByTimeAsync(200)
  await Promise.all(calls)
  vi.useRealTimers()
})

test('pages wait for no place, and never behind the calls of their company', async () => {
  const gate = createGate()
  const held = await Promise.all(Array.from({ length: 16 }, () => gate.enter({ company: acme })))
  await Promise.all(Array.from({ length: 100 }, () => gate.takeTurn(acme)))
  for (const place of held) place.end()
})

test('what has arrived is not lost when its place is late', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const gate = createGate()
  const place = await gate.enter({ company: acme })
  const body = Promise.withResolvers<string>()
  const read = place.outside(() => body.promise)
  const held = await Promise.all(Array.from({ length: 16 }, () => gate.enter({ company: acme })))
  body.resolve('whole')
  await vi.advanceTimersByTimeAsync(50_000)
  for (const other of held) other.end()
  expect(await read).toBe('whole')
  vi.useRealTimers()
})

test('a call that waits for bytes holds no place, and waits for another when they have come', async () => {
  const gate = createGate()
  const body = Promise.withResolvers<string>()
  const held = await Promise.all(Array.from({ length: 16 }, () => gate.enter({ company: acme })))
  const reading = held.map(place => place.outside(() => body.promise))
  const next = await Promise.all(Array.from({ length: 16 }, () => gate.enter({ company: acme })))
  body.resolve('whole')
  const read = Promise.all(reading)
  expect(await Promise.race([read, setImmediate('still waiting')])).toBe('still waiting')
  for (const place of next) place.end()
  expect(await read).toEqual(Array.from({ length: 16 }, () => 'whole'))
})

test('a body that breaks off leaves a place for what cleans up', async () => {
  const gate = createGate()
  const client = newClient()
  const place = await gate.enter({ company: acme, client })
  const broken = place.outside(async () => {
    Object.assign(client, { destroyed: true }).emit('close')
    throw new Error('broken')
  })
  await expect(broken).rejects.toThrow('broken')
  const others = Array.from({ length: 16 }, () => gate.enter({ company: acme }))
  await Promise.all(others.slice(0, 15))
  expect(await Promise.race([others[15], setImmediate('waits')])).toBe('waits')
  place.end()
  await others[15]
})

test('refuses in each turn of the event loop only a few', async () => {
  const gate = createGate({ perPerson: 1, perAddress: 1, perCompany: 1000 })
  const place = await gate.enter({ company: acme, address: '192.0.2.1' })
  let refused = 0
  const flood = Array.from({ length: 200 }, () =>
    gate.enter({ company: acme, address: '192.0.2.1' }).catch(() => refused++)
  )
  await setImmediate()
  await setImmediate()
  expect(refused).toBeLessThanOrEqual(3 * 16)
  await Promise.all(flood)
  expect(refused).toBe(200)
  place.end()
})

test('beside a flood a company of one call is served at once', async () => {
  const gate = createGate()
  let served = 0
  const flood = Array.from({ length: 900 }, async () => {
    const place = await gate.enter({ company: acme })
    await setImmediate()
    served++
    place.end()
  })
  await setImmediate()
  for (let n = 0; n < 20; n++) {
    const before = served
    const place = await gate.enter({ company: beta })
    await setImmediate()
    place.end()
    expect(served - before).toBeLessThanOrEqual(16 + 2 * availableParallelism())
  }
  await Promise.all(flood)
})

function newClient(destroyed = false) {
  return Object.assign(new EventEmitter(), { destroyed })
}

/** Creates the places to test. `ask` requests some, and `served` lists who got them, in order. */
function openDesk(how = counts, hasOthers: (company: string) => boolean = () => false) {
  const places = new Places(how, hasOthers)
  const served: string[] = []
  const held = new Map<string, (() => void)[]>()
  const take = (who: string, giveBack: () => void) => {
    served.push(who)
    held.set(who, [...(held.get(who) ?? []), giveBack])
  }
  return {
    places,
    served,
    holders: () => [...held].filter(([, all]) => all.length > 0).map(([who]) => who),
    async ask(who: string, times: number) {
      for (let n = 0; n < times; n++) {
        // who still waits when the test ends is refused later
        void places.take(who).then(
          back => take(who, back),
          () => undefined
        )
      }
      await setImmediate()
    },
    async release(who: string) {
      held.get(who)?.shift()?.()
      await setImmediate()
      await setImmediate()
    }
  }
}
