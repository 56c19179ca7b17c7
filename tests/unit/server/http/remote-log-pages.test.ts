import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { createGate } from '../../../../src/server/http/gate.ts'
import { createRemoteLogPages } from '../../../../src/server/http/remote-log-pages.ts'
import { listenLocally } from '../../../helpers/servers/listen.ts'
import { freePort } from '../../../helpers/service.ts'

const host = 'docs.acme.test'

/** A site before this API. Its answers are those of the API, or the status of the error. */
async function startSite(apiPort: number, { answerMs = 30_000 } = {}) {
  const pages = createRemoteLogPages({
    apiUrl: `http://127.0.0.1:${apiPort}`,
    resolve: async asked => (asked === host ? { company_id: 'acme' } : undefined),
    gate: createGate(),
    addressOf: () => '192.0.2.7',
    answerMs
  })
  const server = createServer((incoming, outgoing) => {
    pages.answer(incoming, outgoing, incoming.headers.host ?? '').catch((error: unknown) => {
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(error instanceof AppError ? error.status : 500).end()
    })
  })
  const port = await listenLocally(server)
  return {
    port,
    async get(path: string, headers = {}, method = 'GET'): Promise<IncomingMessage> {
      const all = { host, ...headers }
      const asked = request({ host: '127.0.0.1', port, path, method, headers: all }).end()
      const [answer] = await once(asked, 'response')
      return answer
    },
    [Symbol.asyncDispose]: () => stop(server)
  }
}

async function startApi(answer: RequestListener) {
  const server = createServer(answer)
  return { port: await listenLocally(server), [Symbol.asyncDispose]: () => stop(server) }
}

async function stop(server: ReturnType<typeof createServer>): Promise<void> {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of answer) text += piece
  return text
}

test('asks for the same host and path, says whose address it is, and nothing else of the visitor', async () => {
  await using api = await startApi(({ method, url, headers }, response) => {
    response.writeHead(404, { 'cache-control': 'no-store', 'x-of-api': 'kept' })
    response.end(JSON.stringify({ method, url, headers }))
  })
  await using site = await startSite(api.port)
  const answer = await site.get(
    '/logs/%2e%2e//x?y',
    { cookie: 'a=b', authorization: 'Bearer x', 'x-forwarded-for': 'evil', 'site-secret': 'x' },
    'POST'
  )
  expect(answer.statusCode).toBe(404)
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'x-of-api': 'kept' })
  const { headers, ...asked } = JSON.parse(await textOf(answer))
  expect(asked).toEqual({ method: 'POST', url: '/logs/%2e%2e//x?y' })
  expect({ ...headers, connection: '' }).toEqual({
    host,
    'x-forwarded-for': '192.0.2.7',
    'content-length': '0',
    connection: ''
  })
})

test('passes on what has arrived while the rest is still to come', async () => {
  const rest = Promise.withResolvers<void>()
  await using api = await startApi(async (_request, response) => {
    response.write('first')
    await rest.promise
    response.end(' second')
  })
  await using site = await startSite(api.port)
  const answer = await site.get('/log/checkpoint')
  const [first] = await once(answer, 'data')
  expect(String(first)).toBe('first')
  rest.resolve()
  expect(await textOf(answer)).toBe(' second')
})

test('an API that is down, or that does not answer in time, gives 503', async () => {
  await using nobody = await startSite(await freePort())
  expect((await nobody.get('/log/checkpoint')).statusCode).toBe(503)
  await using api = await startApi(() => undefined)
  await using site = await startSite(api.port, { answerMs: 100 })
  expect((await site.get('/log/checkpoint')).statusCode).toBe(503)
})

test('an answer that ends too early is not passed on as a whole one', async () => {
  await using api = await startApi((_request, response) => {
    response.writeHead(200, { 'content-length': 10 })
    response.write('first', () => response.destroy())
  })
  await using site = await startSite(api.port)
  await expect(textOf(await site.get('/log/checkpoint'))).rejects.toThrow('aborted')
})

test('a host of nobody is not asked for', async () => {
  await using api = await startApi((_request, response) => void response.end())
  await using site = await startSite(api.port)
  expect((await site.get('/log/checkpoint', { host: 'evil.test' })).statusCode).toBe(421)
})

test('a visitor who leaves ends the request', async () => {
  const asked = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  await using api = await startApi((request, response) => {
    response.once('close', () => ended.resolve())
    request.resume()
    asked.resolve()
  })
  await using site = await startSite(api.port)
  const socket = connect(site.port, '127.0.0.1')
  socket.write(`GET /log/checkpoint HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
  await asked.promise
  socket.destroy()
  await ended.promise
})
