import { expect, test } from 'vitest'
import { isTransient } from '../../../../src/stores/retries.ts'
import type { UploadRequest, UploadResponse } from '../../../../src/stores/uploads/http-upload.ts'
import { createTusClient } from '../../../../src/stores/uploads/tus-client.ts'

const url = 'http://api.acme.test/uploads/1'
const chunk = 8 * 1024 * 1024

test('sends a file in pieces of eight MiB and ends with the server holding all', async () => {
  const server = makeServer(2 * chunk + 5)
  const told: number[] = []
  await server.uploads.send(url, server.file, { onProgress: bytes => told.push(bytes) })
  expect(await server.isWhole()).toBe(true)
  expect(server.calls).toEqual(['HEAD', 'PATCH 0', `PATCH ${chunk}`, `PATCH ${2 * chunk}`])
  expect(told.at(-1)).toBe(server.file.size)
})

test('goes on from what the server holds after a cut in the middle of a piece', async () => {
  const server = makeServer(chunk + 100)
  server.cutAfter = 1234
  await expect(server.uploads.send(url, server.file)).rejects.toMatchObject({ code: 'offline' })
  await server.uploads.send(url, server.file)
  expect(await server.isWhole()).toBe(true)
  expect(server.calls).toEqual(['HEAD', 'PATCH 0', 'HEAD', 'PATCH 1234'])
})

test('takes the promise from the full length when the answer to the last byte was lost', async () => {
  const server = makeServer(10)
  server.loseAnswers = 1
  await expect(server.uploads.send(url, server.file)).rejects.toMatchObject({ code: 'offline' })
  await server.uploads.send(url, server.file)
  expect(server.calls).toEqual(['HEAD', 'PATCH 0', 'HEAD'])
})

test('is content when the server has promised already', async () => {
  const server = makeServer(10)
  await server.uploads.send(url, server.file)
  server.closed = true
  await server.uploads.send(url, server.file)
  expect(server.calls.at(-1)).toBe('HEAD')
})

test('carries the token of the moment with every request', async () => {
  const server = makeServer(chunk + 1)
  await server.uploads.send(url, server.file)
  expect(server.tokens).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 3'])
})

test.each([
  [401, 'unauthenticated'],
  [404, 'not_found'],
  [410, 'lapsed'],
  [503, 'unavailable'],
  [502, 'unexpected_answer']
])('reads the code of a bodiless %d', async (status, code) => {
  const server = makeServer(10)
  server.refusal = { method: 'HEAD', status, body: '' }
  await expect(server.uploads.send(url, server.file)).rejects.toMatchObject({ code })
})

test('reads the code of a refused piece from its problem', async () => {
  const server = makeServer(10)
  server.refusal = { method: 'PATCH', status: 409, body: '{"code":"upload_offset"}' }
  await expect(server.uploads.send(url, server.file)).rejects.toMatchObject({
    code: 'upload_offset'
  })
})

test('reports every error with which the server answers', async () => {
  const server = makeServer(10)
  server.refusal = { method: 'PATCH', status: 401, body: '{"code":"unauthenticated"}' }
  await expect(server.uploads.send(url, server.file)).rejects.toThrow()
  server.refusal = { method: 'HEAD', status: 401, body: '' }
  await expect(server.uploads.getOffset(url)).rejects.toThrow()
  expect(server.problems).toEqual(['unauthenticated', 'unauthenticated'])
})

test.each([
  ['HEAD', ''],
  ['PATCH', '{"code":"unauthenticated"}']
])('may send again after a %s whose token was renewed meanwhile', async (method, body) => {
  const server = makeServer(10)
  server.isRenewed = true
  server.refusal = { method, status: 401, body }
  const error = await server.uploads.send(url, server.file).catch(thrown => thrown)
  expect(isTransient(error)).toBe(true)
  // the session is told of the refused token, which is not its own any more
  expect(server.problems).toEqual(['unauthenticated'])
  server.refusal = undefined
  await server.uploads.send(url, server.file)
  expect(await server.isWhole()).toBe(true)
})

