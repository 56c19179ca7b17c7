import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { posix } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Build, readBuild } from '../../src/server/build.ts'
import { localhostTheme } from '../../src/server/domain/seed-themes.ts'
import { createSite } from '../../src/server/site.ts'

/**
 * JavaScript that a page loads at once, in kB of brotli: what we want, and where we are while that is
 * more (docs/known-limits.md says why).
 */
const scripts: Record<string, { budget: number; limit?: number }> = {
  '': { budget: 20 },
  '/docs': { budget: 20 },
  '/docs/calls': { budget: 20 },
  '/docs/errors': { budget: 20 },
  '/nowhere': { budget: 20 },
  '/sign-in': { budget: 88, limit: 97.4 },
  '/sign-up': { budget: 88, limit: 98.4 },
  '/verify-account': { budget: 88, limit: 100 },
  '/activate-account': { budget: 88, limit: 100 },
  '/reset-password': { budget: 88, limit: 100 },
  '/confirm-email': { budget: 88, limit: 100 },
  '/verify': { budget: 90, limit: 103.1 },
  '/history': { budget: 90, limit: 104.3 },
  '/me': { budget: 90, limit: 100.6 },
  '/deposit': { budget: 92, limit: 114.4 },
  '/setup': { budget: 92, limit: 100 }
}
const workers: Record<string, { budget: number; limit?: number }> = {
  kdf: { budget: 26, limit: 35 },
  hash: { budget: 12 },
  image: { budget: 4 },
  strength: { budget: 120 }
}
const cssBudget = 14
const htmlBudget = 12
const fontBudget = 85

let built: Build
let server: Server
beforeAll(async () => {
  built = await readBuild('dist')
  server = await serve(built)
})
afterAll(() => server.close())

test('has a budget for every page', () => {
  const pages = built.routes
    .map(route => route.replace('/[locale]', ''))
    .filter(route => !route.startsWith('/[') && route !== '/404')
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(pages))
})

test.each(Object.entries(scripts))('/en%s keeps its budgets', async (path, { budget, limit }) => {
  const html = await page(`/en${path}`)
  if (html === undefined) return
  expect(script(html), 'scripts').toBeLessThanOrEqual(limit ?? budget)
  expect(kilobytes(Buffer.from(html)), 'HTML').toBeLessThanOrEqual(htmlBudget)
  const styles = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)]
  expect(sum(styles.map(([, url]) => url ?? '')), 'CSS').toBeLessThanOrEqual(cssBudget)
  const islands = /<astro-island/.test(html)
  if (budget <= 20) expect(islands, 'React').toBe(false)
})

test('has a budget for every worker', () => {
  const paths = [...built.files.keys()].filter(path => path.includes('/worker-'))
  const names = paths.map(path => /worker-(\w+)-/.exec(path)?.[1] ?? path)
  expect(names.sort()).toEqual(Object.keys(workers).sort())
})

test.each(Object.entries(workers))('the %s worker keeps its budget', (name, { budget, limit }) => {
  const files = [...built.files.keys()].filter(path => path.includes(`worker-${name}-`))
  expect(files).toHaveLength(1)
  expect(sum(files)).toBeLessThanOrEqual(limit ?? budget)
})

test('fonts for Latin text keep their budget', () => {
  const fonts = [...built.files].filter(([path]) => /-latin-wght-normal\..*woff2$/.test(path))
  expect(fonts.length).toBeGreaterThan(0)
  const bytes = fonts.reduce((total, [, { body }]) => total + body.length, 0)
  expect(bytes / 1000).toBeLessThanOrEqual(fontBudget)
})

/** `undefined`: the installation shows no such page. */
async function page(path: string): Promise<string | undefined> {
  const { port } = server.address() as AddressInfo // as: it listens on TCP
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { connection: 'close' }
  })
  return answer.status === 200 || path.endsWith('nowhere') ? answer.text() : undefined
}

/** Everything that scripts and islands of the page import before they run; each file counts once. */
function script(html: string): number {
  const roots = [...html.matchAll(/(?:src|component-url|renderer-url)="(\/[^"?]+\.js)/g)]
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const next of importsOf(path)) add(next)
  }
  for (const [, path] of roots) add(path ?? '')
  return sum([...found])
}

/** Static imports only: `import(…)` runs later, when somebody does what needs it. */
function importsOf(path: string): string[] {
  const text = built.files.get(path)?.body.toString() ?? ''
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+\.js)["']/g)
  return [...found].map(([, name]) => posix.join(posix.dirname(path), name ?? ''))
}

function sum(paths: string[]): number {
  return paths.reduce((total, path) => {
    const file = built.files.get(path)
    if (!file) throw new Error(`the build holds no ${path}`)
    return total + kilobytes(file.body)
  }, 0)
}

function kilobytes(bytes: Uint8Array): number {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  return brotliCompressSync(bytes, { params }).length / 1000
}

async function serve(build: Build): Promise<Server> {
  const config = {
    name: 'Acme',
    title: 'Acme',
    company: 'Acme SA',
    theme: localhostTheme,
    public: true,
    demo: false,
    locale: 'en',
    version: 1
  }
  const server = createServer((request, response) => site.handle(request, response, 'acme.test'))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // as: it listens on TCP
  const site = createSite({
    resolve: async () => ({ version: '1' }),
    api: async () => Response.json(config),
    scheme: 'http',
    port,
    log: { warn: () => {}, error: () => {} },
    build
  })
  return server
}
