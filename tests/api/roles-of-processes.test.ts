import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchAt, signUpAt } from '../helpers/client.ts'
import { retryFor } from '../helpers/retry-for.ts'
import { sendRawRequest } from '../helpers/servers/shared-cache.ts'
import { makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'

const secret = 'a secret of the site that is long enough'

let api: ServiceProcess
let web: ServiceProcess
let stranger: ServiceProcess
beforeAll(async () => {
  api = await makeServiceProcess({ ROLE: 'api', SITE_SECRET: secret, DEMO: 'false' })
  await api.start()
  const site = { ROLE: 'web', API_INTERNAL_URL: `http://127.0.0.1:${api.port}` }
  web = await makeServiceProcess({ ...site, SITE_SECRET: secret })
  stranger = await makeServiceProcess({ ...site, SITE_SECRET: secret.toUpperCase() })
  await Promise.all([web.start(), stranger.start()])
})
afterAll(async () => {
  await stranger[Symbol.asyncDispose]()
  await web[Symbol.asyncDispose]()
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

test('a process of the API serves the API alone, and one of the site pages alone', async () => {
  await signUpAt(api.port, 'localhost')
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

test('while the API is away, known pages are served, others say so, and nothing wrong is kept', async () => {
  expect(await statusOf(web, '/en')).toBe(200)
  expect(await statusOf(web, '/en', 'nobody.localhost')).toBe(421)
  await api.kill()
  expect(await statusOf(web, '/en')).toBe(200)
  const lost = await ask(web, '/fr', 'other.localhost')
  expect(lost.status).toBe(503)
  expect(await lost.text()).toContain('Erreur interne')
  await api.start()
  await retryFor(1, async () => {
    expect(await statusOf(web, '/en', 'other.localhost')).toBe(421)
  })
  expect(await statusOf(web, '/en')).toBe(200)
})

test('a process of the site says what it lacks', async () => {
  await using lost = await makeServiceProcess({ ROLE: 'web' })
  await expect(lost.start()).rejects.toThrow('ROLE=web needs API_INTERNAL_URL and SITE_SECRET.')
})
