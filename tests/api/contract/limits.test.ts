import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { requestPasswordReset } from '../../../src/contract/accounts.ts'
import { receiveCspReports } from '../../../src/contract/csp-reports.ts'
import { putDeposit } from '../../../src/contract/deposits.ts'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { getChallenge } from '../../../src/contract/sessions.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { deleteExpiredRateCounts } from '../../../src/server/domain/limits/rate-counters.ts'
import { generousLimits, makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'

const limits = { ...generousLimits, reportsPerAddressMinute: 10 }
const limited = (lower: Partial<typeof limits>) =>
  makeApp({ settings: { limits: { ...limits, ...lower } } })
const item = () => ({ sha256: randomBytes(32).toString('hex') })

describe('a limited call', () => {
  test('tells what is left, of the caller’s own limits only', async () => {
    await using app = await limited({ verifyPerAddressMinute: 5 })
    const body = JSON.stringify({ items: [item(), item()] })
    const headers = { 'content-type': 'application/json' }
    const answer = await app.request('api.acme.localhost', {
      method: 'POST',
      path: verify.path,
      headers,
      body
    })
    expect(answer.headers['ratelimit-policy']).toBe(
      '"public_address";q=100000;w=60, "verify_address_minute";q=5;w=60, "verify_address_day";q=100000;w=86400'
    )
    expect(answer.headers['ratelimit']).toMatch(
      /^"public_address";r=99999;t=60, "verify_address_minute";r=3;t=60, "verify_address_day";r=99998;t=86400$/
    )
    const free = await app.request('api.acme.localhost', { path: '/healthz' })
    expect(free.headers).not.toHaveProperty('ratelimit')
  })

  test('begins anew when its period has ended, and its rows go', async () => {
    await using app = await limited({ verifyPerAddressMinute: 1 })
    const check = () => app.call('acme.localhost', verify, { items: [item()] })
    await check()
    await expect(check()).rejects.toMatchObject({ code: 'lookup_limited' })
    app.wait(61)
    await check()
    app.wait(86_400)
    await deleteExpiredRateCounts(app.deps)
    expect((await app.owner.query('select 1 from rate_count')).rowCount).toBe(0)
  })

  test('of a stranger is counted before its body is read, for all companies together', async () => {
    await using app = await limited({ publicPerAddressMinute: 2 })
    const post = (host: string, address: string) =>
      app.fetch(
        new Request(`http://api.${host}/verify`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: 'no JSON'
        }),
        address
      )
    const statuses: number[] = []
    for (const host of ['acme.localhost', 'beta.localhost', 'acme.localhost']) {
      statuses.push((await post(host, '192.0.2.7')).status)
    }
    expect(statuses).toEqual([400, 400, 429])
    expect((await post('acme.localhost', '192.0.2.8')).status).toBe(400)
    // within the process there is no address
    const body = JSON.stringify({ items: [item()] })
    const headers = { 'content-type': 'application/json' }
    const within = new Request('http://api.acme.localhost/verify', {
      method: 'POST',
      headers,
      body
    })
    expect((await app.app.fetch(within)).status).toBe(200)
  })

  test('counts for the /64, the /56 and the /48 of its address', async () => {
    await using app = await limited({ verifyPerAddressMinute: 1 })
    const ask = (address: string) =>
      app.call('acme.localhost', verify, { items: [item()] }, { address })
    const refused = { code: 'lookup_limited' }
    await ask('2001:db8:0:1::1')
    await expect(ask('2001:db8:0:1::2')).rejects.toMatchObject(refused)
    // 4 of a /56
    for (const part of [2, 3, 4]) await ask(`2001:db8:0:${part}::1`)
    await expect(ask('2001:db8:0:5::1')).rejects.toMatchObject(refused)
    // 16 of a /48
    for (let part = 1; part <= 12; part++) await ask(`2001:db8:0:${part.toString(16)}00::1`)
    await expect(ask('2001:db8:0:ff00::1')).rejects.toMatchObject(refused)
    await ask('2001:db8:1::1')
  })

  test('leaves a part of a company’s day to networks that were not there yet', async () => {
    await using app = await limited({ verifyPerCompanyDay: 8, mailsPerCompanyDay: 4 })
    const ask = (address: string, items = 1) =>
      app.call(
        'acme.localhost',
        verify,
        { items: Array.from({ length: items }, item) },
        { address }
      )
    await ask('192.0.2.1', 6)
    await expect(ask('192.0.2.1')).rejects.toMatchObject({ code: 'lookup_limited' })
    await ask('192.0.2.2')
    await expect(ask('192.0.2.2')).rejects.toMatchObject({ code: 'lookup_limited' })
    await ask('192.0.2.3')
    await expect(ask('192.0.2.4')).rejects.toMatchObject({ code: 'lookup_limited' })

    const reset = (address: string) =>
      app.call(
        'acme.localhost',
        requestPasswordReset,
        { email: `${randomUUID()}@example.com` },
        { address }
      )
    for (let mails = 0; mails < 3; mails++) await reset('192.0.2.1')
    await expect(reset('192.0.2.1')).rejects.toMatchObject({ code: 'rate_limited' })
    await reset('192.0.2.2')
    await expect(reset('192.0.2.3')).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('is refused once an address has tried to make its accounts', async () => {
    await using app = await limited({ signUpPerAddressHour: 2 })
    await app.signUp()
    await app.signUp()
    await expect(app.signUp()).rejects.toMatchObject({
      code: 'rate_limited',
      figures: { used: 2, limit: 2 }
    })
    const { rows } = await app.owner.query('select count(*)::int as count from "user"')
    expect(rows[0].count).toBe(2)
  })

  test('is refused with figures, the time and what is left', async () => {
    await using app = await limited({ signInPerAddressMinute: 2 })
    const path = `${getChallenge.path}?email=ada%40example.com`
    await app.request('api.acme.localhost', { path })
    await app.request('api.acme.localhost', { path })
    const refused = await app.request('api.acme.localhost', { path })
    expect(refused.status).toBe(429)
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThan(50)
    expect(refused.headers['ratelimit']).toBe(`"sign_in_address";r=0;t=${seconds}`)
    const problem = JSON.parse(refused.body.toString())
    expect(problem).toMatchObject({ code: 'rate_limited', used: 2, limit: 2 })
    const left = (new Date(problem.resets_at).getTime() - Date.now()) / 1000
    expect(Math.abs(left - seconds)).toBeLessThan(3)
  })

  test('counts no one against what another address has used', async () => {
    await using app = await limited({ verifyPerAddressMinute: 1 })
    const ask = (address: string) =>
      app.call('acme.localhost', verify, { items: [item()] }, { address })
    await ask('192.0.2.7')
    await expect(ask('192.0.2.7')).rejects.toMatchObject({ code: 'lookup_limited' })
    await ask('192.0.2.8')
  })
})

describe('uploads of one person', () => {
  test('move three at a time; the fourth is told when to come again', async () => {
    await using app = await makeApp()
    const ada = await app.signUp()
    const uploads = await Promise.all(
      Array.from({ length: 4 }, (_, n) => app.reserve(ada, Buffer.alloc(1000, `${n}`)))
    )
    const [first, second, third, fourth] = uploads.map(({ upload }) => upload)
    const open = []
    for (const path of [first, second, third])
      open.push(await beginPatch(app, ada, path ?? '', 1000))
    const refused = await app.patch(ada, fourth ?? '', Buffer.alloc(1000, '3'))
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toBe('5')
    expect(JSON.parse(refused.body.toString())).toMatchObject({
      code: 'rate_limited',
      used: 3,
      limit: 3
    })
    const grace = await app.signUp()
    await app.deposit(grace, randomBytes(10)) // others are not held up

    open[0]?.destroy()
    await expect
      .poll(async () => (await app.patch(ada, fourth ?? '', Buffer.alloc(1000, '3'))).status)
      .toBe(204)
    for (const socket of open) socket.destroy()
  })

  test.each(['file', 'fingerprint'])(
    'of one call each move three at a time, kept as a %s',
    async store => {
      await using app = await makeApp()
      const ada = await app.signUp()
      await app.owner.query('update category set store = $1', [store])
      const open = []
      for (let place = 0; place < 3; place++) open.push(await beginPut(app, ada, 1000))
      const reservations = () =>
        app.owner.query('select count(*)::int as count from upload').then(({ rows }) => rows[0])
      const before = await reservations()
      const refused = await beginPut(app, ada, 1000)
      const answer = await answerOf(refused)
      expect(answer).toMatch(/^HTTP\/1\.1 429 /)
      expect(answer).toMatch(/^retry-after: 5\r$/im)
      expect(await reservations()).toEqual(before)

      const recorded = open.map(answerOf)
      open[0]?.write(Buffer.alloc(999))
      expect(await recorded[0]).toMatch(/^HTTP\/1\.1 201 /)
      const next = await beginPut(app, ada, 1)
      expect(await answerOf(next)).toMatch(/^HTTP\/1\.1 201 /)
      for (const socket of [...open, refused, next]) socket.destroy()
    }
  )
})

describe('a body', () => {
  test('may take its time, as long as the head of its request does not', async () => {
    await using app = await makeApp({ headMs: 100 })
    expect(app.server.requestTimeout).toBe(0) // Node would cut the longest upload
    const ada = await app.signUp()
    const body = await beginPut(app, ada, 6)
    const recorded = answerOf(body)
    const head = connect(await app.listen(), '127.0.0.1')
    head.write('GET / HTTP/1.1\r\n')
    expect(await answerOf(head)).toMatch(/^HTTP\/1\.1 408 /)
    body.write('bytes')
    expect(await recorded).toMatch(/^HTTP\/1\.1 201 /)
    body.destroy()
  })

  test('that trickles is cut, and one that comes in pieces is not', async () => {
    await using app = await makeApp({ slowest: { windowMs: 4000, bytesPerSecond: 1024 } })
    const ada = await app.signUp()
    const [slow, steady] = [
      await app.reserve(ada, Buffer.alloc(9000)),
      await app.reserve(ada, Buffer.alloc(9000))
    ]
    const trickling = await beginPatch(app, ada, slow.upload, 9000)
    const drip = setInterval(() => trickling.write('x'), 30)
    await expect.poll(() => trickling.closed).toBe(true)
    clearInterval(drip)

    const coming = await beginPatch(app, ada, steady.upload, 9000)
    const answered = new Promise<string>(resolve => {
      coming.once('data', chunk => resolve(`${chunk}`))
      coming.once('close', () => resolve('closed without an answer'))
    })
    for (let piece = 0; piece < 9; piece++) {
      coming.write(Buffer.alloc(1000))
      await sleep(50)
    }
    expect(await answered).toMatch(/^HTTP\/1\.1 204 /)
    coming.destroy()
  })
})

describe('a process that is late', () => {
  test('refuses strangers first, and tells that it lives', async () => {
    let late = 0
    await using app = await makeApp({ lagMs: () => late })
    const ada = await app.signUp()
    const ask = (path: string, token?: string) =>
      app.request('api.acme.localhost', {
        path,
        ...(token ? { headers: { authorization: `Bearer ${token}` } } : {})
      })
    late = 201
    const refused = await ask(`${getChallenge.path}?email=ada%40example.com`)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('2')
    expect((await ask('/user', ada.token)).status).toBe(200)
    expect((await ask('/healthz')).status).toBe(200)
    late = 200
    expect((await ask(`${getChallenge.path}?email=ada%40example.com`)).status).toBe(200)
  })
})

describe('reports of browsers', () => {
  test('are logged without what could be a secret, ten a minute for each address', async () => {
    await using app = await makeApp({ settings: { limits } })
    const body = {
      effectiveDirective: 'script-src-elem',
      documentURL: 'https://acme.localhost/en/reset?email=ada@example.com#t=secret',
      blockedURL: 'https://evil.example/x.js?token=secret'
    }
    const send = () =>
      app.request('api.acme.localhost', {
        method: receiveCspReports.method,
        path: receiveCspReports.path,
        headers: { 'content-type': 'application/reports+json', origin: 'http://acme.localhost' },
        body: JSON.stringify([{ type: 'csp-violation', body }])
      })
    for (let sent = 0; sent < 10; sent++) expect((await send()).status).toBe(204)
    expect((await send()).status).toBe(429)
    const told = app.logged.filter(
      ({ text }) => text === 'a browser reported a violation of the content security policy'
    )
    expect(told).toHaveLength(10)
    expect(told[0]?.facts).toMatchObject({
      csp: {
        directive: 'script-src-elem',
        page: 'acme.localhost/en/reset',
        blocked: 'evil.example/x.js'
      }
    })
    expect(JSON.stringify(app.logged)).not.toMatch(/secret|ada@example/)
  })
})

test('a refusal by a group carries its figures', async () => {
  await using app = await makeApp({ limits: { max_requests: 1, max_requests_interval: 'P1D' } })
  const ada = await app.signUp()
  await app.reserve(ada, randomBytes(10))
  const refusal = await app.reserve(ada, randomBytes(10)).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(AppError)
  expect(refusal).toMatchObject({ status: 429, figures: { used: 1, limit: 1 } })
})

/** Sends the head of a PATCH, and waits until the service has counted it as a running upload. */
async function beginPatch(app: TestApp, person: TestPerson, path: string, length: number) {
  const socket = await beginCall(app, person, `PATCH ${path}`, [
    'Tus-Resumable: 1.0.0',
    'Upload-Offset: 0',
    'Content-Type: application/offset+octet-stream',
    `Content-Length: ${length}`
  ])
  const id = path.split('/').at(-1)
  const leases = () => app.owner.query('select writer_until from upload where id = $1', [id])
  await expect.poll(async () => (await leases()).rows[0].writer_until).not.toBeNull()
  return socket
}

/** Sends the head of a `PUT /deposit`. Sends the first byte once the service asks for the body. */
async function beginPut(app: TestApp, person: TestPerson, length: number) {
  const query = new URLSearchParams({ name: 'a.pdf', category: person.category })
  const socket = await beginCall(app, person, `PUT ${putDeposit.path}?${query}`, [
    'Expect: 100-continue',
    `Content-Length: ${length}`
  ])
  await once(socket, 'readable')
  const said = String(socket.read())
  if (said.startsWith('HTTP/1.1 100')) socket.write('x')
  else socket.unshift(said)
  return socket
}

async function beginCall(app: TestApp, person: TestPerson, target: string, headers: string[]) {
  const socket = connect(await app.listen(), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = [
    `${target} HTTP/1.1`,
    `Host: api.${person.host}`,
    `Authorization: Bearer ${person.token}`,
    ...headers
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return socket
}

async function answerOf(socket: Socket): Promise<string> {
  const [piece] = await once(socket, 'data')
  return String(piece)
}
