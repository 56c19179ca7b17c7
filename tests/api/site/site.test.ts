import { createServer, request, type Server } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import type { DomainConfig } from '../../../src/contract/domains.ts'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { locales } from '../../../src/i18n/index.ts'
import { demoTheme } from '../../../src/server/domain/demo/demo-theme.ts'
import { productTheme } from '../../../src/server/domain/installation/product-theme.ts'
import { sendPage } from '../../../src/server/http/listener.ts'
import { readAstroBuild } from '../../../src/server/site/astro-build.ts'
import { listenLocally } from '../../helpers/servers/listen.ts'
import { makeSite } from '../../helpers/site.ts'

const built = await readAstroBuild('dist')
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

test('answers a page with policy, tag and the company’s theme, and 304 the second time', async () => {
  const { get } = await startSite()
  const page = await get('/en/verify')
  const body = await page.text()
  expect(page.status).toBe(200)
  expect(body).toContain('<html lang="en-US"')
  expect(body).toContain('· Acme</title>')
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("object-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(policy).toMatch(/connect-src 'self' http:\/\/api\.acme\.test:\d+;/)
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  expect(page.headers.get('strict-transport-security')).toBeNull()
  const etag = page.headers.get('etag') ?? ''
  const second = await get('/en/verify', { 'if-none-match': etag })
  expect(second.status).toBe(304)
  expect(await second.text()).toBe('')
})

test('paints before fonts and modules are there (docs/decisions/0008)', async () => {
  const { get } = await startSite()
  const page = await (await get('/en/verify')).text()
  expect(page).not.toMatch(/<link[^>]+as="font"/)
  expect(page).toContain('vidimus:fonts')
  const modules = page.match(/<script[^>]+type="module"[^>]*>/g) ?? []
  expect(modules.length).toBeGreaterThan(0)
  for (const script of modules) expect(script).toContain('fetchpriority="low"')
})

test('shows one policy on every page of a host', async () => {
  const { get } = await startSite()
  const paths = [
    '/en',
    '/fr',
    '/en/verify',
    '/en/sign-in',
    '/fr/sign-up',
    '/fr/deposit',
    '/en/history',
    '/en/docs/calls'
  ]
  const pages = await Promise.all([...paths, '/en/nothing'].map(path => get(path)))
  expect(new Set(pages.map(page => page.headers.get('content-security-policy'))).size).toBe(1)
})

test('carries ClientRouter on every page, so that no navigation ends an upload', async () => {
  const { get } = await startSite()
  for (const path of ['/en', '/fr/deposit', '/en/sign-in', '/en/nothing']) {
    expect(await (await get(path)).text()).toContain('astro-view-transitions-enabled')
  }
})

test('shows home at / in the detected language, without a redirect', async () => {
  const { get } = await startSite()
  const lang = async (headers: Record<string, string>) => {
    const page = await get('/', headers)
    expect(page.status).toBe(200)
    expect(page.headers.get('vary')).toBe('Accept-Encoding, Cookie, Accept-Language')
    return /<html lang="([\w-]+)"/.exec(await page.text())?.[1]
  }
  expect(await lang({})).toBe('en-US')
  expect(await lang({ 'accept-language': 'de, fr;q=0.8, en;q=0.7' })).toBe('fr-FR')
  expect(await lang({ 'accept-language': 'fr;q=0, en' })).toBe('en-US')
  expect(await lang({ 'accept-language': 'fr', cookie: 'a=1; i18n_redirected=en' })).toBe('en-US')
  expect(await lang({ cookie: 'i18n_redirected=de' })).toBe('en-US')
})

test('sends an unprefixed known path to its language and keeps the query', async () => {
  const { get } = await startSite()
  const answer = await get('/verify?a=1&b=%2F', { 'accept-language': 'fr' })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toBe('/fr/verify?a=1&b=%2F')
})

test('never redirects to another origin', async () => {
  const { get } = await startSite()
  for (const path of ['//evil.test/verify', '//evil.test', '///verify', '/\\evil.test/verify']) {
    const location = (await get(path)).headers.get('location')
    expect(location ?? '/').toMatch(/^\/(?:en|fr)?(?:\/verify)?$/)
  }
})

test('answers in the language that an unknown path begins with, where nothing else says one', async () => {
  const { get } = await startSite()
  expect(await (await get('/fr-CA/verify')).text()).toContain('<html lang="fr-FR"')
  const english = await get('/fr-CA/verify', { 'accept-language': 'en' })
  expect(await english.text()).toContain('<html lang="en-US"')
})

test.each([
  ['/en/verify', 'en', '/verify'],
  ['/fr/docs/calls', 'fr', '/docs/calls'],
  ['/fr', 'fr', '/'],
  ['/', 'en', '/']
] as const)('tells search engines of %s in both languages', async (path, locale, local) => {
  const { get } = await startSite()
  const page = await (await get(path)).text()
  const origin = /^http:\/\/acme\.test:\d+/.exec(linksOf(page, 'canonical')[0]?.href ?? '')?.[0]
  const inside = local === '/' ? '' : local
  expect(page).toContain(`<html lang="${locale === 'fr' ? 'fr-FR' : 'en-US'}"`)
  expect(linksOf(page, 'canonical')).toEqual([{ href: `${origin}/${locale}${inside}` }])
  expect(linksOf(page, 'alternate')).toEqual([
    { hreflang: 'en-US', href: `${origin}/en${inside}` },
    { hreflang: 'fr-FR', href: `${origin}/fr${inside}` },
    { hreflang: 'x-default', href: `${origin}${local}` }
  ])
  expect(page).not.toContain('noindex')
})

test('describes every page that search engines may list, each in its own words', async () => {
  const { get } = await startSite()
  const said = new Set<string | undefined>()
  const paths = ['', '/verify', '/sign-in', '/sign-up', '/docs', '/docs/calls', '/docs/errors']
  const pages = locales.flatMap(locale => paths.map(path => `/${locale}${path}`))
  for (const path of pages) {
    const page = await (await get(path)).text()
    said.add(/<meta name="description" content="([^"{}]{50,160})">/.exec(page)?.[1])
  }
  expect(said.size).toBe(pages.length)
  expect(said).not.toContain(undefined)
})

