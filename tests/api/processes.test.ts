import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createDomain, deleteDomain, updateDomain } from '../../src/contract/domains.ts'
import { logOut } from '../../src/contract/sessions.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { type Client, fetchAt, signUpAt } from '../helpers/client.ts'
import { openStream } from '../helpers/event-stream.ts'
import { retryFor } from '../helpers/retry-for.ts'
import { makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'

const bytes = Buffer.alloc(64, 'processes')
const withoutDemo = { DEMO: 'false' }

let first: ServiceProcess
let second: ServiceProcess
let ada: Client
beforeAll(async () => {
  first = await makeServiceProcess(withoutDemo)
  second = await makeServiceProcess({ ...withoutDemo, DATA_DIR: first.dataDir })
  await Promise.all([first.start(), second.start()])
  ada = await signUpAt(first.port, 'localhost')
}, 300_000)
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

test('two that start together on an empty folder hold the same keys', async () => {
  const answer = await fetchAt(second.port)('http://api.localhost/user', {
    headers: { authorization: `Bearer ${ada.token()}` }
  })
  expect(answer.status).toBe(200)
})

test('a stream of one process tells at once what another does', async () => {
  const stream = await openStream(second.port, { host: 'localhost', token: ada.token() })
  await stream.next()
  const waits: number[] = []
  for (const key of ['one', 'two', 'three', 'four', 'five']) {
    const started = performance.now()
    const { request } = await ada.reserve(bytes, key)
    const event = await stream.next()
    waits.push(performance.now() - started)
    expect(JSON.parse(event?.data ?? '')).toMatchObject({ id: request.id })
  }
  stream.close()
  // untold it would look every two seconds, and each of them would take nearly as long
  expect(waits.sort((a, b) => a - b)[2]).toBeLessThan(1000)
})

test('a domain changed in one process shows on the next page of both', async () => {
  await first.query(`update "user" set permissions = '{admin}'`)
  const [domain] = await first.query(`select id, version from domain where host = 'localhost'`)
  const page = async (port: number) => (await fetchAt(port)('http://localhost/en')).text()
  await page(first.port)
  await page(second.port)
  const title = `Deeds ${Date.now()}`
  const { version } = await ada.call(updateDomain, { id: String(domain?.id), title })
  expect(version).toBe(Number(domain?.version) + 1)
  expect(await page(first.port)).toContain(title)
  await vi.waitFor(async () => expect(await page(second.port)).toContain(title))
})

test('a session that ends in one process ends its streams in another at once', async () => {
  const eve = await signUpAt(first.port, 'localhost')
  const stream = await openStream(second.port, { host: 'localhost', token: eve.token() })
  await stream.next()
  await eve.call(logOut, {})
  expect(await stream.ended()).toBeLessThan(2000)
  expect(stream.events.at(-1)?.event).toBe('bye')
})

test('a host added in one process is served by the other, until it is removed', async () => {
  const host = 'branch.localhost'
  await first.query(`update "user" set permissions = '{admin}'`)
  const added = await ada.call(createDomain, { host, public: true })
  expect(added.state).toBe('verified')
  const page = async () => (await fetchAt(second.port)(`http://${host}/en`)).status
  await vi.waitFor(async () => expect(await page()).toBe(200), 2000)
  const eve = await signUpAt(second.port, host)
  const stream = await openStream(second.port, { host, token: eve.token() })
  await stream.next()
  const until = new Date(Date.now() + 299_000)
  await first.query('update session set confirmed_until = $1', [until])
  await ada.call(deleteDomain, { id: added.id })
  expect(await stream.ended()).toBeLessThan(2000)
  await vi.waitFor(async () => expect(await page()).toBe(421), 2000)
  const late = await fetchAt(second.port)(`http://api.${host}/user`, {
    headers: { authorization: `Bearer ${eve.token()}` }
  })
  expect(late.status).toBe(421)
})

test('both go on after a crash of the database, and streams miss nothing', async () => {
  const stream = await openStream(second.port, { host: 'localhost', token: ada.token() })
  await stream.next()
  await first.killDatabase()
  const before = performance.now()
  const made = await retryFor(1, () => ada.reserve(bytes, 'after-the-crash'))
  expect(performance.now() - before).toBeLessThan(20_000)
  for (;;) {
    const event = await stream.next()
    if (event === undefined) throw new Error('the stream ended')
    if (event.event === undefined && JSON.parse(event.data).id === made.request.id) break
  }
  stream.close()
})

test('comes up on an empty database of the operator', async () => {
  await using service = await makeServiceProcess({
    DATABASE_URL: await emptyDatabase(),
    ...withoutDemo
  })
  await service.start()
  await signUpAt(service.port, 'localhost')
  expect(await service.stop()).toBe(0)
})

test('taken ports and an undeclared proxy are said before a database is made', async () => {
  const { port, managementPort } = first
  await using service = await makeServiceProcess({
    PORT: String(port),
    MANAGEMENT_PORT: String(managementPort),
    PUBLIC_URL: 'https://docs.example.org'
  })
  // the other's readiness answers on that port, so this start is not to be waited for
  await service.start().catch(() => undefined)
  expect(await service.ended()).toBe(1)
  const taken = 'is already in use, perhaps by another Vidimus: stop that program, or choose'
  expect(service.log().trim().split('\n')).toEqual([
    'PUBLIC_URL is https, so a proxy must be in front, but TRUSTED_PROXIES is empty: everyone would count as one visitor. Set it to the proxy’s network, such as TRUSTED_PROXIES=127.0.0.1 for a proxy on this machine.',
    `Port ${port}, for pages and API, ${taken} another port, such as PORT=${port + 10}.`,
    `Port ${managementPort}, for health checks, ${taken} another port, such as MANAGEMENT_PORT=${managementPort + 10}.`
  ])
  expect(await readdir(service.dataDir)).toEqual(['documents'])
})

test('a start that is refused says why and ends with 1', async () => {
  await using refused = await makeServiceProcess({ TRUSTED_PROXIES: '0.0.0.0/0' })
  await expect(refused.start()).rejects.toThrow(
    'TRUSTED_PROXIES contains 0.0.0.0/0, which is everyone: list only your own proxies.'
  )
  expect(await refused.stop()).toBe(1)
  // before keys and database are made: what reads the networks after them would refuse them, too
  expect(await readdir(refused.dataDir)).toEqual(['documents'])
})

// the last two, because they end what the other tests use
test('a closed terminal ends the service and its database', async () => {
  expect(await second.stop()).toBe(0)
  expect(await first.end('SIGHUP')).toBe(0)
  await expect(first.socketDir()).rejects.toThrow('the database is not running')
})

test.runIf(process.platform === 'linux')(
  'speaks plainly in a terminal, and ends when that is closed',
  async () => {
    // util-linux's own: the service sees a terminal, and closing it is killing this program
    const terminal = spawn(
      'script',
      ['-qec', `'${process.execPath}' src/server/main.ts`, '/dev/null'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          PATH: process.env.PATH,
          NO_COLOR: '1',
          SHELL: '/bin/sh',
          DATA_DIR: first.dataDir,
          PORT: String(first.port),
          MANAGEMENT_PORT: String(first.managementPort),
          ...withoutDemo
        }
      }
    )
    let said = ''
    for await (const chunk of terminal.stdout) {
      said += chunk
      if (said.includes('Stop ')) break
    }
    const lines = said.split('\r\n').map(line => line.trim())
    expect(lines).toContain('Vidimus is running.')
    expect(lines).toContainEqual(
      expect.stringMatching(/^Setup +http:\/\/localhost:\d+\/en\/setup#/)
    )
    expect(lines).toContain(`Site           http://localhost:${first.port}`)
    for (const strange of ['{', '\u001b']) expect(said).not.toContain(strange)
    await first.socketDir()
    terminal.kill('SIGKILL')
    await vi.waitFor(() => expect(first.socketDir()).rejects.toThrow('not running'))
  }
)

/**
 * Creates an empty database on the database server of `first`. Returns its URL, for `DATABASE_URL`.
 */
async function emptyDatabase(): Promise<string> {
  const socketDir = await first.socketDir()
  const owner = new pg.Client(socketConnectionConfig(socketDir, 'postgres', 'postgres'))
  await owner.connect()
  await owner.query('create database given')
  await owner.end()
  return `postgres:///given?host=${socketDir}&user=postgres`
}
