import { createServer } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readAstroBuild } from '../../../src/server/site/astro-build.ts'
import type { Site } from '../../../src/site/site.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { createRandom, type Random } from '../../helpers/random.ts'
import { listenLocally } from '../../helpers/servers/listen.ts'
import { hasNginx, startNginx } from '../../helpers/servers/nginx.ts'
import {
  type CachingProxy,
  sendRawRequest,
  startSharedCache
} from '../../helpers/servers/shared-cache.ts'
import { makeSite } from '../../helpers/site.ts'
import { isSoak, runCount, seed, testTimeout } from '../../helpers/soak.ts'

// B-05

const requests = runCount(300, 10_000)
const evil = 'evil.example'
const hosts = ['acme.localhost', 'beta.localhost', 'gamma.localhost']

interface Company {
  host: string
  people: TestPerson[]
  /** Words of this company, which no answer for another company may contain. */
  marks: string[]
}

let app: TestApp
let companies: Company[]
beforeAll(async () => {
  const build = await readAstroBuild('dist')
  let site: Site
  app = await makeApp({
    site: { answer: (ask, host) => site.answer(ask, host) }
  })
  await app.addCompany('Gamma', 'gamma.localhost')
  for (const host of hosts) {
    await app.owner.query('update domain set title = $2, contact = $3 where host = $1', [
      host,
      titleOf(host),
      `help@${host}`
    ])
  }
  site = makeSite({
    pages: build,
    resolve: app.tenants.resolve,
    log: app.deps.log
  })
  companies = await Promise.all(
    hosts.map(async host => {
      const people = [await app.signUp(host), await app.signUp(host)]
      for (const person of people)
        await app.deposit(person, Buffer.from(person.id), `${person.id}.pdf`)
      return { host, people, marks: [host, titleOf(host)] }
    })
  )
})
afterAll(() => app[Symbol.asyncDispose]())

const fronts: [name: string, skipped: boolean, start: (port: number) => Promise<CachingProxy>][] = [
  ['a cache of the standard', false, startSharedCache],
  ['nginx', !isSoak, startNginx]
]
for (const [name, skipped, start] of fronts) {
  test.skipIf(skipped)(
    `${name} mixes up no two companies and no two people (SEED=${seed})`,
    async () => {
      await using front = await start(await app.listen())
      const random = createRandom(seed)
      const crossings: string[] = []
      const statuses = new Map<number, number>()
      for (let nr = 0; nr < requests; nr++) {
        const asked = draw(random)
        const answer = await sendRawRequest(front.port, asked.method, asked.target, asked.headers)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const text = `${answer.rawHeaders.join('\n')}\n${answer.body}`
        const found = forbiddenTo(asked).filter(mark => text.includes(mark))
        if (found.length > 0) {
          const sent = `${asked.method} ${asked.target} ${asked.headers.join(' ')}`
          crossings.push(`${found.join(', ')} in the answer ${answer.status} to ${sent}`)
        }
      }
      expect(crossings).toEqual([])
      // attacks are refused and everything else is served, much of it from the cache
      expect(statuses.get(200)).toBeGreaterThan(requests / 3)
      expect(statuses.get(400)).toBeGreaterThan(0)
      if ('counts' in front) {
        expect(front.counts).toMatchObject({ asked: requests })
        // as: the cache of this project has such counts
        const { hits, revalidated } = front.counts as Record<string, number>
        expect((hits ?? 0) + (revalidated ?? 0)).toBeGreaterThan(requests / 10)
      }
    },
    testTimeout(120_000)
  )
}

test('a cache of the standard would pass a poison on, so that this proves something', async () => {
  const origin = createServer((request, response) => {
    response.setHeader('cache-control', 'max-age=60')
    response.end(`<a href="http://${request.headers['x-forwarded-host']}/">`)
  })
  await using front = await startSharedCache(await listenLocally(origin))
  await sendRawRequest(front.port, 'GET', '/', ['host', 'acme.localhost', 'x-forwarded-host', evil])
  const answer = await sendRawRequest(front.port, 'GET', '/', ['host', 'acme.localhost'])
  expect(answer.body.toString()).toContain(evil)
  origin.close()
})

test.runIf(isSoak)('the long run has nginx to try', () => {
  expect(hasNginx).toBe(true)
})

interface Asked {
  company: Company
  /** The person whose token the request has. Undefined for a request without a token. */
  person: TestPerson | undefined
  method: string
  target: string
  headers: string[]
  /**
   * The company whose host an absolute target names. A proxy may take that host for the host of the
   * request.
   */
  meant?: Company
}

