import { randomBytes } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { hsts, workerPolicy } from '../core/csp.ts'
import type { Build, BuiltFile, Locale } from './build.ts'
import { type Encoded, encode, send } from './encoded.ts'
import { PageCache, type RenderedPage } from './page-cache.ts'
import { wellKnown } from './well-known.ts'

export interface SiteOptions {
  /** The version of what a host's pages show; `undefined` for a host of nobody. */
  resolve: (host: string) => Promise<{ version: string; contact?: string | undefined } | undefined>
  /** The API in this process. */
  api: typeof fetch
  scheme: 'http' | 'https'
  /** Absent when it is the usual one of the scheme. */
  port: number | undefined
  log: {
    error(facts: object, text: string): void
    warn(facts: object, text: string): void
  }
  build: Build
}

export interface Site {
  /** Answers for `host`, which the caller has normalised and knows. */
  handle(request: IncomingMessage, response: ServerResponse, host: string): Promise<void>
  stats(): ReturnType<PageCache['stats']>
}

const maxCacheBytes = 256 * 1024 * 1024
const fileQuality = 9
const locales = ['en', 'fr'] as const satisfies Locale[]

/** The page half: built files, pages from memory, else Astro. */
export function createSite(options: SiteOptions): Site {
  const { build, log } = options
  const cache = new PageCache(maxCacheBytes)
  const files = new Map<string, Encoded>()
  const security = securityHeaders(options.scheme)
  const known = new Set(build.routes.map(route => route.replace('/[locale]', '') || '/'))
  const messages = { en: dictionary('en'), fr: dictionary('fr') }

  return { handle, stats: () => cache.stats() }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    host: string
  ): Promise<void> {
    const { path, query } = target(request)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return plain(response, 405, 'Method Not Allowed', { allow: 'GET, HEAD' })
    }
    const file = build.files.get(path)
    if (file) return sendFile(request, response, path, query, file)
    if (path.startsWith('/_astro/')) return plain(response, 404, 'Not Found')
    if (path === '/builds/latest.json') return sendBuildId(request, response)
    const words = /^\/_i18n\/([\w-]+)\/(en|fr)\/messages\.json$/.exec(path)
    if (words) {
      const [, id, locale] = words
      return sendMessages(request, response, id === build.id, locale as Locale) // as: matched
    }
    if (await sendWellKnown(request, response, host, path)) return
    await sendPage(request, response, host, path, query)
  }

  /** Answers whether the path was one of them. */
  async function sendWellKnown(
    request: IncomingMessage,
    response: ServerResponse,
    host: string,
    path: string
  ): Promise<boolean> {
    if (path !== '/robots.txt' && !path.startsWith('/.well-known/')) return false
    const config = await options.resolve(host)
    const locale = detectLocale(request)
    const found =
      config && wellKnown(path, { origin: originOf(host), contact: config.contact, locale })
    if (!found) plain(response, 404, 'Not Found')
    else {
      response.writeHead(found.status, { ...security, ...found.headers })
      response.end(request.method === 'HEAD' ? undefined : found.body)
    }
    return true
  }

  /** `'docs.acme.fr'` → `'https://docs.acme.fr'` */
  function originOf(host: string): string {
    return `${options.scheme}://${host}${options.port === undefined ? '' : `:${options.port}`}`
  }

  function sendFile(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string,
    file: BuiltFile
  ): void {
    const encoded = files.get(path) ?? encode(file.body, file.type, { quality: fileQuality })
    files.set(path, encoded)
    const isImmutable = path.startsWith('/_astro/') || query === `?${build.id}`
    send(
      request,
      response,
      200,
      {
        ...security,
        'content-type': file.type,
        'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'Accept-Encoding',
        ...(path.startsWith('/_astro/worker-') ? { 'content-security-policy': workerPolicy } : {})
      },
      encoded
    )
  }

  function sendBuildId(request: IncomingMessage, response: ServerResponse): void {
    const body = Buffer.from(JSON.stringify({ id: build.id }))
    const headers = {
      ...security,
      'content-type': 'application/json',
      'cache-control': 'no-store'
    }
    send(request, response, 200, headers, encode(body, 'application/json', { quality: 1 }))
  }

  function sendMessages(
    request: IncomingMessage,
    response: ServerResponse,
    isCurrent: boolean,
    locale: Locale
  ): void {
    send(
      request,
      response,
      200,
      {
        ...security,
        'content-type': 'application/json',
        'cache-control': isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'Accept-Encoding'
      },
      messages[locale]
    )
  }

  function dictionary(locale: Locale): Encoded {
    const text = JSON.stringify(build.messages[locale])
    return encode(Buffer.from(text), 'application/json', { quality: fileQuality })
  }

  async function sendPage(
    request: IncomingMessage,
    response: ServerResponse,
    host: string,
    path: string,
    query: string
  ): Promise<void> {
    const [, first = '', ...rest] = path.split('/')
    const prefix = locales.find(locale => locale === first)
    const locale = prefix ?? detectLocale(request)
    const local = prefix ? `/${rest.join('/')}` : path
    const vary = prefix ? 'Accept-Encoding' : 'Accept-Encoding, Cookie, Accept-Language'
    // The home page is shown in place; every other page has one address a language.
    if (!prefix && local !== '/' && known.has(local)) {
      const location = `/${locale}${local}${query}`
      response.writeHead(302, { ...security, 'cache-control': 'no-cache', vary, location }).end()
      return
    }
    const isKnown = known.has(local)
    const address = isKnown ? `/${locale}${local === '/' ? '' : local}` : `/${locale}/404`
    try {
      const config = await options.resolve(host)
      if (!config) return plain(response, 421, 'Misdirected Request')
      const page = await cache.get(`${host} ${address}`, config.version, () =>
        render(host, address, isKnown ? 200 : 404)
      )
      if (page.status >= 400 && isCrawler(request)) {
        log.warn({ host, path: address, status: page.status }, 'a crawler met an error page')
        response.writeHead(page.status, { ...security, 'cache-control': 'no-cache', vary }).end()
        return
      }
      send(request, response, page.status, { ...page.headers, vary }, page.body)
    } catch (cause) {
      fail(request, response, locale, { host, path: address, cause })
    }
  }

  /**
   * Renders with a request of our own making: nothing that a reader sent, but host and path, can
   * reach a page that others will read.
   */
  async function render(host: string, path: string, status: number): Promise<RenderedPage> {
    const authority = options.port === undefined ? host : `${host}:${options.port}`
    let rendered: RenderedPage | undefined
    let failure: unknown
    const request = new IncomingMessage(new Socket())
    request.method = 'GET'
    request.url = path
    request.headers = { host: authority, accept: 'text/html' }
    request.push(null)
    await build.render(request, new ServerResponse(request), () => undefined, {
      api: options.api,
      host,
      origin: `${options.scheme}://${authority}`,
      apiOrigin: `${options.scheme}://api.${authority}`,
      buildId: build.id,
      keepPage: (page: RenderedPage) => {
        rendered = page
      },
      failPage: (cause: unknown) => {
        failure = cause
      }
    })
    if (rendered?.status === status) {
      const headers = {
        ...security,
        'cache-control': 'no-cache',
        ...rendered.headers,
        'content-type': 'text/html; charset=utf-8'
      }
      return { ...rendered, headers }
    }
    const reason = rendered ? `answered ${rendered.status}` : 'answered nothing'
    throw new Error(`${path} ${reason} in place of ${status}`, { cause: failure })
  }

  /** Needs neither database nor script. */
  function fail(
    request: IncomingMessage,
    response: ServerResponse,
    locale: Locale,
    { cause, ...facts }: { host: string; path: string; cause: unknown }
  ): void {
    const id = randomBytes(9).toString('base64url')
    log.error({ ...facts, request: id, err: cause }, 'a page failed')
    const headers = { ...security, 'cache-control': 'no-store' }
    if (isCrawler(request)) {
      response.writeHead(500, headers).end()
      return
    }
    response.writeHead(500, {
      ...headers,
      'content-security-policy': failurePolicy,
      'content-type': 'text/html; charset=utf-8'
    })
    response.end(request.method === 'HEAD' ? undefined : failurePage(build, locale, id))
  }

  function plain(
    response: ServerResponse,
    status: number,
    text: string,
    headers: Record<string, string> = {}
  ): void {
    response.writeHead(status, {
      ...security,
      ...headers,
      'cache-control': 'no-store',
      'content-type': 'text/plain; charset=utf-8'
    })
    response.end(`${text}\n`)
  }
}

