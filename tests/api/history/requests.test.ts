import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listRequests, ProcessedRequest } from '../../../src/contract/requests.ts'
import { logOut } from '../../../src/contract/sessions.ts'
import { createApp } from '../../../src/server/app.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { type OpenStream, openStream } from '../../helpers/event-stream.ts'

let app: TestApp
let port: number
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp()
  port = await app.listen()
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

const document = Buffer.from('vidimus')

test('starts with a tick, after which a list misses nothing', async () => {
  const eve = await app.signUp()
  let busy = true
  const writing = (async () => {
    while (busy) await app.deposit(eve, document)
  })()
  for (let round = 0; round < 10; round++) {
    const stream = await openStream(port, eve)
    const tick = await stream.next()
    expect(tick).toMatchObject({ event: 'tick', id: expect.stringMatching(/^\d+$/) })
    const seen = new Map<string, ProcessedRequest>()
    const note = (request: ProcessedRequest) => {
      if ((seen.get(request.id)?.seq ?? 0) < request.seq) seen.set(request.id, request)
    }
    for (const request of await eve.call(listRequests, { limit: 200 })) note(request)
    if (round === 9) {
      busy = false
      await writing
    }
    const truth = await eve.call(listRequests, { limit: 200 })
    const newest = Math.max(0, ...truth.map(request => request.seq))
    while (Math.max(0, ...[...seen.values()].map(({ seq }) => seq)) < newest) {
      const event = await stream.next()
      if (event?.event === undefined) note(ProcessedRequest.parse(JSON.parse(event?.data ?? '')))
    }
    for (const request of truth) {
      expect(seen.get(request.id)?.seq).toBeGreaterThanOrEqual(request.seq)
    }
    stream.close()
  }
})

test('sends what a person missed since their last event, and nothing of it twice', async () => {
  const eve = await app.signUp()
  const done = await app.deposit(eve, document)
  const first = await openStream(port, eve, done.seq - 3)
  const events = [await first.next(), await first.next(), await first.next(), await first.next()]
  expect(events.map(event => [event?.event, Number(event?.id)])).toEqual([
    ['tick', done.seq - 3],
    [undefined, done.seq - 2],
    [undefined, done.seq - 1],
    [undefined, done.seq]
  ])
  expect(JSON.parse(events[3]?.data ?? '')).toEqual(done)
  first.close()
})

test('asks for a reload where the last event is ahead of it or no longer kept', async () => {
  await using own = await makeApp()
  const at = await own.listen()
  const eve = await own.signUp()
  const { seq } = await own.deposit(eve, document)
  const following = async (lastEventId: number) => {
    const stream = await openStream(at, eve, lastEventId)
    const first = await stream.next()
    stream.close()
    return [first?.event, Number(first?.id)]
  }
  expect(await following(seq + 1)).toEqual(['reset', seq])
  expect(await following(999_999_999_999)).toEqual(['reset', seq])
  expect(await following(0)).toEqual(['tick', 0])
  await own.owner.query('delete from event where seq <= 2')
  expect(await following(1)).toEqual(['reset', seq])
  expect(await following(2)).toEqual(['tick', 2])
})

test('refuses a last event that is no sequence', async () => {
  const response = await app.fetch(
    new Request('http://api.acme.localhost/process/sse', {
      headers: { authorization: `Bearer ${ada.token}`, 'last-event-id': '7; drop' }
    })
  )
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ code: 'invalid_input' })
})

test('ends the streams of a session that signs out, and no others', async () => {
  const eve = await app.signUp()
  const token = await app.signIn(eve)
  const elsewhere = await openStream(port, { ...eve, token })
  const here = await openStream(port, eve)
  await Promise.all([here.next(), elsewhere.next()])
  await eve.call(logOut, {})
  expect(await here.ended()).toBeLessThan(5000)
  expect(here.events.at(-1)?.event).toBe('bye')
  expect((await openStream(port, eve)).status).toBe(401)

  const { request } = await app.reserve(withToken(eve, token), document)
  expect(JSON.parse((await elsewhere.next())?.data ?? '')).toEqual(request)
  elsewhere.close()
})

test('ends with the token it was opened with', async () => {
  await using own = await makeApp()
  const at = await own.listen()
  const eve = await own.signUp()
  const stream = await openStream(at, eve)
  await stream.next()
  own.wait(61 * 60)
  await own.reserve(withToken(eve, await own.signIn(eve)), document)
  await stream.ended()
  expect(stream.events.at(-1)?.event).toBe('bye')
})

test('tells a disabled person so and ends', async () => {
  const eve = await app.signUp()
  const stream = await openStream(port, eve)
  await stream.next()
  const { rows } = await app.owner.query(
    `update "user" set disabled = '{"reason": "test", "since": "2026-01-01T00:00:00.000Z"}'
      where id = $1 returning company_id`,
    [eve.id]
  )
  app.deps.signals.sessions.send({ company: rows[0].company_id, user: eve.id })
  expect(await stream.ended()).toBeLessThan(5000)
  expect(stream.events.at(-1)?.event).toBe('disabled')
})

test('holds five streams of a person, refuses the sixth, and gives a seat back', async () => {
  const eve = await app.signUp()
  const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(port, eve)))
  await Promise.all(streams.map(stream => stream.next()))
  const sixth = await openStream(port, eve)
  expect(sixth.status).toBe(429)
  expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(0)
  expect(await sixth.refusal()).toMatchObject({ code: 'stream_limit_reached' })
  const bob = await openStream(port, await app.signUp())
  expect(bob.status).toBe(200)
  bob.close()
  streams[0]?.close()
  streams[0] = await seatedStream(eve)
  for (const stream of streams) stream.close()
})

test('keeps no seat for people who left before the first event', async () => {
  const eve = await app.signUp()
  for (let n = 0; n < 40; n++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `GET /process/sse HTTP/1.1\r\nHost: api.${eve.host}\r\nAuthorization: Bearer ${eve.token}\r\n\r\n`
    )
    await sleep(n % 8)
    socket.resetAndDestroy()
  }
  const streams: OpenStream[] = []
  for (let n = 0; n < 5; n++) streams.push(await seatedStream(eve))
  for (const stream of streams) stream.close()
})

test('says goodbye when the service stops', async () => {
  const stopping = new AbortController()
  const api = createApp({ ...app.deps, stopping: stopping.signal }, app.tenants)
  const response = await api.fetch(
    new Request(`http://api.${ada.host}/process/sse`, {
      headers: { authorization: `Bearer ${ada.token}` }
    })
  )
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no'
  })
  const text = response.text()
  stopping.abort()
  const names = (await text).split('\n\n').map(event => event.split('\n')[0])
  // events `sealed` come at any time
  expect(names.filter(name => name !== 'event: sealed')).toEqual(['event: tick', 'event: bye', ''])
})

function withToken(person: TestPerson, token: string): TestPerson {
  return {
    ...person,
    token,
    call: (endpoint, input, options) => person.call(endpoint, input, { token, ...options })
  }
}

/**
 * Opens an event stream. Tries again while the person has too many, because the service needs a
 * moment to notice that one has ended.
 */
async function seatedStream(person: TestPerson): Promise<OpenStream> {
  for (let tries = 0; tries < 1000; tries++) {
    const stream = await openStream(port, person)
    if (stream.status === 200) return stream
    await sleep(50)
  }
  throw new Error('the seat was not given back')
}