test('keeps pages of persons, notices and errors from search engines, and their addresses too', async () => {
  const { get } = await startSite()
  for (const path of ['/en/me', '/fr/history', '/en/deposit', '/fr/disabled', '/en/nothing']) {
    const page = await (await get(path)).text()
    expect(page, path).toContain('<meta name="robots" content="noindex"')
    expect([...linksOf(page, 'canonical'), ...linksOf(page, 'alternate')], path).toEqual([])
  }
})

test.each([
  ['help@acme.test', '<a class="link wrap-anywhere" href="mailto:help@acme.test">'],
  ['https://acme.test/help?a=1', 'href="https://acme.test/help?a=1"'],
  ['+33 1 23 45 67 89', 'get in touch: +33 1 23 45 67 89'],
  ['javascript:alert(1)', 'get in touch: javascript:alert(1)'],
  ['<b>me</b>', 'get in touch: &lt;b&gt;me&lt;/b&gt;'],
  [undefined, 'ask the person at Acme SA who gave you access']
])('tells the disabled whom to ask: %s', async (contact, part) => {
  const { get, company } = await startSite()
  company.config = { ...company.config, ...(contact === undefined ? {} : { contact }) }
  const page = (await (await get('/en/disabled')).text()).replace(/\s+/g, ' ')
  expect(page).toContain(part)
  expect(page).not.toContain('href="javascript:')
})

test('keeps one not-found page a host and language', async () => {
  const { get, site } = await startSite()
  for (const path of ['/en/a', '/en/b/c', '/en/d?e', '/f', '/de/verify']) {
    const page = await get(path)
    expect(page.status).toBe(404)
    const text = await page.text()
    expect(text).toContain('<title>Page Not Found · Acme</title>')
    expect(text).toMatch(
      /<h1[^>]* data-not-found="Page not found: \{\{path\}\}">\s*Page not found\s*<\/h1>/
    )
  }
  const french = await get('/fr/a')
  expect(french.status).toBe(404)
  expect(await french.text()).toContain('Page introuvable')
  expect(site.stats()).toMatchObject({ pages: 2, rendered: 2 })
})

