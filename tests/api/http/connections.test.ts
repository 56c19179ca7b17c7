import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { limitConnections } from '../../../src/server/http/connections.ts'
import { createProxyAddressCheck } from '../../../src/server/http/hosts.ts'
import { createRequestQueue } from '../../../src/server/http/pipelining.ts'
import { makeApp } from '../../helpers/app.ts'
import { listenLocally } from '../../helpers/servers/listen.ts'

/** Opens an HTTP server whose connections are limited as the product's are. */
async function openServer(
  listener: http.RequestListener,
  rules: Partial<Parameters<typeof limitConnections>[1]> = {}
) {
  const server = http.createServer(listener)
  const warned: string[] = []
  const connections = limitConnections(
    server,
    { total: 100, perAddress: 100, isShared: () => false, ...rules },
    { warn: (_facts, text) => warned.push(text) }
  )
  const port = await listenLocally(server)
  const sockets: Socket[] = []
  return {
    connections,
    warned,
    async connect(): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1' })
      sockets.push(socket)
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      return socket
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

const ask = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

test('answers 5,000 pipelined calls in order, one at a time, and reads on only for more', async () => {
  const turns = createRequestQueue()
  let atWork = 0
  let most = 0
  let waiting = 0
  let mostWaiting = 0
  const paths: string[] = []
  await using server = await openServer((request, response) => {
    waiting++
    mostWaiting = Math.max(mostWaiting, waiting)
    turns.enqueue(request, response, () => {
      waiting--
      atWork++
      most = Math.max(most, atWork)
      paths.push(request.url ?? '')
      setImmediate(() => {
        atWork--
        response.end('ok')
      })
    })
  })
  const socket = await server.connect()
  const calls = Array.from({ length: 5000 }, (_, n) => ask.replace('/', `/${n}/${'x'.repeat(200)}`))
  let heard = ''
  socket.on('data', chunk => {
    heard += chunk
  })
  socket.write(calls.join(''))
  await expect.poll(() => heard.match(/HTTP\/1.1 200/g)?.length, { timeout: 30_000 }).toBe(5000)
  expect(most).toBe(1)
  expect(paths.map(path => Number(path.split('/')[1]))).toEqual(calls.map((_, n) => n))
  // no more than what one reading brings
  expect(mostWaiting).toBeLessThan(1000)
})

test('a body behind an earlier request arrives whole', async () => {
  const turns = createRequestQueue()
  const isHeld = Promise.withResolvers<void>()
  await using server = await openServer((request, response) => {
    turns.enqueue(request, response, async () => {
      if (request.method === 'GET') await isHeld.promise
      let length = 0
      for await (const chunk of request) length += chunk.length
      response.end(`${length} bytes`)
    })
  })
  const socket = await server.connect()
  let heard = ''
  socket.on('data', chunk => {
    heard += chunk
  })
  const body = 'x'.repeat(1_000_000)
  socket.write(
    `${ask}POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}${ask}`
  )
  isHeld.resolve()
  await expect.poll(() => heard).toContain('1000000 bytes')
  await expect.poll(() => heard.match(/HTTP\/1.1 200/g)?.length).toBe(3)
})

test('a connection that pipelines holds one call of the API under way', async () => {
  await using app = await makeApp({
    callLimits: { perPerson: 1, perAddress: 1, perCompany: 2 }
  })
  const socket = connect(await app.listen(), '127.0.0.1')
  let heard = ''
  socket.on('data', chunk => {
    heard += chunk
  })
  const call = 'GET /acme.localhost HTTP/1.1\r\nhost: api.acme.localhost\r\n\r\n'
  socket.write(call.repeat(300))
  await expect.poll(() => heard.match(/HTTP\/1.1 \d+/g)?.length, { timeout: 30_000 }).toBe(300)
  expect(new Set(heard.match(/HTTP\/1.1 \d+/g))).toEqual(new Set(['HTTP/1.1 200']))
  socket.destroy()
})

test('ends a connection whose reader has stopped, and none whose reader or answer is slow', async () => {
  const piece = Buffer.alloc(64 * 1024)
  const large = Buffer.alloc(64 * 1024 * 1024)
  const isOver = Promise.withResolvers<void>()
  await using server = await openServer(
    async (request, response) => {
      response.writeHead(200)
      if (request.url === '/large') response.end(large)
      else if (request.url === '/made') {
        response.write('begun')
        await isOver.promise
        response.end('made')
      } else {
        response.once('close', isOver.resolve)
        response.on('drain', () => response.write(piece)).write(piece)
      }
    },
    // a busy machine may keep a process waiting for a second
    { stallMs: 2000 }
  )
  const [stopped, slow, made] = [
    await server.connect(),
    await server.connect(),
    await server.connect()
  ]
  let heard = ''
  made.on('data', chunk => {
    heard += chunk
  })
  made.write(ask.replace('/', '/made'))
  stopped.pause()
  stopped.write(ask)
  slow.write(ask.replace('/', '/large'))
  // some of one large piece at a time, for longer than a reader may stop
  let taken = 0
  slow.on('data', chunk => {
    taken += chunk.length
    slow.pause()
    setTimeout(() => slow.resume(), 3)
  })
  await isOver.promise
  await expect.poll(() => heard).toContain('made')
  await expect.poll(() => taken, { timeout: 100_000 }).toBeGreaterThan(large.length)
})

test('holds so many connections of one network, and of a proxy as many as there are', async () => {
  const serve: http.RequestListener = (_request, response) => response.end('ok')
  await using counted = await openServer(serve, { perAddress: 2 })
  const first = await counted.connect()
  await counted.connect()
  const third = await counted.connect()
  await once(third.resume(), 'close')
  expect(counted.warned).toEqual(['connections were turned away'])
  expect(counted.connections.hasRoom()).toBe(true)
  first.destroy()
  await expect.poll(() => served(counted)).toBe(true)

  await using shared = await openServer(serve, { perAddress: 1, isShared: () => true })
  for (let n = 0; n < 3; n++) expect(await served(shared)).toBe(true)
})

test('says when connections run out, and warns of it once', async () => {
  await using server = await openServer((_request, response) => response.end('ok'), { total: 2 })
  expect(server.connections.hasRoom()).toBe(true)
  const held = [await server.connect(), await server.connect()]
  await expect.poll(() => server.connections.hasRoom()).toBe(false)
  for (let n = 0; n < 3; n++) await once((await server.connect()).resume(), 'close')
  expect(server.warned).toHaveLength(1)
  for (const socket of held) socket.destroy()
})

test('knows the peers through which many people come', () => {
  const isShared = createProxyAddressCheck(['10.0.0.0/8', '2001:db8::/32'])
  const shared = ['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1', '10.1.2.3', '2001:db8::5']
  expect(shared.filter(isShared)).toEqual(shared)
  expect(['192.0.2.1', '::ffff:192.0.2.1', '2001:db9::1', ''].filter(isShared)).toEqual([])
})

/** Returns whether the server answers a request on a new connection. */
async function served(server: Awaited<ReturnType<typeof openServer>>): Promise<boolean> {
  const socket = await server.connect()
  socket.write(ask)
  const answer = await Promise.race([
    once(socket, 'data').then(() => true),
    once(socket, 'close').then(() => false)
  ])
  return answer
}