const pages = [
  '/',
  '/en',
  '/fr',
  '/en/verify',
  '/fr/sign-in',
  '/en/history',
  '/verify',
  '/en/nothing'
]
const files = ['/robots.txt', '/.well-known/security.txt', '/builds/latest.json', '/favicon.ico']
const calls = ['/user', '/process', '/category', '/user/session', '/healthz', '/openapi.json']

/**
 * Returns a random request: half of them by ordinary readers, the others by attackers. A cache may
 * store each answer for later requests.
 */
function draw(random: Random): Asked {
  const company = random.pick(companies)
  const other = random.pick(companies.filter(each => each !== company))
  const isApi = random.chance(0.35)
  const host = isApi ? `api.${company.host}` : company.host
  const person = isApi && random.chance(0.7) ? random.pick(company.people) : undefined
  const path = isApi
    ? random.pick([...calls, `/${company.host}`, `/${company.host}`])
    : random.pick([...pages, ...pages, ...files])
  const victim = random.pick(other.people)
  const headers = ['accept-encoding', random.pick(['identity', 'identity;q=1'])]
  if (random.chance(0.3)) headers.push('accept-language', random.pick(['fr', 'en', 'de, fr;q=0.5']))
  if (person) headers.push('authorization', `Bearer ${person.token}`)
  const asked = { company, person, method: random.chance(0.05) ? 'HEAD' : 'GET' }
  if (random.chance(0.5)) return { ...asked, target: path, headers: ['host', host, ...headers] }

  const otherHost = isApi ? `api.${other.host}` : other.host
  const wrong = random.pick([evil, other.host, otherHost])
  const attacks: (() => Pick<Asked, 'target' | 'headers' | 'meant'>)[] = [
    ...[
      ['x-forwarded-host', wrong],
      ['x-host', wrong],
      ['x-forwarded-server', wrong],
      ['forwarded', `host=${wrong};proto=https`],
      ['x-original-url', `http://${wrong}/`],
      ['x-rewrite-url', `//${wrong}/en`],
      ['x-forwarded-proto', `${wrong}`],
      ['x-forwarded-prefix', `//${wrong}`],
      ['x-http-method-override', 'DELETE'],
      ['origin', `http://${wrong}`],
      ['referer', `http://${wrong}/en`],
      ['accept-language', `${evil}, fr`],
      [
        'cookie',
        `__Host-vidimus=${victim.token}; i18n_redirected=${random.pick(['fr', 'en', evil])}`
      ],
      ['if-none-match', `"${evil}", *`],
      ['range', 'bytes=0-10']
    ].map(header => () => ({ target: path, headers: ['host', host, ...headers, ...header] })),
    () => ({
      target: `http://${wrong}${path}`,
      headers: ['host', host, ...headers],
      ...(wrong === evil ? {} : { meant: other })
    }),
    () => ({ target: path, headers: ['host', host, 'host', wrong, ...headers] }),
    () => ({ target: path, headers: ['host', `${host}@${wrong}`, ...headers] }),
    () => ({ target: path, headers: ['host', `${host.toUpperCase()}:80`, ...headers] }),
    () => ({ target: `/${path}`, headers: ['host', host, ...headers] }),
    () => ({ target: `${path}?utm=${random.integer(1, 3)}`, headers: ['host', host, ...headers] }),
    // another company's token, which opens nothing here
    () => ({
      target: path,
      headers: [
        'host',
        host,
        'authorization',
        `Bearer ${victim.token}`,
        'accept-encoding',
        'identity'
      ]
    })
  ]
  const attack = random.pick(attacks)()
  const sent = attack.headers.includes(`Bearer ${victim.token}`) ? undefined : person
  return { ...asked, person: sent, ...attack }
}

/**
 * Returns texts that the answer must not contain: those of other companies and people, and those of
 * attackers.
 */
function forbiddenTo({ company, meant, person }: Asked): string[] {
  const others = companies
    .filter(each => each !== company && each !== meant)
    .flatMap(each => each.marks)
  const strangers = companies
    .flatMap(each => each.people)
    .filter(each => each !== person)
    .flatMap(each => [each.id, each.email, each.token])
  return [...others, ...strangers, evil]
}

function titleOf(host: string): string {
  return `Documents of ${host.split('.')[0]?.toUpperCase()}`
}