test.each([
  ['HEAD', ''],
  ['PATCH', '{"code":"rate_limited"}']
])('hands on how long a refused %s asks to wait', async (method, body) => {
  const server = makeServer(10)
  server.refusal = { method, status: 429, body, headers: { 'retry-after': '7' } }
  await expect(server.uploads.send(url, server.file)).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfter: 7
  })
})

test('tells a file that is gone from a connection that is cut', async () => {
  const server = makeServer(10)
  server.cutAfter = 0
  const slice = server.file.slice.bind(server.file)
  server.file.slice = (start, end) => {
    const piece = slice(start, end)
    if (end === 1) piece.arrayBuffer = () => Promise.reject(new Error('NotReadableError'))
    return piece
  }
  await expect(server.uploads.send(url, server.file)).rejects.toMatchObject({
    code: 'file_unreadable'
  })
})

test('stops at once when it is told to', async () => {
  const server = makeServer(10)
  const stop = new AbortController()
  stop.abort()
  const sent = server.uploads.send(url, server.file, { signal: stop.signal })
  await expect(sent).rejects.toThrow('terminated')
  expect(server.calls).toEqual([])
})

test('cancels an upload, and says why it could not', async () => {
  const server = makeServer(10)
  await server.uploads.cancel(url)
  expect(server.calls).toEqual(['DELETE'])
  server.refusal = { method: 'DELETE', status: 409, body: '{"code":"upload_state"}' }
  await expect(server.uploads.cancel(url)).rejects.toMatchObject({ code: 'upload_state' })
})

/** Creates a tus server in memory whose connection can fail in several ways. */
function makeServer(size: number) {
  let token = 0
  let isOver = false
  const server = {
    file: new Blob([new Uint8Array(size).map((_, index) => index % 251)]),
    held: Buffer.alloc(0),
    calls: [] as string[],
    tokens: [] as (string | undefined)[],
    /** Number of bytes of the next piece that arrive before the connection breaks. */
    cutAfter: undefined as number | undefined,
    /** Number of following answers that get lost. */
    loseAnswers: 0,
    /** Whether the server has promised the deposit. It then accepts no further piece. */
    closed: false,
    refusal: undefined as
      | { method: string; status: number; body: string; headers?: Record<string, string> }
      | undefined,
    /** Whether the session has a newer token when one is refused. Else it ends. */
    isRenewed: false,
    isWhole: async () => server.held.equals(await bytesOf(server.file)),
    problems: [] as string[],
    uploads: createTusClient({
      http: answer,
      token: () => (isOver ? undefined : `${++token}`),
      onProblem({ code, status }) {
        server.problems.push(code)
        isOver = status === 401 && !server.isRenewed
      }
    })
  }

  async function answer({
    method,
    headers,
    body,
    onProgress
  }: UploadRequest): Promise<UploadResponse> {
    server.calls.push(method === 'PATCH' ? `PATCH ${headers['Upload-Offset']}` : method)
    server.tokens.push(headers['Authorization'])
    const { refusal } = server
    if (refusal?.method === method) {
      return reply(refusal.status, refusal.headers ?? {}, refusal.body)
    }
    if (method === 'PATCH') {
      if (server.closed) return reply(409, {}, '{"code":"upload_state"}')
      const bytes = body instanceof Blob ? await bytesOf(body) : new Uint8Array(0)
      const arrived = bytes.slice(0, server.cutAfter ?? bytes.length)
      server.held = Buffer.concat([server.held, arrived])
      onProgress?.(arrived.length, bytes.length)
      if (server.cutAfter !== undefined || server.loseAnswers > 0) {
        server.cutAfter = undefined
        server.loseAnswers = 0
        throw new Error('cut')
      }
    }
    const offset = String(server.held.length)
    return reply(method === 'HEAD' ? 200 : 204, {
      'upload-offset': offset,
      'upload-length': String(server.file.size)
    })
  }
  return server
}

function reply(status: number, headers: Record<string, string>, body = ''): UploadResponse {
  return { status, header: name => headers[name.toLowerCase()], body }
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer())
}