test('renders once for concurrent readers, whatever their query and cookies', async () => {
  const { get, site } = await startSite()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      get(`/en/history?cursor=${index}`, { cookie: `__Host-vidimus=token-${index}` })
    )
  )
  const bodies = await Promise.all(answers.map(answer => answer.text()))
  expect(new Set(bodies).size).toBe(1)
  expect(bodies[0]).not.toContain('token-')
  expect(answers.some(answer => answer.headers.has('set-cookie'))).toBe(false)
  expect(site.stats().rendered).toBe(1)
})

test('shows a changed configuration on the next load', async () => {
  const { get, company } = await startSite()
  const before = await get('/en')
  company.config = { ...company.config, title: 'Renamed', theme: demoTheme, version: 2 }
  const after = await get('/en', { 'if-none-match': before.headers.get('etag') ?? '' })
  expect(after.status).toBe(200)
  expect(await after.text()).toContain('· Renamed</title>')
  expect(after.headers.get('content-security-policy')).not.toBe(
    before.headers.get('content-security-policy')
  )
})

test('shows the new company of a host that has moved, at an equal version', async () => {
  const { get, company } = await startSite()
  expect(await (await get('/en')).text()).toContain('· Acme</title>')
  Object.assign(company, { company_id: 'newer', config: configOf('Newer') })
  expect(await (await get('/en')).text()).toContain('· Newer</title>')
  company.config = { ...configOf('Renewed'), id: '01978a5e-0000-7000-8000-000000000009' }
  expect(await (await get('/en')).text()).toContain('· Renewed</title>')
})

test.for(['/en/dev/limits', '/fr/dev/limits', '/dev/limits'])(
  'has no page for developers at %s',
  async path => {
    const { get } = await startSite()
    expect((await get(path)).status).toBe(404)
  }
)

test('keeps the pages of two hosts apart', async () => {
  const { get } = await startSite()
  expect(await (await get('/en')).text()).toContain('· Acme</title>')
  const other = await (await get('/en', {}, 'demo.test')).text()
  expect(other).toContain('· Demo</title>')
  expect(other).not.toContain('Acme')
})

test('hides sign-up where a company is not public', async () => {
  const { get, company } = await startSite()
  expect(await (await get('/en')).text()).toContain('href="/en/sign-up"')
  company.config = { ...company.config, public: false, version: 2 }
  expect(await (await get('/en')).text()).not.toContain('href="/en/sign-up"')
})

test('answers HEAD from the same entry and refuses other methods', async () => {
  const { get, send } = await startSite()
  const page = await get('/en')
  const head = await send('HEAD', '/en')
  expect(head.status).toBe(200)
  expect(head.headers.get('etag')).toBe(page.headers.get('etag'))
  expect(await head.text()).toBe('')
  const post = await send('POST', '/en')
  expect(post.status).toBe(405)
  expect(post.headers.get('allow')).toBe('GET, HEAD')
})

test('compresses a page and a file, for their first reader too', async () => {
  const { get } = await startSite()
  const script = [...built.files.keys()].find(path => /\/_astro\/hydrate\.[\w-]+\.js$/.test(path))
  expect(script).toBeDefined()
  for (const path of ['/en', script ?? '']) {
    const first = await get(path, { 'accept-encoding': 'gzip' })
    expect(first.headers.get('content-encoding'), path).toBe('gzip')
  }
  const plain = await (await get('/en')).text()
  expect(await (await get('/en', { 'accept-encoding': 'br, gzip' })).text()).toBe(plain)
  const refused = await get('/en', { 'accept-encoding': 'br;q=0, identity' })
  expect(refused.headers.get('content-encoding')).toBeNull()
})

