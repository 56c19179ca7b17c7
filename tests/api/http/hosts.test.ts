import { IncomingMessage } from 'node:http'
import { connect, Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTenantCache } from '../../../src/server/domain/companies/served-hosts.ts'
import { createClientAddressReader } from '../../../src/server/http/hosts.ts'
import { generousLimits, makeApp, type TestApp } from '../../helpers/app.ts'
import { makeDb, statementsOf } from '../../helpers/database.ts'
import { copyRows } from '../../helpers/evidence/copied-rows.ts'

// B-04

let app: TestApp
let port: number
beforeAll(async () => {
  app = await makeServer()
  port = await app.listen()
  await app.addCompany('Wild', '*.wild.test')
  await app.addCompany('Exact', 'docs.wild.test')
  await app.addCompany('Bücher', 'xn--bcher-kva.test')
  await app.addCompany('Unproven', 'unproven.test')
  await app.owner.query(`update domain set verified_at = null where host = 'unproven.test'`)
})
afterAll(() => app[Symbol.asyncDispose]())

const api = 'api of acme.localhost'
const page = 'page of acme.localhost'

describe('a Host header', () => {
  test.each([
    // a page host and its API, in every spelling of the same name
    ['acme.localhost', page],
    ['api.acme.localhost', api],
    ['ACME.localhost', page],
    ['Acme.LocalHost', page],
    ['API.ACME.LOCALHOST', api],
    ['Api.acme.localhost', api],
    ['acme.localhost:80', page],
    ['acme.localhost:4321', page],
    ['api.acme.localhost:80', api],
    ['api.acme.localhost:4321', api],
    ['api.acme.localhost:65535', api],
    ['acme.localhost.', page],
    ['acme.localhost.:4321', page],
    ['api.acme.localhost.', api],
    ['api.acme.localhost.:4321', api],
    ['API.ACME.LOCALHOST.:4321', api],
    ['  acme.localhost  ', page],
    ['beta.localhost', 'page of beta.localhost'],
    ['api.beta.localhost', 'api of beta.localhost'],
    ['xn--bcher-kva.test', 'page of xn--bcher-kva.test'],
    ['api.xn--bcher-kva.test', 'api of xn--bcher-kva.test'],

    // a wildcard stands for one label that is not `api`; an exact name comes first
    ['x.wild.test', 'page of x.wild.test'],
    ['X.WILD.test', 'page of x.wild.test'],
    ['x.wild.test.', 'page of x.wild.test'],
    ['api.x.wild.test', 'api of x.wild.test'],
    ['apis.wild.test', 'page of apis.wild.test'],
    ['docs.wild.test', 'page of docs.wild.test'],
    ['api.docs.wild.test', 'api of docs.wild.test'],
    ['wild.test', '421'],
    ['api.wild.test', '421'],
    ['API.wild.test', '421'],
    ['api.api.wild.test', '421'],
    ['api.api.x.wild.test', '421'],
    ['a.b.wild.test', '421'],
    ['api.a.b.wild.test', '421'],
    ['xwild.test', '421'],
    ['x.wild.test.evil.test', '421'],
    ['x.wild.tes', '421'],
    ['*.wild.test', '400'],
    ['.wild.test', '400'],
    ['-.wild.test', '400'],
    ['x-.wild.test', '400'],
    ['_.wild.test', '400'],
    ['%.wild.test', '400'],
    ["'.wild.test", '400'],

    // names nobody has registered or proven
    ['localhost', '421'],
    ['api.localhost', '421'],
    ['demo.localhost', '421'],
    ['unknown.localhost', '421'],
    ['api.unknown.localhost', '421'],
    ['x.acme.localhost', '421'],
    ['api.api.acme.localhost', '421'],
    ['api', '421'],
    ['acme', '421'],
    ['example.com', '421'],
    ['acme.localhost.example.com', '421'],
    ['example.com.acme.localhost', '421'],
    ['acmelocalhost', '421'],
    ['acme-localhost', '421'],
    ['unproven.test', '421'],
    ['api.unproven.test', '421'],
    ['127.0.0.1', '421'],
    ['127.1', '421'],
    ['2130706433', '421'],
    ['0x7f000001', '421'],
    ['0', '421'],
    [`${'a'.repeat(63)}.localhost`, '421'],

    // what is no name
    ['', '400'],
    ['.', '400'],
    ['..', '400'],
    [':80', '400'],
    ['-', '400'],
    ['.acme.localhost', '400'],
    ['acme..localhost', '400'],
    ['acme.localhost..', '400'],
    ['api..acme.localhost', '400'],
    ['-acme.localhost', '400'],
    ['acme-.localhost', '400'],
    ['acme.localhost:', '400'],
    ['acme.localhost:http', '400'],
    ['acme.localhost:-1', '400'],
    ['acme.localhost:+80', '400'],
    ['acme.localhost:80:80', '400'],
    ['acme.localhost:99999', '400'],
    ['acme.localhost:65536', '400'],
    ['api.acme.localhost:99999', '400'],
    ['acme.localhost:123456', '400'],
    ['acme.localhost :80', '400'],
    ['acme.localhost, beta.localhost', '400'],
    ['acme.localhost beta.localhost', '400'],
    ['acme.localhost;beta.localhost', '400'],
    ['acme.localhost\tbeta.localhost', '400'],
    ['acme.localhost/beta.localhost', '400'],
    ['acme.localhost\\beta.localhost', '400'],
    ['acme.localhost?beta.localhost', '400'],
    ['acme.localhost#beta.localhost', '400'],
    ['beta.localhost@acme.localhost', '400'],
    ['user:word@acme.localhost', '400'],
    ['http://acme.localhost', '400'],
    ['//acme.localhost', '400'],
    ['acme.localhost/', '400'],
    ['acme%2elocalhost', '400'],
    ['%61cme.localhost', '400'],
    ['acme_.localhost', '400'],
    ['"acme.localhost"', '400'],
    ['<acme.localhost>', '400'],
    ['(acme.localhost)', '400'],
    ['{acme.localhost}', '400'],
    ["acme.localhost' or '1'='1", '400'],
    ['acme.localhost\u0000', '400'],
    ['acme.localhost\u000b', '400'],
    ['àcme.localhost', '400'],
    ['acme\u3002localhost', '400'],
    ['\uff41cme.localhost', '400'],
    ['acme.loca\u017fhost', '400'],
    ['\u212aacme.localhost', '400'],
    ['[::1]', '400'],
    ['[::ffff:127.0.0.1]:80', '400'],
    [`${'a'.repeat(64)}.localhost`, '400'],
    [`${'a.'.repeat(130)}localhost`, '400'],
    ['a'.repeat(20_000), '431']
  ])('%j is %s', async (host, expected) => {
    expect(await whoAnswers(`Host: ${host}`)).toBe(expected)
  })
})

