import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { commonApiHeaders } from '../../../src/core/http-headers/csp.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'

let app: TestApp
beforeAll(async () => {
  app = await makeApp({ headMs: 200 })
})
afterAll(() => app[Symbol.asyncDispose]())

const long = 'x'.repeat(20_000)

describe('what is refused before it is a request', () => {
  test.each([
    ['api.acme.localhost', 400, 'malformed_request', 'a: b\r\nno colon'],
    ['api.acme.localhost', 431, 'headers_too_large', `a: ${long}`],
    ['acme.localhost', 400, undefined, 'no colon'],
    ['acme.localhost', 431, undefined, `a: ${long}`]
  ])('at %s a %i has the headers of all answers', async (host, status, code, header) => {
    const answer = await send(`GET /user HTTP/1.1\r\nHost: ${host}\r\n${header}\r\n\r\n`)
    expectRefusal(answer, status, code)
  })

  test('a head that comes too slowly has them too', async () => {
    expectRefusal(await send('GET /user HTTP/1.1\r\nHost: api.acme'), 408, undefined)
  })

  test.each([
    ['unknown.example', 421],
    ['api.unknown.example', 421],
    ['two words', 400]
  ])('the host %s is refused with them', async (host, status) => {
    const answer = await app.request(host, { path: '/user' })
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject(commonApiHeaders)
  })

  test('says so within an answer that has begun by its end alone', async () => {
    const answer = await send(
      'GET /healthz HTTP/1.1\r\nHost: api.acme.localhost\r\n\r\nno request\r\n\r\n'
    )
    expect(answer.match(/HTTP\/1\.1 \d+/g)?.length).toBeLessThanOrEqual(2)
  })
})

describe('a path that reads differently to a proxy', () => {
  const token = () => app.signUp().then(person => ({ authorization: `Bearer ${person.token}` }))

  test.each([
    '/x/%2e%2e/user',
    '/x/../user',
    '/./user',
    '/%75ser',
    '/user%2f',
    '//user',
    '/user\\',
    '/x/%2E%2E/uploads/AAAAAAAAAAAAAAAAAAAAAA',
    '/%75ploads/AAAAAAAAAAAAAAAAAAAAAA'
  ])('%s is no path of the API', async path => {
    const answer = await app.request('api.acme.localhost', { path, headers: await token() })
    expect(answer.status).toBe(404)
    expect(answer.headers).toMatchObject({
      ...commonApiHeaders,
      'content-type': 'application/problem+json'
    })
    expect(JSON.parse(answer.body.toString()).code).toBe('not_found')
  })

  test('the same in a query is nobody’s path', async () => {
    const answer = await app.request('api.acme.localhost', {
      path: '/process?q=%2e%2e//',
      headers: await token()
    })
    expect(answer.status).toBe(200)
  })
})

function expectRefusal(answer: string, status: number, code: string | undefined): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head.split('\r\n')[0]).toMatch(`HTTP/1.1 ${status} `)
  for (const [name, value] of Object.entries(commonApiHeaders))
    expect(head).toContain(`${name}: ${value}`)
  if (code === undefined) expect(body).not.toContain('{')
  else {
    const error = new AppError(JSON.parse(body).code, '')
    expect({ code: error.code, status: error.status }).toEqual({ code, status })
    expect(head).toContain('content-type: application/problem+json')
  }
}

/** Sends bytes unchanged. Returns all that the server sends until it closes the connection. */
async function send(bytes: string): Promise<string> {
  const socket = connect(await app.listen(), '127.0.0.1')
  socket.write(bytes)
  return text(socket)
}
