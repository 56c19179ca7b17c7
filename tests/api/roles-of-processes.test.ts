import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createCompany, suspendCompany } from '../../src/contract/companies.ts'
import { updateDomain } from '../../src/contract/domains.ts'
import { openLogFiles } from '../../src/server/adapters/log-files.ts'
import { type Client, fetchAt, signUpAt } from '../helpers/client.ts'
import { makeKey, policyLeaf, sha256 } from '../helpers/evidence/evidence-log.ts'
import { writeTestLog } from '../helpers/evidence/written-log.ts'
import { retryFor } from '../helpers/retry-for.ts'
import { sendRawRequest } from '../helpers/servers/shared-cache.ts'
import { makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'

const secret = 'a secret of the site that is long enough'

let api: ServiceProcess
/** On the same database. */
let others: ServiceProcess[]
let web: ServiceProcess
let stranger: ServiceProcess
beforeAll(async () => {
  // of a day and an hour, so that a slow machine does not reach the next period
  const common = {
    ROLE: 'api',
    SITE_SECRET: secret,
    LIMIT_VERIFY_PER_ADDRESS_DAY: '60',
    LIMIT_MAILS_PER_ADDRESS_HOUR: '60'
  }
  api = await makeServiceProcess({ ...common, DEMO: 'false' })
  await api.start()
  const other = { ...common, DATA_DIR: api.dataDir, POOL_SIZE: '8' }
  others = [
    await makeServiceProcess(other),
    await makeServiceProcess({ ...other, MANAGEMENT_HOST: '127.0.0.2' })
  ]
  const site = { ROLE: 'web', API_INTERNAL_URL: `http://127.0.0.1:${api.port}` }
  web = await makeServiceProcess({ ...site, SITE_SECRET: secret })
  stranger = await makeServiceProcess({ ...site, SITE_SECRET: secret.toUpperCase() })
  await Promise.all([web, stranger, ...others].map(each => each.start()))
})
afterAll(async () => {
  await stranger[Symbol.asyncDispose]()
  await web[Symbol.asyncDispose]()
  for (const other of others) await other[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

const ask = (at: ServiceProcess, path: string, host = 'localhost') =>
  fetchAt(at.port)(`http://${host}${path}`)
const statusOf = async (at: ServiceProcess, path: string, host?: string) =>
  (await ask(at, path, host)).status

test('a process of the site serves pages without database, keys and data', async () => {
  const page = await ask(web, '/en/verify')
  expect(page.status).toBe(200)
  expect(await page.text()).toContain('· Vidimus</title>')
  expect(await statusOf(web, '/kdf-a1.json')).toBe(200)
  expect(await statusOf(web, '/.well-known/change-password')).toBe(302)
  expect(existsSync(web.dataDir)).toBe(false)
  expect(await web.readiness()).toEqual({ status: 200, connections: true })
})

let ada: Client
test('a process of the API serves the API alone, and one of the site pages alone', async () => {
  ada = await signUpAt(api.port, 'localhost')
  expect(await statusOf(api, '/localhost', 'api.localhost')).toBe(200)
  expect(await statusOf(api, '/en/verify')).toBe(421)
  expect(await statusOf(web, '/localhost', 'api.localhost')).toBe(421)
  expect(existsSync(join(api.dataDir, 'documents'))).toBe(true)
})

test('a host of nobody is misdirected, and a wrong secret gets no company’s page', async () => {
  expect(await statusOf(web, '/en/verify', 'nobody.localhost')).toBe(421)
  expect(await statusOf(stranger, '/en/verify')).toBe(503)
  const asked = (header: string[]) => sendRawRequest(api.port, 'GET', '/localhost', header)
  const right = await asked(['host', 'api.internal', 'site-secret', secret])
  expect(right.status).toBe(200)
  expect(JSON.parse(right.body.toString())).toMatchObject({ config: { name: 'Vidimus' } })
  for (const wrong of ['', secret.slice(1), `${secret}a`]) {
    const answer = await asked(['host', 'localhost', 'site-secret', wrong])
    expect([answer.status, answer.body.toString()]).toEqual([403, '{}'])
  }
})

test('the files of logs are read at every process, and a process of the site asks the API for them', async () => {
  const origin = 'elsewhere.example/log'
  const key = makeKey(origin, 1)
  const leaves = [policyLeaf(origin, key), ...Array.from({ length: 299 }, (_, i) => `{"v":${i}}`)]
  await writeTestLog(openLogFiles(join(api.dataDir, 'log')), { origin, key, leaves })
  const base = `/logs/${sha256(origin).toString('hex')}`
  await retryFor(1, async () => expect(await statusOf(api, '/log/policy')).toBe(200))
  const asked: [path: string, status: number, method?: string][] = [
    [`${base}/checkpoint`, 200],
    [`${base}/policy`, 200],
    [`${base}/tile/0/000`, 200],
    [`${base}/tile/0/001.p/44`, 200],
    [`${base}/tile/entries/000`, 200],
    [`${base}/tile/0/000`, 200, 'HEAD'],
    [`${base}/tile/0/001`, 404],
    [`${base}/checkpoint?x`, 404],
    ['/log/policy', 200],
    ['/log/nothing', 404],
    [`${base}/checkpoint`, 204, 'OPTIONS'],
    [`${base}/checkpoint`, 405, 'POST']
  ]
  for (const [path, status, method = 'GET'] of asked) {
    const answers = await Promise.all(
      [web, api].map(({ port }) => sendRawRequest(port, method, path, ['host', 'localhost']))
    )
    const [passed, own] = answers.map(({ status, headers, body }) => {
      const { date: _, connection: __, 'keep-alive': ___, ...kept } = headers
      return { status, headers: kept, body: body.toString('hex') }
    })
    expect([method, path, own?.status]).toEqual([method, path, status])
    expect({ path, ...passed }).toEqual({ path, ...own })
  }
  for (const at of [web, api]) {
    expect(await statusOf(at, `${base}/checkpoint`, 'nobody.localhost')).toBe(421)
  }
})

test('a change of a company shows on its pages within two seconds', async () => {
  await ask(web, '/en/verify')
  await api.query(`update domain set title = 'Orchard', version = version + 1`)
  const started = performance.now()
  await retryFor(1, async () => {
    expect(await (await ask(web, '/en/verify')).text()).toContain('· Orchard</title>')
  })
  // one second each at the API, which was told nothing by this statement, and at the site
  expect(performance.now() - started).toBeLessThan(10_000)
})

test('a look, a host and a suspension show in every process within two seconds', async () => {
  await api.query(`update "user" set permissions = '{admin,operator}'`)
  await api.query(`update session set confirmed_until = now() + interval '1 minute'`)
  const [domain] = await api.query(`select id from domain where host = 'localhost'`)
  const configOf = async (at: ServiceProcess, host = 'localhost') =>
    (await ask(at, `/${host}`, `api.${host}`)).text()
  const everywhere = (check: (read: () => Promise<string>) => Promise<void>, host?: string) =>
    vi.waitFor(
      () =>
        Promise.all([
          check(async () => (await ask(web, '/en', host)).text()),
          ...[api, ...others].map(at => check(() => configOf(at, host)))
        ]),
      2000
    )
  const theme = { colors: { dark: false, primary: '#0a5c36' } }
  await ada.call(updateDomain, { id: String(domain?.id), theme })
  await everywhere(async read => expect(await read()).toContain('#0a5c36'))
  const host = 'branch.localhost'
  const company = { name: 'Branch', host, email: 'eve@example.com' }
  const { id } = await ada.call(createCompany, company)
  await everywhere(async read => expect(await read()).toContain('Branch'), host)
  await ada.call(suspendCompany, { id, reason: 'left' })
  await everywhere(async read => expect(await read()).toMatch(/"paused"|data-paused/), host)
})

test('as many calls use the database at once as POOL_SIZE says', async () => {
  const most = async (at: ServiceProcess) => {
    let isLocked = true
    const locked = api
      .query('begin; lock table rate_count in exclusive mode; select pg_sleep(2.5); commit')
      .finally(() => {
        isLocked = false
      })
    const held = `select 1 from pg_locks where mode = 'ExclusiveLock' and relation = 'rate_count'::regclass`
    await retryFor(1, async () => expect(await api.query(held)).toHaveLength(1))
    const challenge = 'http://api.localhost/user/login/challenge?email=ada@example.com'
    const calls = Array.from({ length: 40 }, () => fetchAt(at.port)(challenge))
    let waiting = 0
    while (isLocked) {
      const rows = await api.query<{ pid: number }>(
        `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%count_rates%'`
      )
      waiting = Math.max(waiting, rows.length)
    }
    await Promise.all([locked, ...calls])
    return waiting
  }
  const [small] = others
  if (!small) throw new Error('there is one process')
  expect([await most(small), await most(api)]).toEqual([8, 16])
})

// B-11
test('three processes allow no more guesses, look-ups and mails than one, and a crash of the database ends no limit', async () => {
  const processes = [api, ...others]
  const statuses = async (call: (at: ServiceProcess) => Promise<Response>) => {
    const calls = Array.from({ length: 30 }, () =>
      processes.map(async at => (await call(at)).status)
    )
    const all = (await Promise.all(calls.flat())).map(String)
    return Object.fromEntries(
      Map.groupBy(all, status => status)
        .entries()
        .map(([status, { length }]) => [status, length])
    )
  }
  const wrongKey = { authorization: `Bearer vdm_${'A'.repeat(48)}` }
  const guess = (at: ServiceProcess) =>
    fetchAt(at.port)('http://api.localhost/user', { headers: wrongKey })
  const post = (at: ServiceProcess, path: string, body: object) =>
    fetchAt(at.port)(`http://api.localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
  const lookUp = (at: ServiceProcess) =>
    post(at, '/verify', { items: [{ sha256: 'ab'.repeat(32) }] })
  const mail = (at: ServiceProcess) =>
    post(at, '/user/reset/request', { email: `${randomUUID()}@example.com` })
  expect(await statuses(guess)).toEqual({ 401: 60, 429: 30 })
  expect(await statuses(lookUp)).toEqual({ 200: 60, 429: 30 })
  expect(await statuses(mail)).toEqual({ 202: 60, 429: 30 })
  // a commit that waits for the disk, and so for the counts before it
  await api.query('update session set confirmed_until = null')
  await api.killDatabase()
  const during = await statuses(lookUp)
  expect(during).not.toHaveProperty('200')
  const challenge = '/user/login/challenge?email=ada@example.com'
  for (const at of processes) {
    await retryFor(1, async () => expect(await statusOf(at, challenge, 'api.localhost')).toBe(200))
  }
  // so long a process repeats refusals from its memory
  await sleep(1100)
  expect(await statuses(lookUp)).toEqual({ 429: 90 })
  expect(await statuses(mail)).toEqual({ 429: 90 })
  const counters = await api.query(
    'select octet_length(counter) as length from rate_count group by 1'
  )
  expect(counters).toEqual([{ length: 16 }])
})

test('while the API is away, known pages are served, others say so, and nothing wrong is kept', async () => {
  expect(await statusOf(web, '/en')).toBe(200)
  expect(await statusOf(web, '/en', 'nobody.localhost')).toBe(421)
  await api.kill()
  expect(await statusOf(web, '/en')).toBe(200)
  const lost = await ask(web, '/fr', 'other.localhost')
  expect(lost.status).toBe(503)
  expect(await lost.text()).toContain('Erreur interne')
  expect(await statusOf(web, '/log/checkpoint')).toBe(503)
  await api.start()
  await retryFor(1, async () => {
    expect(await statusOf(web, '/en', 'other.localhost')).toBe(421)
  })
  expect(await statusOf(web, '/en')).toBe(200)
  expect(await statusOf(web, '/log/nothing')).toBe(404)
})

test('a process of the site says what it lacks', async () => {
  await using lost = await makeServiceProcess({ ROLE: 'web' })
  await expect(lost.start()).rejects.toThrow('ROLE=web needs API_INTERNAL_URL and SITE_SECRET.')
})