function target(request: IncomingMessage): { path: string; query: string } {
  const [raw = '/'] = (request.url ?? '/').split('#', 1)
  const mark = raw.indexOf('?')
  const path = mark < 0 ? raw : raw.slice(0, mark)
  // `//host/` would be read as another origin by whoever gets it back in a redirect.
  const isClean = path === '/' || !(path.includes('//') || path.endsWith('/'))
  const clean = isClean ? path : `/${path.split('/').filter(Boolean).join('/')}`
  return { path: clean, query: mark < 0 ? '' : raw.slice(mark) }
}

/** Cookie, then the browser's languages, then English. */
function detectLocale(request: IncomingMessage): Locale {
  const chosen = /(?:^|;\s*)i18n_redirected=(en|fr)(?:;|$)/.exec(request.headers.cookie ?? '')?.[1]
  const wanted = (request.headers['accept-language'] ?? '')
    .split(',')
    .map((entry, index) => {
      const [tag = '', ...parameters] = entry.trim().toLowerCase().split(';')
      const weight = /^\s*q=([\d.]+)\s*$/.exec(parameters.join(';'))?.[1]
      return { language: tag.split('-')[0], weight: Number(weight ?? 1), index }
    })
    .filter(entry => entry.weight > 0)
    .sort((a, b) => b.weight - a.weight || a.index - b.index)
    .map(entry => entry.language)
  return (
    [chosen, ...wanted].flatMap(name => locales.find(locale => locale === name) ?? [])[0] ?? 'en'
  )
}

