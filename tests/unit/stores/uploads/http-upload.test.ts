// @vitest-environment happy-dom
// @vitest-environment-options { "url": "http://127.0.0.1/" }
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { sendUploadRequest } from '../../../../src/stores/uploads/http-upload.ts'

interface Received {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: Buffer
}

let server: Server
let origin = ''
let received: Received[] = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }
    if (request.method === 'OPTIONS') {
      const methods = { 'access-control-allow-methods': '*', 'access-control-allow-headers': '*' }
      response.writeHead(204, { ...open, ...methods }).end()
      return
    }
    const { method, url, headers } = request
    received.push({ method, url, headers, body: Buffer.concat(await Array.fromAsync(request)) })
    if (url === '/cut') request.socket.destroy()
    else if (url !== '/silent') {
      response.writeHead(409, { ...open, 'upload-offset': '5' }).end('{"error":{}}')
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  received = []
})

test('sends method, address, headers and body, and hands back status, headers and body', async () => {
  const answer = await sendUploadRequest({
    method: 'PATCH',
    uri: `${origin}/files/1?a=b`,
    headers: { 'upload-offset': '0', authorization: 'Bearer token' },
    body: new Blob(['octets'])
  })
  expect(received).toMatchObject([
    {
      method: 'PATCH',
      url: '/files/1?a=b',
      headers: { 'upload-offset': '0', authorization: 'Bearer token' }
    }
  ])
  expect(received[0]?.body.toString()).toBe('octets')
  expect(answer.status).toBe(409)
  expect(answer.header('Upload-Offset')).toBe('5')
  expect(answer.header('location')).toBeUndefined()
  expect(answer.body).toBe('{"error":{}}')
})

test('tells how many bytes of the body have been sent', async () => {
  const { send } = XMLHttpRequest.prototype
  // happy-dom tells no progress of a body
  const sent = vi.spyOn(XMLHttpRequest.prototype, 'send').mockImplementation(function (
    this: XMLHttpRequest,
    body
  ) {
    for (const loaded of [2, 6]) {
      this.upload.dispatchEvent(new ProgressEvent('progress', { loaded, total: 6 }))
    }
    send.call(this, body)
  })
  const onProgress = vi.fn()
  const uri = `${origin}/files/1`
  const body = new Blob(['octets'])
  await sendUploadRequest({ method: 'PATCH', uri, headers: {}, body, onProgress })
  sent.mockRestore()
  expect(onProgress.mock.calls).toEqual([
    [2, 6],
    [6, 6]
  ])
})

test('fails where no answer comes', async () => {
  const cut = sendUploadRequest({ method: 'POST', uri: `${origin}/cut`, headers: {} })
  await expect(cut).rejects.toThrow('POST got no answer')
})

test('fails at once where it is stopped, before or during', async () => {
  const stop = new AbortController()
  const upload = { method: 'POST', uri: `${origin}/silent`, headers: {}, signal: stop.signal }
  const silent = sendUploadRequest(upload)
  await expect.poll(() => received.length).toBe(1)
  stop.abort()
  await expect(silent).rejects.toThrow('POST was cut')
  await expect(sendUploadRequest(upload)).rejects.toThrow('POST was cut')
})