test('no company gets a page host that is the API of another', async () => {
  const asked = app.addCompany('Api', 'api.gamma.localhost')
  await expect(asked).rejects.toThrow('api.gamma.localhost')
  await expect(app.addCompany('Apiary', 'apiary.localhost')).resolves.toBeDefined()
})

describe('more or fewer than one Host header', () => {
  const [acme, beta] = ['Host: api.acme.localhost', 'Host: api.beta.localhost']
  test.each([
    ['two names', `${acme}\n${beta}`],
    ['one name twice', `${acme}\n${acme}`],
    ['two spellings of the header', `${acme}\nhOST: api.acme.localhost`],
    ['an empty one first', `Host:\n${acme}`],
    ['an empty one last', `${acme}\nHost:`],
    ['three', `${acme}\n${acme}\n${beta}`],
    ['other headers between', `${acme}\nAccept: */*\n${beta}`],
    ['none', 'Accept: */*'],
    ['a space before the colon', 'Host : api.acme.localhost'],
    ['a name before the colon', `X-Y Host: api.acme.localhost`],
    ['a folded line', 'Host: api.acme.localhost\n beta.localhost'],
    ['a second one after a fold', `X: y\n ${acme}`],
    ['only a forwarded one', 'X-Forwarded-Host: api.acme.localhost'],
    ['only an authority', ':authority: api.acme.localhost']
  ])('is refused: %s', async (_title, headers) => {
    expect(await whoAnswers(headers)).toBe('400')
  })

  test('is refused without one in HTTP/1.0 too', async () => {
    expect(await whoAnswers('Accept: */*', { version: '1.0' })).toBe('400')
    expect(await whoAnswers('Host: api.acme.localhost', { version: '1.0' })).toBe(api)
  })
})