function isCrawler(request: IncomingMessage): boolean {
  return /bot\b|crawl|spider|slurp|archiver|facebookexternalhit|preview/i.test(
    request.headers['user-agent'] ?? ''
  )
}

const off = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking'
]

function securityHeaders(scheme: 'http' | 'https'): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': off.map(name => `${name}=()`).join(', '),
    ...(scheme === 'https' ? { 'strict-transport-security': hsts } : {})
  }
}

const failurePolicy =
  "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The meta line lets ClientRouter swap the page in, so that a failed navigation ends no upload. */
function failurePage(build: Build, locale: Locale, id: string): string {
  const word = (key: string) => escapeHtml(wordOf(build.messages[locale], key))
  const styles = [...build.files.keys()].filter(path => path.endsWith('.css'))
  return `<!doctype html>
<html lang="${locale === 'fr' ? 'fr-FR' : 'en-US'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="astro-view-transitions-enabled" content="true">
<title>${word('common.failure.title')}</title>
${styles.map(path => `<link rel="stylesheet" href="${path}">`).join('\n')}
</head>
<body>
<main id="main" class="page page-task">
<div class="sheet grid gap-3">
<h1 class="page-title">${word('common.failure.title')}</h1>
<p>${word('common.failure.text')}</p>
<p class="meta">${word('common.failure.request')} <code class="fingerprint">${id}</code></p>
<p><a href="/${locale}">${word('common.notFound.home')}</a></p>
<p><a href="/${locale}/verify">${word('common.notFound.verify')}</a></p>
</div>
</main>
</body>
</html>
`
}

function wordOf(words: Build['messages'][Locale], key: string): string {
  let found: string | Build['messages'][Locale] | undefined = words
  for (const part of key.split('.')) found = typeof found === 'object' ? found[part] : undefined
  return typeof found === 'string' ? found : key
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, character => entities[character] ?? character)
}
