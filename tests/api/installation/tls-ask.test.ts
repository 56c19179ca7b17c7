import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { allowCertificateAlways } from '../../../src/server/domain/companies/certificate-names.ts'
import {
  type ServedHosts,
  watchServedHosts
} from '../../../src/server/domain/companies/served-hosts.ts'
import { createCertificateJudge, startManagementServer } from '../../../src/server/management.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { makeDomain } from '../../helpers/cases.ts'
import { freePort } from '../../helpers/service.ts'

let app: TestApp
let served: ServedHosts
let management: AsyncDisposable
let port: number
beforeAll(async () => {
  app = await makeApp()
  served = await watchServedHosts(app.deps)
  port = await freePort()
  management = await startManagementServer({
    port,
    host: '127.0.0.1',
    log: app.deps.log,
    check: async () => ({}),
    judgeCertificate: createCertificateJudge(app.deps, served),
    isReady: () => true
  })
})
afterAll(async () => {
  await management[Symbol.asyncDispose]()
  served[Symbol.dispose]()
  await app[Symbol.asyncDispose]()
})

const ask = async (domain: string) =>
  (await fetch(`http://127.0.0.1:${port}/tls-ask?domain=${encodeURIComponent(domain)}`)).status

async function hostOf(id: string): Promise<string> {
  return (await app.owner.query('select host from domain where id = $1', [id])).rows[0].host
}

test('allows certificates for served hosts and their APIs alone', async () => {
  const host = await hostOf(await makeDomain(app.owner, app.companies['acme.localhost']))
  await makeDomain(app.owner, app.companies['acme.localhost'])
  await app.owner.query(
    `update domain set host = '*.wild.fr' where host <> $1 and host like '%.com'`,
    [host]
  )
  app.deps.signals.domains.send(host)
  await vi.waitFor(async () => expect(await ask(host)).toBe(200))
  const answers: Record<string, number> = {
    [host.toUpperCase()]: 200,
    [`api.${host}`]: 200,
    [`www.${host}`]: 403,
    [`api.api.${host}`]: 403,
    'docs.wild.fr': 200,
    'api.docs.wild.fr': 200,
    'wild.fr': 403,
    'a.b.wild.fr': 403,
    '*.wild.fr': 403,
    'a b.wild.fr': 403,
    'a/b.wild.fr': 403,
    'é.wild.fr': 403,
    '-.wild.fr': 403,
    [`${'a'.repeat(64)}.wild.fr`]: 403,
    'docs.wild.fr.': 403,
    'api.wild.fr': 403,
    'acme.localhost': 403,
    'other.example.org': 403,
    '': 403
  }
  for (const [domain, status] of Object.entries(answers)) {
    expect([domain, await ask(domain)]).toEqual([domain, status])
  }
})

// B-09
test('allows 20 new hosts a week below a wildcard, each with its API, and hosts that were allowed before always', async () => {
  const id = await makeDomain(app.owner, app.companies['acme.localhost'], '*.budget.fr')
  app.deps.signals.domains.send('*.budget.fr')
  await vi.waitFor(async () => expect(await ask('first.budget.fr')).toBe(200))
  // a scanner asks for many at once
  const names = Array.from({ length: 60 }, (_, at) => `n${at}.budget.fr`)
  const answers = await Promise.all(names.map(ask))
  expect(answers.filter(status => status === 200)).toHaveLength(19)
  expect(answers.filter(status => status === 403)).toHaveLength(41)
  const allowed = names[answers.indexOf(200)] ?? ''
  for (const known of [allowed, `api.${allowed}`, 'first.budget.fr', 'api.first.budget.fr']) {
    expect([known, await ask(known)]).toEqual([known, 200])
  }
  expect([await ask('new.budget.fr'), await ask('api.new.budget.fr')]).toEqual([403, 403])
  // an operator allows a further one
  await allowCertificateAlways(app.deps, { name: 'api.extra.budget.fr', wildcard: '*.budget.fr' })
  expect([await ask('extra.budget.fr'), await ask('api.extra.budget.fr')]).toEqual([200, 200])
  // a domain of its own needs no budget
  await makeDomain(app.owner, app.companies['acme.localhost'], 'own.budget.fr')
  app.deps.signals.domains.send('own.budget.fr')
  await vi.waitFor(async () => expect(await ask('own.budget.fr')).toBe(200))
  app.wait(8 * 24 * 3600)
  expect(await ask('new.budget.fr')).toBe(200)
  await app.owner.query('delete from domain where id = $1', [id])
})

test('refuses a host that no longer counts, and says so in the log once a minute', async () => {
  const id = await makeDomain(app.owner, app.companies['acme.localhost'])
  const host = await hostOf(id)
  app.deps.signals.domains.send(host)
  await vi.waitFor(async () => expect(await ask(host)).toBe(200))
  await app.owner.query('update domain set verified_at = null where id = $1', [id])
  app.deps.signals.domains.send(host)
  await vi.waitFor(async () => expect(await ask(host)).toBe(403))
  for (let at = 0; at < 20; at++) await ask(`scan${at}.example.org`)
  const logged = app.logged.filter(({ text }) =>
    text.startsWith('a certificate was refused: the host')
  )
  expect(logged.map(({ facts }) => facts)).toEqual([
    { domain: expect.stringContaining('.example.'), refused: 1 }
  ])
})

test('answers from memory while the database fails', async () => {
  const id = await makeDomain(app.owner, app.companies['acme.localhost'])
  const host = await hostOf(id)
  app.deps.signals.domains.send(host)
  await vi.waitFor(async () => expect(await ask(host)).toBe(200))
  await app.owner.query('revoke select on host_change from vidimus_app')
  try {
    app.deps.signals.domains.send(host)
    await vi.waitFor(() =>
      expect(app.logged.map(({ text }) => text)).toContain('the list of hosts could not be read')
    )
    expect([await ask(host), await ask('other.example.org')]).toEqual([200, 403])
  } finally {
    await app.owner.query('grant select on host_change to vidimus_app')
  }
})

test('asks about one new host at a time, whoever invents how many', async () => {
  await app.owner.query(`delete from certificate_name where wildcard = '*.wild.fr'`)
  await app.owner.query('begin')
  await app.owner.query('lock table certificate_name in share row exclusive mode')
  const asked = Array.from({ length: 30 }, (_, n) => ask(`new${n}.wild.fr`))
  const countWaiting = async () => {
    const { rows } = await app.owner.query(
      `select count(*)::int as count from pg_locks
        where not granted and relation = 'certificate_name'::regclass`
    )
    return rows[0].count
  }
  await expect.poll(countWaiting).toBe(1)
  await setTimeout(200)
  expect(await countWaiting()).toBe(1)
  await app.owner.query('rollback')
  const answers = await Promise.all(asked)
  expect(answers.filter(status => status === 200)).toHaveLength(20)
})
