import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { suspendCompany } from '../../src/contract/companies.ts'
import { createDomain, publishTheme, saveThemeDraft } from '../../src/contract/domains.ts'
import { openLogFiles } from '../../src/server/adapters/log-files.ts'
import { type Client, fetchAt, signUpAt } from '../helpers/client.ts'
import { openStream } from '../helpers/event-stream.ts'
import { makeKey, policyLeaf, sha256 } from '../helpers/evidence/evidence-log.ts'
import { writeTestLog } from '../helpers/evidence/written-log.ts'
import { retryFor } from '../helpers/retry-for.ts'
import { makeEdgeProcess } from '../helpers/servers/edge.ts'
import { listenLocally } from '../helpers/servers/listen.ts'
import { sendRawRequest } from '../helpers/servers/shared-cache.ts'
import { freePort, makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'

const secret = 'a secret of the site that is long enough'

type EdgeProcess = Awaited<ReturnType<typeof makeEdgeProcess>>

let api: ServiceProcess
let node: ServiceProcess
let edge: EdgeProcess
let ada: Client
const settings: Record<string, string> = {}
beforeAll(async () => {
  const port = await freePort()
  Object.assign(settings, { PORT: String(port), PUBLIC_URL: `http://localhost:${port}` })
  const { PUBLIC_URL = '' } = settings
  api = await makeServiceProcess({ ROLE: 'api', SITE_SECRET: secret, PUBLIC_URL, DEV: 'true' })
  Object.assign(settings, {
    API_INTERNAL_URL: `http://127.0.0.1:${api.port}`,
    CLIENT_ADDRESS_HEADER: 'client-address'
  })
  const { API_INTERNAL_URL = '' } = settings
  const site = { API_INTERNAL_URL, SITE_SECRET: secret, PUBLIC_URL }
  node = await makeServiceProcess({ ROLE: 'web', ...site })
  edge = await makeEdgeProcess({ ...settings, SITE_SECRET: secret })
  await Promise.all([api.start(), node.start(), edge.start()])
  const key = makeKey(origin, 1)
  const leaves = [policyLeaf(origin, key)]
  await writeTestLog(openLogFiles(join(api.dataDir, 'log')), { origin, key, leaves })
  await retryFor(1, async () =>
    expect(await statusOf(api, 'http://demo.localhost/log/policy')).toBe(200)
  )
  ada = await signUpAt(api.port, 'localhost')
  await api.query(`update "user" set permissions = '{admin,operator}'`)
})
afterAll(async () => {
  await edge[Symbol.asyncDispose]()
  await node[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const origin = 'elsewhere.example/log'
const log = `/logs/${sha256(origin).toString('hex')}`
const build = `/_i18n/{build}/fr/messages.json`
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0'

/** Each with its status, and headers besides the host `localhost`. */
const addresses: [path: string, status: number, headers?: string[], method?: string][] = [
  ['/', 200],
  ['/', 200, ['accept-language', 'fr-CA, en;q=0.5']],
  ['/', 200, ['cookie', 'a=b; i18n_redirected=fr', 'accept-language', 'en']],
  ['/en', 200, ['user-agent', firefox]],
  ['/fr/', 200],
  ['/en?a=b', 200, ['host', 'demo.localhost:9']],
  ['/en/verify', 200],
  ['/fr/verify', 200, ['host', 'demo.localhost']],
  ['/en/verify', 200, ['if-none-match', '"other"'], 'HEAD'],
  ['/en/verify', 304, ['if-none-match', '*']],
  ['/verify?next=%2F%2Fevil&a=b', 302, ['accept-language', 'fr']],
  ['//evil.localhost//verify/', 404],
  ['//verify', 302],
  ['/deposit', 302, ['cookie', 'i18n_redirected=fr']],
  ['/en/deposit', 200],
  ['/fr/admin/7/groups/8', 200],
  ['/en/sign-up', 200, ['x-forwarded-host', 'evil.test', 'x-forwarded-proto', 'https']],
  ['/en/docs/calls', 200],
  ['/en/404', 404],
  ['/nothing/here', 404],
  ['/nothing/here', 404, ['user-agent', 'Googlebot/2.1']],
  ['/%c3%a9t%C3%A9/%2e%2e/en', 404],
  ['/_astro/none.js', 404],
  ['/_astro/{script}', 200],
  ['/_astro/{style}', 200, ['if-none-match', 'W/"a", "b"']],
  ['/_astro/{worker}', 200],
  ['/kdf-a1.json', 200],
  [build, 200],
  ['/_i18n/another/en/messages.json', 200],
  ['/builds/latest.json?1', 200],
  ['/robots.txt', 200],
  ['/.well-known/change-password', 302, ['accept-language', 'fr']],
  ['/.well-known/security.txt', 404],
  [`${log}/checkpoint`, 200],
  [`${log}/policy`, 200, ['origin', 'https://reader.example']],
  [`${log}/tile/0/000.p/1`, 200],
  [`${log}/tile/entries/000.p/1`, 200, ['if-none-match', '*']],
  [`${log}/tile/entries/000.p/1`, 200, [], 'HEAD'],
  [`${log}/tile/0/000`, 404],
  [`${log}/checkpoint?x`, 404],
  [`${log}/checkpoint`, 204, ['origin', 'https://reader.example'], 'OPTIONS'],
  [`${log}/checkpoint`, 405, ['content-length', '0'], 'POST'],
  [`${log}/checkpoint`, 421, ['host', 'nobody.localhost']],
  ['/log/policy', 200, ['host', 'demo.localhost']],
  ['/log/nothing', 404, ['host', 'demo.localhost']],
  ['/log/', 404],
  ['/log', 404],
  ['/en/verify', 405, ['content-length', '0'], 'POST'],
  ['/en/verify', 405, [], 'OPTIONS'],
  ['/en', 421, ['host', 'nobody.localhost']],
  ['/en', 421, ['host', 'evil.test']],
  ['/localhost', 421, ['host', 'api.nobody.localhost']],
  ['/localhost', 404, ['site-secret', secret]],
  ['/en', 400, ['host', 'localhost:99999']],
  ['/en', 400, ['host', '-localhost']],
  ['/en', 400, ['host', 'local_host']],
  ['/en', 200, ['host', 'LOCALHOST.:1']]
]

test('both adapters answer alike', async () => {
  const found = placeholders()
  for (const [written, status, headers = [], method = 'GET'] of addresses) {
    const path = written.replace(/\{(\w+)\}/, (_, name) => found[name] ?? '')
    const host = headers.includes('host') ? [] : ['host', 'localhost']
    const ask = (port: number) => sendRawRequest(port, method, path, [...host, ...headers])
    const [ours, its] = await Promise.all([ask(edge.port), ask(node.port)])
    const name = `${method} ${path} ${headers.join(' ')}`
    expect({ name, ...shown(ours) }).toEqual({ name, ...shown(its) })
    expect([name, ours.status]).toEqual([name, status])
    if (status === 200 && method === 'GET') {
      const etag = String(ours.headers.etag)
      const condition = ['if-none-match', etag]
      const again = await sendRawRequest(edge.port, method, path, [
        ...host,
        ...headers,
        ...condition
      ])
      if (ours.headers.etag) expect([name, again.status]).toEqual([name, 304])
    }
  }
  expect(addresses.length).toBeGreaterThanOrEqual(35)
})

/** Headers that belong to the connection, or that each server writes in its own way. */
const ofConnection = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

function shown({ status, headers, body }: Awaited<ReturnType<typeof sendRawRequest>>) {
  const kept = Object.entries(headers).filter(([name]) => !ofConnection.includes(name))
  return { status, headers: Object.fromEntries(kept.sort()), body: body.toString() }
}

function placeholders(): Record<string, string> {
  const { id } = JSON.parse(readFileSync('dist/build.json', 'utf8'))
  const names = readdirSync('dist/client/_astro')
  const first = (pattern: RegExp) => names.find(name => pattern.test(name)) ?? ''
  return {
    build: id,
    script: first(/^(?!worker-).*\.js$/),
    style: first(/\.css$/),
    worker: first(/^worker-.*\.js$/)
  }
}

const statusOf = async (at: { port: number }, url: string) => (await fetchAt(at.port)(url)).status
const pageOf = async (at: { port: number }, url: string) => (await fetchAt(at.port)(url)).text()

/** Calls the API, then waits until both sites show what is expected. */
async function expectWithinTwoSeconds(
  change: () => Promise<unknown>,
  expectation: (at: { port: number }) => Promise<void>
) {
  // both know what was before
  for (const at of [edge, node]) await expect(expectation(at)).rejects.toThrow()
  await change()
  const changed = performance.now()
  for (const at of [edge, node]) await retryFor(1, () => expectation(at))
  expect(performance.now() - changed).toBeLessThan(2000)
}

test('a new look, a new host and a suspension are seen within two seconds', async () => {
  const [domain] = await api.query<{ id: string }>(`select id from domain where host = 'localhost'`)
  const { id = '' } = domain ?? {}
  await expectWithinTwoSeconds(
    async () => {
      await ada.call(saveThemeDraft, { id, colors: { dark: false, primary: '#0a5c36' } })
      await ada.call(publishTheme, { id })
    },
    async at => expect(await pageOf(at, 'http://localhost/en')).toContain('#0a5c36')
  )
  const host = 'branch.localhost'
  await expectWithinTwoSeconds(
    () => ada.call(createDomain, { host, public: true }),
    async at => expect(await statusOf(at, `http://${host}/en`)).toBe(200)
  )
  await confirmSessions()
  const [demo] = await api.query<{ company_id: string }>(
    `select company_id from domain where host = 'demo.localhost'`
  )
  await expectWithinTwoSeconds(
    () => ada.call(suspendCompany, { id: demo?.company_id ?? '', reason: 'payment' }),
    async at => expect(await pageOf(at, 'http://demo.localhost/en/verify')).toContain('is paused')
  )
})

async function confirmSessions(): Promise<void> {
  await api.query('update session set confirmed_until = $1', [new Date(Date.now() + 299_000)])
}

test('calls, uploads and streams pass through the edge', async () => {
  const stream = await openStream(edge.port, { host: 'localhost', token: ada.token() })
  await stream.next()
  const bytes = Buffer.alloc(300_000, 'through the edge')
  const { request, upload } = await ada.reserve(bytes, 'edge', { fetch: fetchAt(edge.port) })
  expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({ id: request.id })
  const sent = await ada.tus('PATCH', upload, { at: edge.port, offset: 0, body: bytes })
  expect([sent.status, sent.body.toString()]).toEqual([204, ''])
  const head = await ada.tus('HEAD', upload, { at: edge.port })
  expect(head.headers['upload-offset']).toBe(String(bytes.length))
  stream.close()
})

test('the API learns a visitor’s address from the header that the settings name, and from no other', async () => {
  const echo = createServer((request, response) => {
    response.end(JSON.stringify(request.headers))
  })
  const target = `http://127.0.0.1:${await listenLocally(echo)}`
  const PORT = String(await freePort())
  await using asking = await makeEdgeProcess({ ...settings, PORT, API_INTERNAL_URL: target })
  await asking.start()
  const told = [
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-real-ip'
  ]
  const ask = async (headers: string[]) => {
    const written = ['host', 'api.localhost:1', ...told.flatMap(name => [name, 'evil']), ...headers]
    const answer = await sendRawRequest(asking.port, 'GET', '/user', [
      ...['site-secret', secret],
      ...written
    ])
    return JSON.parse(answer.body.toString())
  }
  expect(await ask([])).toEqual({ host: 'api.localhost:1', via: '1.1 edge' })
  expect(await ask(['client-address', '192.0.2.7'])).toEqual({
    host: 'api.localhost:1',
    via: '1.1 edge',
    'client-address': '192.0.2.7',
    'x-forwarded-for': '192.0.2.7'
  })
  echo.close()
})

test('a visitor who leaves takes nothing from those who wait for the same', async () => {
  for (let round = 0; round < 5; round++) {
    await sleep(1100) // what is known of the host grows old
    for (let each = 0; each < 20; each++) {
      const socket = connect(edge.port, '127.0.0.1', () => {
        socket.end(`GET /en/docs HTTP/1.1\r\nhost: localhost\r\nx: ${each}\r\n\r\n`)
        socket.resetAndDestroy()
      })
      socket.on('error', () => undefined)
    }
    expect(await statusOf(edge, 'http://localhost/en/docs')).toBe(200)
  }
  expect(edge.log()).not.toContain('different request context')
})

test('a wrong secret gets no company’s page, and none that of the host that is asked for', async () => {
  await using stranger = await makeEdgeProcess({
    ...settings,
    PORT: String(await freePort()),
    SITE_SECRET: secret.toUpperCase()
  })
  await using alone = await makeEdgeProcess({ ...settings, PORT: String(await freePort()) })
  await Promise.all([stranger.start(), alone.start()])
  expect(await statusOf(stranger, 'http://localhost/en/verify')).toBe(503)
  expect(await statusOf(stranger, 'http://localhost/kdf-a1.json')).toBe(200)
  expect(await pageOf(alone, 'http://localhost/en/verify')).toBe(
    await pageOf(node, 'http://localhost/en/verify')
  )
  expect(await statusOf(alone, 'http://nobody.localhost/en/verify')).toBe(421)
})

test('hosts that the runtime refuses by itself get no page', async () => {
  const hosts = [
    ['exa mple'],
    ['a@localhost'],
    ['localhost/x'],
    ['localhost', 'demo.localhost'],
    []
  ]
  for (const names of hosts) {
    const headers = names.flatMap(name => ['host', name])
    const { status, body } = await sendRawRequest(edge.port, 'GET', '/en', headers)
    expect([names, [400, 500].includes(status), body.length < 100]).toEqual([names, true, true])
  }
})

test('while the API is away, known pages are served, others say so, and nothing wrong is kept', async () => {
  for (const at of [edge, node]) {
    expect(await statusOf(at, 'http://localhost/en')).toBe(200)
    expect(await statusOf(at, 'http://nobody.localhost/en')).toBe(421)
  }
  await api.kill()
  const away = Date.now()
  const lost = new Set<string>()
  for (let second = 0; Date.now() - away < 10_000; second++) {
    for (const at of [edge, node]) {
      expect(await statusOf(at, 'http://localhost/en')).toBe(200)
      // not rendered before, of a host that is known
      expect(await statusOf(at, 'http://localhost/fr/docs/errors')).toBe(200)
      const page = await fetchAt(at.port)(`http://other${second}.localhost/fr`)
      lost.add(`${page.status} ${page.headers.get('cache-control')}`)
      expect(await page.text()).toContain('Erreur interne')
      expect(await statusOf(at, `http://other${second}.localhost/robots.txt`)).toBe(503)
      expect(await statusOf(at, `http://localhost${log}/checkpoint`)).toBe(503)
    }
    expect(await statusOf(edge, 'http://api.localhost/localhost')).toBe(503)
    await sleep(500)
  }
  expect([...lost]).toEqual(['503 no-store'])
  await api.start()
  for (const at of [edge, node]) {
    await retryFor(1, async () => {
      expect(await statusOf(at, 'http://other0.localhost/en')).toBe(421)
    })
    expect(await statusOf(at, 'http://localhost/en')).toBe(200)
  }
  expect(await statusOf(edge, 'http://api.localhost/localhost')).toBe(200)
})
