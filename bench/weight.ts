import { createServer, type Server } from 'node:http'
import { posix } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import type { DomainConfig } from '../src/contract/domains.ts'
import { fromUtf8 } from '../src/core/bytes.ts'
import { notFoundPage, pages, renderedPathOf } from '../src/core/pages/page-table.ts'
import { productTheme } from '../src/server/domain/installation/product-theme.ts'
import { sendPage } from '../src/server/http/listener.ts'
import { type AstroBuild, readAstroBuild } from '../src/server/site/astro-build.ts'
import { listenLocally } from '../tests/helpers/servers/listen.ts'
import { makeSite } from '../tests/helpers/site.ts'

/** In kB of brotli, by path without the locale. */
export const pageBudgets: Record<string, number> = Object.fromEntries(
  [...Object.values(pages), { ...notFoundPage, path: '/nowhere' }].map(page => [
    renderedPathOf(page).replace(/\/$/, ''),
    page.scriptBudget
  ])
)
export const workerBudgets: Record<string, number> = {
  kdf: 26,
  hash: 12,
  read: 1,
  csv: 12,
  image: 4,
  strength: 120
}
/** Style sheets, HTML and fonts are those of one page. */
export const assetBudgets = { palette: 8.5, css: 14.2, html: 15.5, fonts: 85 }
// grows with every call of the API
const callsHtmlBudget = 30
// tables and forms make these pages heavier
const adminBudgets = { css: 16, html: 17.2 }

export function htmlBudgetOf(path: string): number {
  if (path === '/docs/calls') return callsHtmlBudget
  return isAdminPath(path) ? adminBudgets.html : assetBudgets.html
}

export function cssBudgetOf(path: string): number {
  return isAdminPath(path) ? adminBudgets.css : assetBudgets.css
}

function isAdminPath(path: string): boolean {
  return path === '/admin' || path.startsWith('/admin/')
}

interface PageWeight {
  /** In kB of brotli, like the others. */
  scripts: number
  html: number
  css: number
  hasIslands: boolean
}

export interface BuildWeigher {
  weigh(path: string): Promise<PageWeight>
  workers(): Record<string, number>
  /** What the palette adds to a page of a signed-in person. */
  palette(): Promise<number>
  /** For Latin text. Font files are already compressed. */
  fonts(): number
  close(): void
}

/** Weighs the pages as a browser loads them. */
export async function openBuildWeigher(folder = 'dist'): Promise<BuildWeigher> {
  const build = await readAstroBuild(folder)
  const { server, port } = await serveBuild(build)
  const known = new Map<string, number>()
  const weightOf = (path: string) => {
    const weight = known.get(path) ?? kilobytes(bodyOf(build, path))
    known.set(path, weight)
    return weight
  }
  const sum = (paths: string[]) => paths.reduce((total, path) => total + weightOf(path), 0)
  const htmlOf = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/en${path}`, {
      headers: { connection: 'close' }
    })
    if (answer.status !== (path === '/nowhere' ? 404 : 200)) {
      throw new Error(`/en${path} answered ${answer.status}`)
    }
    return answer.text()
  }
  return {
    async weigh(path) {
      const html = await htmlOf(path)
      const styles = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)]
      return {
        scripts: sum(scriptsOf(build, html)),
        html: kilobytes(Buffer.from(html)),
        css: sum(styles.map(([, url]) => url ?? '')),
        hasIslands: html.includes('<astro-island')
      }
    },
    workers() {
      const paths = [...build.files.keys()].filter(path => path.includes('/worker-'))
      return Object.fromEntries(
        paths.map(path => [/worker-(\w+)-/.exec(path)?.[1] ?? path, sum([path])])
      )
    },
    async palette() {
      const loaded = scriptsOf(build, await htmlOf('/me'))
      const name = /\/_astro\/(?:palette-dialog|company-search|recent-commands)\.[\w-]+\.js$/
      const files = [...build.files.keys()]
      // a browser loads the words of one language: the heavier file stands for both
      const words = files
        .filter(path => /\/_astro\/palette\.[\w-]+\.js$/.test(path))
        .sort((a, b) => weightOf(b) - weightOf(a))
      const roots = [...files.filter(path => name.test(path)), ...words.slice(0, 1)]
      const added = withImports(build, roots)
      return sum(added.filter(path => !loaded.includes(path)))
    },
    fonts() {
      const latin = [...build.files].filter(([path]) => /-latin-wght-normal\..*woff2$/.test(path))
      return latin.reduce((total, [, { body }]) => total + body.length, 0) / 1000
    },
    close: () => void server.close()
  }
}

// also all files that they import statically
function scriptsOf(build: AstroBuild, html: string): string[] {
  const roots = [...html.matchAll(/(?:src|component-url|renderer-url)="(\/[^"?]+\.js)/g)]
  return withImports(
    build,
    roots.map(([, path]) => path ?? '')
  )
}

function withImports(build: AstroBuild, roots: string[]): string[] {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const next of importsOf(build, path)) add(next)
  }
  for (const path of roots) add(path)
  return [...found]
}

// without `import(…)`, which loads its file later
function importsOf(build: AstroBuild, path: string): string[] {
  const text = fromUtf8(bodyOf(build, path))
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+\.js)["']/g)
  return [...found].map(([, name]) => posix.join(posix.dirname(path), name ?? ''))
}

function bodyOf({ files }: AstroBuild, path: string): Uint8Array {
  const file = files.get(path)
  if (!file) throw new Error(`the build holds no ${path}`)
  return file.body
}

function kilobytes(bytes: Uint8Array): number {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  return brotliCompressSync(bytes, { params }).length / 1000
}

/** For one company, without an API. */
export async function serveBuild(build: AstroBuild): Promise<{ server: Server; port: number }> {
  const config: DomainConfig = {
    id: '01978a5e-0000-7000-8000-000000000002',
    name: 'Acme',
    title: 'Acme',
    company: 'Acme SA',
    theme: productTheme,
    public: true,
    demo: false,
    locale: 'en',
    version: 1
  }
  const server = createServer((request, response) => sendPage(site, request, response, 'acme.test'))
  const port = await listenLocally(server)
  const resolve = async () => ({ company_id: 'acme', config })
  const site = makeSite({ pages: build, resolve, port })
  return { server, port }
}