describe('a request target', () => {
  test.each([
    ['http://api.acme.localhost/healthz', '400'],
    ['http://api.beta.localhost/healthz', '400'],
    ['https://api.beta.localhost/healthz', '400'],
    ['HTTP://api.beta.localhost/healthz', '400'],
    ['http:/healthz', '400'],
    ['ws://api.beta.localhost/', '400'],
    ['file:///etc/passwd', '400'],
    ['api.beta.localhost:443', '400'],
    ['healthz', '400'],
    ['*', '400'],
    ['?x', '400'],
    ['#x', '400'],
    ['\\healthz', '400'],
    ['.', '400'],
    // paths that a careless reader takes for a host: they stay paths of this one
    ['//api.beta.localhost/healthz', '404'],
    ['///api.beta.localhost/healthz', '404'],
    ['/\\api.beta.localhost/healthz', '404'],
    ['/@api.beta.localhost', '400'],
    ['/http://api.beta.localhost/healthz', '404'],
    ['/..//api.beta.localhost/healthz', '404'],
    ['/%2f/api.beta.localhost', '404'],
    ['/api.beta.localhost', '404'],
    ['/beta.localhost', '404'],
    ['/healthz', 'other']
  ])('%s is %s', async (target, expected) => {
    expect(await whoAnswers('Host: api.acme.localhost', { target })).toBe(expected)
  })

  test.each([
    ['OPTIONS', '*'],
    ['POST', 'http://api.acme.localhost/verify'],
    ['PATCH', 'http://api.acme.localhost/uploads/AAAAAAAAAAAAAAAAAAAAAA'],
    ['GET', 'http://acme.localhost/en']
  ])('is refused as %s %s', async (method, target) => {
    expect(await whoAnswers('Host: api.acme.localhost', { method, target })).toBe('400')
  })

  test('of a tunnel is not answered', async () => {
    const tunnel = { method: 'CONNECT', target: 'api.beta.localhost:443' }
    expect(await whoAnswers('Host: api.acme.localhost', tunnel)).toBe('nothing')
  })
})

describe('a header that names another host', () => {
  const others = [
    'X-Forwarded-Host: api.beta.localhost',
    'X-Forwarded-Host: api.beta.localhost, api.beta.localhost',
    'X-Forwarded-Server: api.beta.localhost',
    'X-Original-Host: api.beta.localhost',
    'X-Host: api.beta.localhost',
    'X-HTTP-Host-Override: api.beta.localhost',
    'X-Forwarded-Port: 1',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Scheme: https',
    'X-Forwarded-Prefix: /en',
    'X-Original-URL: http://api.beta.localhost/',
    'X-Rewrite-URL: http://api.beta.localhost/',
    'Forwarded: host=api.beta.localhost;proto=https;for=10.0.0.1',
    'Forwarded: for=1;host="api.beta.localhost"',
    'X-Real-IP: 10.0.0.1',
    'CF-Connecting-IP: 10.0.0.1',
    'True-Client-IP: 10.0.0.1',
    'Via: 1.1 api.beta.localhost',
    'Origin: http://beta.localhost',
    'Referer: http://api.beta.localhost/',
    'Company: beta',
    'X-Company-Id: beta',
    'X-HTTP-Method-Override: DELETE',
    'Upgrade: websocket\nConnection: upgrade',
    'Alt-Used: api.beta.localhost',
    'Cookie: host=api.beta.localhost'
  ]
  test.each(others)('is not believed: %s', async header => {
    expect(await whoAnswers(`Host: api.acme.localhost\n${header}`)).toBe(api)
    expect(await whoAnswers(`${header}\nHost: acme.localhost`)).toBe(page)
  })

  test('is not believed from a trusted proxy either, which passes Host on', async () => {
    await using trusting = await makeServer(['127.0.0.0/8'])
    const at = await trusting.listen()
    for (const header of others) {
      expect(await whoAnswers(`Host: api.acme.localhost\n${header}`, { at }), header).toBe(api)
    }
  })
})