test('sends hashed files as immutable and worker files with a policy of their own', async () => {
  const { get } = await startSite()
  const worker = { body: Buffer.from('postMessage(1)'), type: 'text/javascript; charset=utf-8' }
  built.files.set('/_astro/worker-test.js', worker)
  const script = [...built.files.keys()].find(path => /\/_astro\/hydrate\.[\w-]+\.js$/.test(path))
  const file = await get(script ?? '')
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(file.headers.get('content-security-policy')).toBeNull()
  const policy = (await get('/_astro/worker-test.js')).headers.get('content-security-policy')
  expect(policy).toContain("'wasm-unsafe-eval'")
  expect((await get('/_astro/gone.js')).status).toBe(404)
  expect((await get('/../package.json')).status).toBe(404)
  expect((await get('/kdf-a1.json')).headers.get('cache-control')).toBe('no-cache')
})

test('tells its build, and lets browsers keep its words for 24 hours and no other build’s', async () => {
  const { get } = await startSite()
  expect(await (await get('/builds/latest.json?1763640000')).json()).toEqual({ id: built.id })
  const words = await get(`/_i18n/${built.id}/fr/messages.json`)
  expect(words.headers.get('cache-control')).toBe('public, max-age=86400, immutable')
  expect(await words.json()).toMatchObject({ common: { verify: 'Vérifier' } })
  const old = await get('/_i18n/older/fr/messages.json')
  expect(old.headers.get('cache-control')).toBe('no-cache')
  expect((await get(`/_i18n/${built.id}/de/messages.json`)).status).toBe(404)
})

test.each([
  ['internal', 500],
  ['unavailable', 503],
  ['unexpected_answer', 502],
  ['not_found', 500],
  [undefined, 500]
] as const)('says that a page failed: %s with status %d', async (code, status) => {
  const { get, company, logged, site } = await startSite()
  company.fails = () => {
    if (code === undefined) throw new TypeError('a bug')
    return new AppError(code, 'the database password is hunter2')
  }
  const page = await get('/en/verify')
  const body = await page.text()
  expect(page.status).toBe(status)
  expect(body).toContain('<h1 class="page-title">Internal Server Error</h1>')
  expect(body).toContain(`Status ${status}`)
  expect(body).not.toContain('hunter2')
  expect(body).not.toContain('<script')
  expect(logged).toMatchObject([{ status, path: '/en/verify' }])
  const french = await (await get('/fr/verify')).text()
  expect(french).toContain('<html lang="fr-FR">')
  expect(french).toContain('Erreur interne')
  company.fails = undefined
  expect((await get('/en/verify')).status).toBe(200)
  expect(site.stats()).toMatchObject({ pages: 1 })
})

test('renders a page with parameters once for all of them, also for ids that nobody has', async () => {
  const { get, site } = await startSite()
  const company = '01978a5e-0000-7000-8000-000000000001'
  const made = Array.from({ length: 40 }, (_, index) => `made-up-${index}`)
  const garbage = ['%ZZ', '%00', '%2e%2e', '..%2f..', '%F0%9F%92%A9', '{company}', 'a'.repeat(4000)]
  const bodies = new Set<string>()
  for (const id of [company, ...made, ...garbage]) {
    const page = await get(`/en/admin/${id}`)
    expect(page.status, id).toBe(200)
    bodies.add(await page.text())
  }
  expect(bodies.size).toBe(1)
  expect([...bodies][0]).not.toContain(company)
  expect(site.stats()).toMatchObject({ pages: 1, rendered: 1 })
  // without its language it leads to the page of the very id
  const bare = await get(`/admin/${company}?a=1`)
  expect(bare.status).toBe(302)
  expect(bare.headers.get('location')).toBe(`/en/admin/${company}?a=1`)
})

const sections = ['users', 'groups', 'categories', 'data_sources', 'domains']
const anItem = '01978a5e-0000-7000-8000-000000000009'

