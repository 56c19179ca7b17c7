import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openEventStream } from '../../../../src/stores/history/event-stream.ts'
import { makeBrowser } from '../../../helpers/browser.ts'
import { listenLocally } from '../../../helpers/servers/listen.ts'

test('asks for the list at the first tick, and then hears each event', async () => {
  const { told, connections } = await follow()
  const first = await connections(1)
  expect(first.headers).toMatchObject({
    authorization: 'Bearer token-1',
    accept: 'text/event-stream'
  })
  expect(first.headers['last-event-id']).toBeUndefined()
  first.send('event: tick\nid: 7\ndata: {"seq":7}\n\n')
  await vi.waitFor(() => expect(told.reloads).toBe(1))
  first.send('id: 8\ndata: {"name":"caf')
  first.send(Buffer.from('c3', 'hex'))
  first.send(Buffer.from('a922', 'hex'))
  first.send('}\n\nevent: tick\nid: 8\ndata: {"seq":8}\n\n')
  await vi.waitFor(() => expect(told.messages).toEqual(['{"name":"café"}']))
  expect(told).toMatchObject({ reloads: 1, errors: [], states: ['connecting', 'live'] })
  expect(told.seen).toEqual(['undefined 7', '7 8', '8 8'])
})

test('resumes after the last event with the token of that moment', async () => {
  const { told, connections, browser, setToken } = await follow()
  const first = await connections(1)
  first.send('event: tick\nid: 7\ndata: {}\n\nid: 9\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.messages).toHaveLength(1))
  setToken('token-2')
  first.cut()
  await vi.waitFor(() => expect(told.errors).toEqual(['offline']))
  expect(told.states.at(-1)).toBe('offline')
  browser.advance(1000)
  const second = await connections(2)
  expect(second.headers).toMatchObject({
    authorization: 'Bearer token-2',
    'last-event-id': '9'
  })
  second.send('event: tick\nid: 9\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  expect(told.reloads).toBe(1)
})

test('waits 1 s, doubling to 30 s, and starts over once it has heard something', async () => {
  const { told, connections, browser } = await follow({ status: 503 })
  const waits = [1, 2, 4, 8, 16, 30, 30]
  for (const [index, seconds] of waits.entries()) {
    await vi.waitFor(() => expect(told.errors).toHaveLength(index + 1))
    await vi.waitFor(() => expect(browser.timers.size).toBe(1))
    browser.advance(seconds * 1000 - 1)
    expect([...browser.timers]).toHaveLength(1)
    if (index === waits.length - 1) connections.answerWith(200)
    browser.advance(1)
    await connections(index + 2)
  }
  expect(told.errors).toEqual(waits.map(() => 'unavailable'))
  const last = await connections(waits.length + 1)
  last.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  last.cut()
  await vi.waitFor(() => expect(told.errors).toHaveLength(waits.length + 1))
  browser.advance(1000)
  await connections(waits.length + 2)
})

test.for([400, 401, 403, 404, 500])('tells of a status of %d, and closes', async status => {
  const { told, connections, browser } = await follow({ status })
  await vi.waitFor(() => expect(told.states).toEqual(['connecting', 'unreachable']))
  expect(told.errors).toHaveLength(1)
  await (await connections(1)).closed
  browser.advance(999)
  expect(connections.count()).toBe(1)
})

test('tells of a connection that the browser aborts, and closes', async () => {
  const abort = () => Promise.reject(new DOMException('The user aborted a request.', 'AbortError'))
  const { told, connections } = await follow({ fetch: abort })
  await vi.waitFor(() => expect(told.states).toEqual(['connecting', 'offline']))
  expect(told.errors).toEqual(['offline'])
  expect(connections.count()).toBe(0)
})

test('tells of a stream that cannot be read, and closes it', async () => {
  const { told, connections } = await follow()
  const first = await connections(1)
  first.send('data: '.padEnd(1_200_000, 'x'))
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('offline'))
  expect(told.errors).toEqual(['offline'])
  await first.closed
})

test('spreads what comes back by up to a quarter', async () => {
  const { told, connections, browser } = await follow({ status: 503, random: 1 })
  await vi.waitFor(() => expect(told.errors).toHaveLength(1))
  browser.advance(1249)
  expect(connections.count()).toBe(1)
  browser.advance(1)
  await connections(2)
})

test('loads the list every 30 s where one more stream is refused', async () => {
  const { told, connections, browser } = await follow({ status: 429 })
  await vi.waitFor(() => expect(told.states).toEqual(['connecting', 'polling']))
  expect(told).toMatchObject({ reloads: 1, errors: ['stream_limit_reached'] })
  browser.advance(30_000)
  await vi.waitFor(() => expect(told.reloads).toBe(2))
  connections.answerWith(200)
  browser.advance(30_000)
  const third = await connections(3)
  third.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  expect(told.reloads).toBe(3)
})

test('loads the list again when its place is no longer kept', async () => {
  const { told, connections } = await follow()
  const first = await connections(1)
  first.send('event: tick\nid: 1\ndata: {}\n\nevent: reset\nid: 90\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.reloads).toBe(2))
})

test('comes back without an error after a farewell', async () => {
  const { told, connections, browser } = await follow()
  const first = await connections(1)
  first.send('event: tick\nid: 4\ndata: {}\n\nevent: bye\ndata: {}\n\n')
  first.end()
  await vi.waitFor(() => expect(told.states).toEqual(['connecting', 'live', 'connecting']))
  browser.advance(1000)
  const second = await connections(2)
  expect(second.headers['last-event-id']).toBe('4')
  expect(told.errors).toEqual([])
})

test('says that the account was disabled', async () => {
  const { told, connections } = await follow()
  const first = await connections(1)
  first.send('event: disabled\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.errors).toEqual(['account_disabled']))
})

test('gives up a connection that has been silent for 45 s', async () => {
  const { told, connections, browser } = await follow()
  const first = await connections(1)
  first.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  browser.advance(30_000)
  first.send('event: tick\nid: 2\ndata: {}\n\nid: 3\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.messages).toHaveLength(1))
  browser.advance(44_000)
  expect(connections.count()).toBe(1)
  browser.advance(1000)
  const second = await connections(2)
  expect(second.headers['last-event-id']).toBe('3')
  expect(told.errors).toEqual(['offline'])
  await first.closed
})

test('connects at once when the person comes back', async () => {
  const { told, connections, wake } = await follow({ status: 503 })
  await vi.waitFor(() => expect(told.states).toEqual(['connecting', 'unreachable']))
  connections.answerWith(200)
  wake()
  const second = await connections(2)
  second.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  wake()
  expect(connections.count()).toBe(2)
})

test('is offline as soon as the device is, and comes back with it', async () => {
  const { told, connections, wake, loseNetwork } = await follow()
  const first = await connections(1)
  first.send('event: tick\nid: 6\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  loseNetwork()
  expect(told).toMatchObject({ errors: ['offline'], states: ['connecting', 'live', 'offline'] })
  await first.closed
  wake()
  const second = await connections(2)
  expect(second.headers['last-event-id']).toBe('6')
  second.send('event: tick\nid: 6\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  expect(told.errors).toHaveLength(1)
})

test('ends for good when it is closed', async () => {
  const { told, connections, browser, close, wake } = await follow()
  const first = await connections(1)
  first.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(told.states.at(-1)).toBe('live'))
  close()
  await first.closed
  browser.advance(120_000)
  wake()
  expect(connections.count()).toBe(1)
  expect(told.errors).toEqual([])
})

/** Opens an event stream to a real HTTP server whose answers the test writes by hand. */
async function follow({ status = 200, random = 0, fetch = globalThis.fetch } = {}) {
  const accepted: Connection[] = []
  let answer = status
  const server = createServer((request, response) => {
    accepted.push(accept(request, response, answer))
  })
  const port = await listenLocally(server)

  const browser = makeBrowser()
  const tab = browser.openTab('http://localhost/', () => new Response())
  const told = {
    seen: [] as string[],
    states: [] as string[],
    messages: [] as string[],
    errors: [] as string[],
    reloads: 0
  }
  let token = 'token-1'
  const close = openEventStream({
    url: `http://127.0.0.1:${port}/process/sse`,
    environment: { ...tab.environment, fetch, random: () => random },
    after: undefined,
    onSeen: ({ before, at }) => told.seen.push(`${before} ${at}`),
    token: () => token,
    onState: state => {
      if (told.states.at(-1) !== state) told.states.push(state)
    },
    onMessage: data => told.messages.push(data),
    onSealed: () => undefined,
    onReload: () => {
      told.reloads += 1
    },
    onError: error => told.errors.push(error.code)
  })
  onTestFinished(async () => {
    close()
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  })

  async function connections(n: number): Promise<Connection> {
    return vi.waitFor(() => {
      const connection = accepted[n - 1]
      if (!connection) throw new Error(`${accepted.length} of ${n} connections`)
      return connection
    })
  }
  connections.count = () => accepted.length
  connections.answerWith = (status: number) => {
    answer = status
  }
  const setToken = (next: string) => {
    token = next
  }
  return { told, connections, browser, close, setToken, ...tab }
}

interface Connection {
  headers: IncomingMessage['headers']
  send(text: string | Buffer): void
  /** Ends the answer without an error. */
  end(): void
  /** Drops the connection in the middle. */
  cut(): void
  closed: Promise<void>
}

const refusals: Record<number, string> = { 429: 'stream_limit_reached', 503: 'unavailable' }

function accept(request: IncomingMessage, response: ServerResponse, status: number): Connection {
  const closed = new Promise<void>(done => response.once('close', done))
  if (status === 200) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
  } else {
    response.writeHead(status, { 'content-type': 'application/problem+json' })
    response.end(JSON.stringify({ status, code: refusals[status] }))
  }
  return {
    headers: request.headers,
    send: text => void response.write(text),
    end: () => void response.end(),
    cut: () => void response.socket?.destroy(),
    closed
  }
}