describe('one connection', () => {
  test('serves two hosts after each other, each by its own', async () => {
    const requests = ['api.acme.localhost', 'api.beta.localhost', 'beta.localhost', 'nobody.test']
    const text = requests.map(host => `GET ${challengePath} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    const answers = await send(port, text.join(''))
    const bodies = answers.split(/(?=HTTP\/1\.1 )/)
    expect(bodies.map(whoIs)).toEqual([
      api,
      'api of beta.localhost',
      'page of beta.localhost',
      '421'
    ])
  })

  test.each([
    ['two lengths', 'Content-Length: 2\nContent-Length: 4\n\n{}ab'],
    ['a length and chunks', 'Content-Length: 2\nTransfer-Encoding: chunked\n\n0\n\n'],
    ['a length that is none', 'Content-Length: +2\n\n{}'],
    ['a negative length', 'Content-Length: -2\n\n{}'],
    ['two lengths in one', 'Content-Length: 2, 4\n\n{}'],
    ['an unknown transfer coding', 'Transfer-Encoding: xchunked\n\n0\n\n'],
    ['chunks twice', 'Transfer-Encoding: chunked, identity\n\n0\n\n'],
    ['a chunk size that is none', 'Transfer-Encoding: chunked\n\nzz\n{}\n0\n\n'],
    ['a chunk size with a sign', 'Transfer-Encoding: chunked\n\n-1\n{}\n0\n\n'],
    ['a bare line feed between headers', 'X: y\nZ: w\u0000\n\n']
  ])('smuggles no second request in by %s', async (_title, rest) => {
    const head = `POST /verify HTTP/1.1\nHost: api.acme.localhost\nContent-Type: application/json\n`
    const second = `GET ${challengePath} HTTP/1.1\nHost: api.beta.localhost\n\n`
    const answers = await send(port, `${head}${rest}${second}`.replaceAll('\n', '\r\n'))
    expect(answers.split(/(?=HTTP\/1\.1 )/).map(whoIs)).toEqual(['400'])
  })

  test.each([
    ['HTTP/0.9', 'GET /healthz\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', '\u0016\u0003\u0001\u0002\u0000\u0001'],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: api.acme.localhost\r\n\r\n'],
    ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: api.acme.localhost\r\n\r\n'],
    ['a method in lower case', 'get / HTTP/1.1\r\nHost: api.acme.localhost\r\n\r\n']
  ])('is refused that speaks %s', async (_title, text) => {
    expect(whoIs(await send(port, text))).toBe('400')
  })
})

describe('GET /{domain}', () => {
  test.each([
    ['api.acme.localhost', '/acme.localhost', 'Acme'],
    ['api.beta.localhost', '/beta.localhost', 'Beta'],
    ['api.x.wild.test', '/x.wild.test', 'Wild'],
    ['api.docs.wild.test', '/docs.wild.test', 'Exact'],
    ['API.Acme.LocalHost:4321', '/acme.localhost', 'Acme'],
    ['api.acme.localhost.', '/acme.localhost', 'Acme'],
    ['api.acme.localhost', '/beta.localhost', 'unknown_domain'],
    ['api.beta.localhost', '/acme.localhost', 'unknown_domain'],
    ['api.x.wild.test', '/y.wild.test', 'unknown_domain'],
    ['api.x.wild.test', '/docs.wild.test', 'unknown_domain'],
    ['api.x.wild.test', '/wild.test', 'unknown_domain'],
    ['api.x.wild.test', '/*.wild.test', 'invalid_input'],
    ['api.acme.localhost', '/api.acme.localhost', 'unknown_domain'],
    ['api.acme.localhost', '/nobody.test', 'unknown_domain'],
    ['api.acme.localhost', '/unproven.test', 'unknown_domain'],
    ['api.acme.localhost', '/ACME.localhost', 'invalid_input'],
    ['api.acme.localhost', '/acme.localhost.', 'invalid_input'],
    ['api.acme.localhost', '/acme.localhost:4321', 'invalid_input'],
    ['api.acme.localhost', '/acme.localhost%00', 'not_found'],
    ['api.acme.localhost', '/acme.localhost/', 'not_found'],
    ['api.acme.localhost', '/', 'not_found']
  ])('at %s%s answers %s', async (host, target, expected) => {
    const answer = await send(port, requestText(`Host: ${host}`, { target }))
    const { company, code } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
    expect(company ?? code).toBe(expected)
  })
})

describe('an Origin', () => {
  test.each([
    ['http://acme.localhost', true],
    ['https://acme.localhost', false],
    ['http://acme.localhost:4321', false],
    ['http://beta.localhost', false],
    ['http://api.acme.localhost', false],
    ['http://acme.localhost.evil.test', false],
    ['http://evil.test', false],
    ['http://ACME.localhost', false],
    ['null', false],
    ['*', false]
  ])('%s may read: %s', async (origin, granted) => {
    for (const request of [
      { target: '/healthz' },
      { target: '/user' },
      { method: 'OPTIONS', target: '/user' },
      { method: 'OPTIONS', target: '/uploads/AAAAAAAAAAAAAAAAAAAAAA' },
      { method: 'HEAD', target: '/uploads/AAAAAAAAAAAAAAAAAAAAAA' }
    ]) {
      const headers = `Host: api.acme.localhost\nOrigin: ${origin}`
      const answer = await send(port, requestText(headers, request))
      const [head = ''] = answer.split('\r\n\r\n')
      const allowed = /^access-control-allow-origin: (.*)$/im.exec(head)?.[1]
      expect(allowed, JSON.stringify(request)).toBe(granted ? origin : undefined)
      expect(head).not.toMatch(/allow-credentials/i)
      expect(head).toMatch(/^vary: .*origin/im)
    }
  })
})

test('an answer of the API says its length and type, and one to HEAD has no body', async () => {
  const headers = 'Host: api.acme.localhost'
  const answer = await send(port, requestText(headers, { target: '/healthz' }))
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 200 /)
  expect(head).toMatch(new RegExp(`^content-length: ${body.length}$`, 'im'))
  expect(head).toMatch(/^content-type: application\/json$/im)
  expect(head).toMatch(/^x-content-type-options: nosniff$/im)
  expect(JSON.parse(body)).toHaveProperty('status')
  const bare = await send(port, requestText(headers, { method: 'HEAD', target: '/healthz' }))
  expect(bare).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n$/s)
})

describe('the address of a caller', () => {
  test.each([
    ['10.0.0.1', [], '203.0.113.9', '10.0.0.1'],
    ['10.0.0.1', ['10.0.0.0/8'], undefined, '10.0.0.1'],
    ['10.0.0.1', ['10.0.0.0/8'], '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', ['10.0.0.1'], '203.0.113.9', '203.0.113.9'],
    ['10.0.0.2', ['10.0.0.1'], '203.0.113.9', '10.0.0.2'],
    ['::ffff:10.0.0.1', ['10.0.0.0/8'], '203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', ['10.0.0.0/8'], '1.1.1.1, 203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', ['10.0.0.0/8'], '1.1.1.1, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.0.0.1', ['10.0.0.0/8'], '10.1.1.1, 10.9.9.9', '10.1.1.1'],
    ['10.0.0.1', ['10.0.0.0/8'], '1.1.1.1, unknown', '10.0.0.1'],
    ['10.0.0.1', ['10.0.0.0/8'], '1.1.1.1, 203.0.113.9:80', '10.0.0.1'],
    ['10.0.0.1', ['10.0.0.0/8'], '', '10.0.0.1'],
    ['10.0.0.1', ['10.0.0.0/8'], ',', '10.0.0.1'],
    ['10.0.0.1', ['10.0.0.0/8'], '::ffff:203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', ['10.0.0.0/8'], '2001:db8::9', '2001:db8::9'],
    ['2001:db8::1', ['2001:db8::/32'], '203.0.113.9', '203.0.113.9'],
    ['2001:db9::1', ['2001:db8::/32'], '203.0.113.9', '2001:db9::1']
  ])('%s, trusting %j, forwarded for %j, is %s', (peer, trusted, forwarded, expected) => {
    const socket = new Socket()
    Object.defineProperty(socket, 'remoteAddress', { value: peer })
    const request = new IncomingMessage(socket)
    if (forwarded !== undefined) request.headers['x-forwarded-for'] = forwarded
    expect(createClientAddressReader(trusted)(request)).toBe(expected)
  })

  test.each(['', '10.0.0.0/0', '10.0.0.0/33', '::/0', 'proxy.test', '10.0.0.0/x', '*'])(
    'is not read with the trusted network %j',
    network => {
      expect(() => createClientAddressReader([network])).toThrow('TRUSTED_PROXIES')
    }
  )

  test('counts against one budget, whatever it says of itself', async () => {
    await using strict = await makeServer([], 3)
    await using trusting = await makeServer(['127.0.0.1'], 3)
    const outcomes = async (made: TestApp) => {
      const at = await made.listen()
      const seen = []
      for (let call = 1; call <= 5; call++) {
        const headers = `Host: api.acme.localhost\nX-Forwarded-For: 203.0.113.${call}`
        seen.push(await whoAnswers(headers, { at }))
      }
      return seen
    }
    expect(await outcomes(strict)).toEqual([api, api, api, '429', '429'])
    expect(await outcomes(trusting)).toEqual([api, api, api, api, api])
  })
})

test('a refusal tells nothing about which hosts there are', async () => {
  const answers = await Promise.all(
    ['unknown.localhost', 'unproven.test', 'api.wild.test', 'api.nobody.test'].map(async host =>
      (await send(port, requestText(`Host: ${host}`))).replace(/^date: .*$/im, '')
    )
  )
  expect(new Set(answers).size).toBe(1)
  expect(answers[0]).toContain('\nMisdirected Request\n')
  expect(answers[0]).toMatch(/^cache-control: no-store\r$/im)
})

const challengePath = '/user/login/challenge?email=ada@example.com'

interface RequestLine {
  method?: string
  target?: string
  version?: string
}

function requestText(headers: string, line: RequestLine = {}): string {
  const { method = 'GET', target = challengePath, version = '1.1' } = line
  const text = `${method} ${target} HTTP/${version}\n${headers}\nConnection: close\n\n`
  return text.replaceAll('\n', '\r\n')
}

/**
 * Returns which host answers a request and as what: `'api of acme.localhost'` or `'page of …'`.
 * Returns the status of a refusal.
 */
async function whoAnswers(headers: string, options: RequestLine & { at?: number } = {}) {
  return whoIs(await send(options.at ?? port, requestText(headers, options)))
}

function whoIs(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const status = /^HTTP\/1\.1 (\d+)/.exec(head)?.[1]
  if (status === undefined) return 'nothing'
  if (status !== '200') return status
  if (body.startsWith('page of')) return body.trim()
  const challenge = /login\.v1\.([\w-]+)/.exec(body)?.[1]
  if (challenge === undefined) return 'other'
  return `api of ${JSON.parse(Buffer.from(challenge, 'base64url').toString()).aud}`
}

/**
 * Sends bytes unchanged. Returns all that the server sends until it closes the connection or sends
 * nothing for 1.5 seconds.
 */
function send(at: number, text: string): Promise<string> {
  return new Promise(resolve => {
    let answer = ''
    const socket = connect(at, '127.0.0.1', () => socket.write(text))
    const end = () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1500, end)
    socket.on('data', chunk => {
      answer += chunk
    })
    socket.on('error', end)
    socket.on('close', end)
  })
}

function makeServer(trustedProxies: string[] = [], signInPerAddressMinute = 100_000) {
  const limits = { ...generousLimits, signInPerAddressMinute, reportsPerAddressMinute: 10 }
  return makeApp({
    trustedProxies,
    settings: { limits },
    site: {
      async answer(_ask, host) {
        const body = `page of ${host}`
        return { status: 200, headers: { 'content-length': String(body.length) }, body }
      }
    }
  })
}

test('a host of nobody, and each name of a wildcard, costs the database nothing of its own', async () => {
  await using own = await makeServer()
  await own.addCompany('Wild', '*.wild.test')
  const names = Array.from({ length: 50 }, (_, n) => `name-${n}`)
  const seen = await statementsOf(own.deps.db, /resolve_host|list_hosts/, async () => {
    for (const name of names) {
      expect(await own.tenants.resolve(`${name}.test`)).toBeUndefined()
      const tenant = await own.tenants.resolve(`${name}.wild.test`)
      expect(tenant?.host).toBe(`${name}.wild.test`)
    }
  })
  expect(seen.length).toBeLessThan(10)
})

test('a change of one company costs the others nothing, and all hosts are read once', async () => {
  await using own = await makeServer()
  await own.addCompany('Quiet', 'quiet.test')
  const busy = await own.addCompany('Busy', 'busy.test')
  await own.tenants.resolve('quiet.test')
  const began = performance.now()
  const seen = await statementsOf(own.deps.db, /resolve_host|list_hosts/, async () => {
    for (let change = 0; change < 20; change++) {
      await own.owner.query(
        `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
         select company_id, gen_random_uuid(), $1, name, title, false, locale, theme, now()
           from domain where host = 'busy.test'`,
        [`more-${change}.test`]
      )
      own.deps.signals.domains.send(`more-${change}.test`)
      own.deps.signals.companies.send(busy)
      expect((await own.tenants.resolve('quiet.test'))?.host).toBe('quiet.test')
    }
  })
  // each reads its own again when a second has passed
  const seconds = (performance.now() - began) / 1000
  expect(seen.length).toBeLessThan(5 + 2 * seconds)
  expect(seen.filter(({ text }) => text.includes('list_hosts'))).toEqual([])
  expect((await own.tenants.resolve('more-19.test'))?.host).toBe('more-19.test')
})

test('whose a host is costs nothing until it changes, and a move is seen without a signal', async () => {
  await using own = await makeServer()
  const first = await own.addCompany('First', '*.first.test')
  const second = await own.addCompany('Second', 'second.test')
  const host = 'docs.first.test'
  // a long transaction, here or in another database of the server, makes no known change new
  const long = await own.owner.connect()
  await long.query('begin; select pg_current_xact_id()')
  await own.owner.query(`update domain set verified_at = null where host = '*.first.test'`)
  await own.owner.query(`update domain set verified_at = now() where host = '*.first.test'`)
  own.wait(2)
  expect(await own.tenants.companyOf(host)).toBe(first)
  const seen = await statementsOf(own.deps.db, /resolve_host|list_hosts/, async () => {
    for (let time = 0; time < 20; time++) {
      own.wait(2)
      expect(await own.tenants.companyOf(host)).toBe(first)
    }
  })
  await long.query('rollback')
  long.release()
  expect(seen).toEqual([])
  await own.owner.query(
    `update domain set company_id = $1, id = gen_random_uuid() where host = '*.first.test'`,
    [second]
  )
  own.wait(2)
  expect(await own.tenants.companyOf(host)).toBe(second)
  await own.owner.query(`update domain set verified_at = null where host = '*.first.test'`)
  own.wait(2)
  expect(await own.tenants.companyOf(host)).toBeUndefined()
})

test('misses no host of a transaction that was open while others ended', async () => {
  await using own = await makeServer()
  await own.addCompany('New', 'new.test')
  const renaming = 'update domain set host = $2 where host = $1'
  const slow = await own.owner.connect()
  try {
    await slow.query('begin')
    await slow.query(renaming, ['new.test', 'slow.test'])
    await own.owner.query(renaming, ['beta.localhost', 'quick.test'])
    own.wait(2)
    expect((await own.tenants.resolve('quick.test'))?.host).toBe('quick.test')
    expect(await own.tenants.resolve('slow.test')).toBeUndefined()
    await slow.query('commit')
  } finally {
    slow.release()
  }
  own.wait(2)
  expect((await own.tenants.resolve('slow.test'))?.host).toBe('slow.test')
  expect(await own.tenants.resolve('new.test')).toBeUndefined()
  await own.owner.query(`update domain set verified_at = null where host = 'slow.test'`)
  own.wait(2)
  expect(await own.tenants.resolve('slow.test')).toBeUndefined()
  await own.owner.query(`delete from domain where host = 'quick.test'`)
  own.wait(2)
  expect(await own.tenants.resolve('quick.test')).toBeUndefined()
})

test('reads all hosts again in another database, such as a replica that lagged', async () => {
  await using own = await makeServer()
  await using replica = await makeDb()
  await own.addCompany('Kept', 'kept.test')
  await copyRows(own.owner, replica.owner)
  const deps = { ...own.deps }
  using tenants = openTenantCache(deps)
  const hostOf = async (name: string) => (await tenants.resolve(name))?.host
  expect(await hostOf('kept.test')).toBe('kept.test')
  await own.addCompany('Lost', 'lost.test')
  await own.owner.query(`update domain set verified_at = null where host = 'kept.test'`)
  own.wait(2)
  expect(await hostOf('lost.test')).toBe('lost.test')
  expect(await hostOf('kept.test')).toBeUndefined()

  deps.db = replica.db
  own.wait(2)
  expect(await hostOf('kept.test')).toBe('kept.test')
  expect(await hostOf('lost.test')).toBeUndefined()
})

test('knows a new host at once where it was made, and within two seconds otherwise', async () => {
  await using own = await makeServer()
  expect(await own.tenants.resolve('new.test')).toBeUndefined()
  await own.addCompany('New', 'new.test')
  expect((await own.tenants.resolve('new.test'))?.host).toBe('new.test')
  await own.owner.query(`update domain set host = 'moved.test' where host = 'new.test'`)
  own.wait(2)
  expect(await own.tenants.resolve('new.test')).toBeUndefined()
  expect((await own.tenants.resolve('moved.test'))?.host).toBe('moved.test')
})