test.each([
  '',
  `/${anItem}`,
  ...sections.flatMap(section => [`/${anItem}/${section}`, `/${anItem}/${section}/${anItem}`]),
  ...['user', 'group', 'category', 'data_source', 'domain', 'company'].map(
    noun => `/${anItem}/create/${noun}`
  )
])('has the page /admin%s of the specification in both languages', async path => {
  const { get } = await startSite()
  for (const locale of locales) {
    const page = await get(`/${locale}/admin${path}`)
    expect(page.status).toBe(200)
    expect(await page.text()).toMatch(/<body[^>]+data-guard="(?:admin|operator)"/)
  }
})

test('gives crawlers the status of an error and no page, and logs it', async () => {
  const { get, company, logged, site } = await startSite()
  const crawler = { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0)' }
  const lost = await get('/en/nothing', crawler)
  expect(lost.status).toBe(404)
  expect(await lost.text()).toBe('')
  expect(logged).toMatchObject([{ status: 404, path: '/en/nothing' }])
  expect(site.stats().rendered).toBe(0)
  company.fails = () => new AppError('unavailable', 'busy')
  const failed = await get('/en/verify', crawler)
  expect(failed.status).toBe(503)
  expect(await failed.text()).toBe('')
  expect(logged).toMatchObject([{ status: 404 }, { status: 503 }])
  company.fails = undefined
  expect(await (await get('/en/verify', crawler)).text()).toContain('<h1')
})

interface Company {
  company_id: string
  config: DomainConfig
  /** Creates the error with which its configuration cannot be read. */
  fails?: (() => AppError) | undefined
}

async function startSite() {
  const company: Company = { company_id: 'acme', config: configOf('Acme') }
  const demo: Company = { company_id: 'demo', config: { ...configOf('Demo'), theme: demoTheme } }
  const hosts = new Map([
    ['acme.test', company],
    ['demo.test', demo]
  ])
  const logged: object[] = []
  const keep = (facts: object) => logged.push(facts)
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').split(':')[0] ?? ''
    void sendPage(site, request, response, host)
  })
  servers.push(server)
  const port = await listenLocally(server)
  const site = makeSite({
    pages: built,
    async resolve(host) {
      const found = hosts.get(host)
      const error = found?.fails?.()
      if (error) throw error
      return found
    },
    port,
    log: { warn: keep, error: keep }
  })
  const send = (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    host = 'acme.test'
  ) => ask({ port, method, path, headers: { host: `${host}:${port}`, ...headers } })
  return {
    site,
    company,
    logged,
    send,
    get: (path: string, headers?: Record<string, string>, host?: string) =>
      send('GET', path, headers, host)
  }
}

/**
 * Returns the attributes of a page's links of one kind: `<link rel="alternate" hreflang="en-US"
 * href="…">` → `{ hreflang, href }`
 */
function linksOf(page: string, rel: string): Record<string, string>[] {
  const links = [...page.matchAll(new RegExp(`<link rel="${rel}"([^>]*)>`, 'g'))]
  return links.map(([, attributes = '']) =>
    Object.fromEntries([...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v]))
  )
}

function configOf(name: string): DomainConfig {
  return {
    id: '01978a5e-0000-7000-8000-000000000000',
    name,
    title: name,
    company: `${name} SA`,
    theme: productTheme,
    public: true,
    locale: 'en',
    demo: false,
    version: 1
  }
}

/** Sends a request with any Host header, which `fetch` cannot do. */
function ask(options: { port: number; method: string; path: string; headers: object }) {
  return new Promise<Response>((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', ...options, headers: { ...options.headers } })
    outgoing.on('error', reject)
    outgoing.on('response', async incoming => {
      const chunks: Buffer[] = []
      for await (const chunk of incoming) chunks.push(chunk)
      const raw = Buffer.concat(chunks)
      const encoding = incoming.headers['content-encoding']
      const body = encoding === 'br' ? brotliDecompressSync(raw) : encoding ? gunzipSync(raw) : raw
      const headers = new Headers()
      for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value))
      const status = incoming.statusCode ?? 0
      resolve(new Response(status === 304 ? null : body, { status, headers }))
    })
    outgoing.end()
  })
}
