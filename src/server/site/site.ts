import { randomBytes } from 'node:crypto'
import { type IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { parseAccept } from 'hono/utils/accept'
import type { DomainConfig } from '../../contract/domains.ts'
import { hstsHeader, workerCsp } from '../../core/http-headers/csp.ts'
import { contactLink } from '../../core/pages/contact-link.ts'
import { findPage, notFoundPage, renderedPathOf } from '../../core/pages/page-table.ts'
import {
  type CompressedBody,
  compressBody,
  sendCompressed
} from '../compression/compressed-bodies.ts'
import type { AstroBuild, BuiltFile, Locale } from './astro-build.ts'
import { failurePage, failurePageCsp, failureStatus } from './failure-page.ts'
import { PageCache, type RenderedPage } from './page-cache.ts'

export interface SiteHandlerOptions {
  resolve: (host: string) => Promise<Owner | undefined>
  api: typeof fetch
  /** Waits until there is room. Throws `unavailable` if too many pages of the domain wait. */
  inPlace: <T>(
    whose: { company_id: string; domain: string },
    render: () => Promise<T>
  ) => Promise<T>
  scheme: 'http' | 'https'
  /** Undefined for the default port of the scheme. */
  port: number | undefined
  log: {
    error(facts: object, text: string): void
    warn(facts: object, text: string): void
  }
  build: AstroBuild
  /** Pages show this number of fingerprints that a network may verify without signing in. */
  checksPerMinute: number
  /** For the DNS records that domains need. */
  publicAddresses: readonly string[]
}

interface Owner {
  company_id: string
  config: Pick<DomainConfig, 'id' | 'version' | 'contact' | 'paused'>
}

export interface SiteHandler {
  /** `host` must be normalized. */
  handle(request: IncomingMessage, response: ServerResponse, host: string): Promise<void>
  stats(): ReturnType<PageCache['stats']>
}

const maxCacheBytes = 256 * 1024 * 1024
const fileQuality = 9
const messagesMaxAgeSeconds = 86_400
const securityTxtDays = 180
const plainText = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-cache' }

// CUBOT is a brand of phones.
const crawlers =
  /(?<!cu)bot\b|crawl|spider|slurp|archiver|mediapartners|google-inspectiontool|googleother|feedfetcher|apis-google|facebookexternalhit|facebookcatalog|meta-external|whatsapp|embedly|preview/i

const siteLocales = ['en', 'fr'] as const satisfies Locale[]

/** Requests to the hosts of the API never reach this handler. */
export function createSiteHandler(options: SiteHandlerOptions): SiteHandler {
  const { build, log } = options
  const cache = new PageCache(maxCacheBytes)
  const files = new Map<string, Promise<CompressedBody>>()
  const security = securityHeaders(options.scheme)
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
    if (file) return sendFile(request, response, path, file)
    if (path.startsWith('/_astro/')) return plain(response, 404, 'Not Found')
    if (path === '/builds/latest.json') return sendBuildId(request, response)
    const words = /^\/_i18n\/([\w-]+)\/(en|fr)\/messages\.json$/.exec(path)
    if (words) {
      const [, id, locale] = words
      return sendMessages(request, response, id === build.id, locale as Locale) // as: the pattern has checked it
    }
    if (await sendWellKnown(request, response, host, path)) return
    await sendPage(request, response, host, path, query)
  }

  // returns whether it has sent a response
  async function sendWellKnown(
    request: IncomingMessage,
    response: ServerResponse,
    host: string,
    path: string
  ): Promise<boolean> {
    if (path !== '/robots.txt' && !path.startsWith('/.well-known/')) return false
    const owner = await options.resolve(host)
    const locale = detectLocale(request.headers, path)
    const found =
      owner &&
      wellKnownResponse(path, { origin: originOf(host), contact: owner.config.contact, locale })
    if (!found) plain(response, 404, 'Not Found')
    else {
      response.writeHead(found.status, { ...security, ...found.headers })
      response.end(request.method === 'HEAD' ? undefined : found.body)
    }
    return true
  }

  function originOf(host: string): string {
    return `${options.scheme}://${host}${options.port === undefined ? '' : `:${options.port}`}`
  }

  async function sendFile(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    file: BuiltFile
  ): Promise<void> {
    const encoded = files.get(path) ?? compressBody(file.body, file.type, fileQuality)
    files.set(path, encoded)
    const isImmutable = path.startsWith('/_astro/')
    sendCompressed(
      request,
      response,
      200,
      {
        ...security,
        'content-type': file.type,
        'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'Accept-Encoding',
        ...(path.startsWith('/_astro/worker-') ? { 'content-security-policy': workerCsp } : {})
      },
      await encoded
    )
  }

  async function sendBuildId(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.from(JSON.stringify({ id: build.id }))
    const headers = {
      ...security,
      'content-type': 'application/json',
      'cache-control': 'no-store'
    }
    sendCompressed(request, response, 200, headers, await compressBody(body, 'application/json', 1))
  }

  async function sendMessages(
    request: IncomingMessage,
    response: ServerResponse,
    isCurrent: boolean,
    locale: Locale
  ): Promise<void> {
    sendCompressed(
      request,
      response,
      200,
      {
        ...security,
        'content-type': 'application/json',
        'cache-control': isCurrent
          ? `public, max-age=${messagesMaxAgeSeconds}, immutable`
          : 'no-cache',
        vary: 'Accept-Encoding'
      },
      await messages[locale]
    )
  }

  function dictionary(locale: Locale): Promise<CompressedBody> {
    const text = JSON.stringify(build.messages[locale])
    return compressBody(Buffer.from(text), 'application/json', fileQuality)
  }

  async function sendPage(
    request: IncomingMessage,
    response: ServerResponse,
    host: string,
    path: string,
    query: string
  ): Promise<void> {
    const [, first = '', ...rest] = path.split('/')
    const prefix = siteLocales.find(locale => locale === first)
    const locale = prefix ?? detectLocale(request.headers, path)
    const local = prefix ? `/${rest.join('/')}` : path
    const vary = prefix ? 'Accept-Encoding' : 'Accept-Encoding, Cookie, Accept-Language'
    const page = findPage(local) ?? notFoundPage
    // the home page has the address `/`; every other page has one address for each language
    if (!prefix && local !== '/' && page !== notFoundPage) {
      const location = `/${locale}${local}${query}`
      response.writeHead(302, { ...security, 'cache-control': 'no-cache', vary, location }).end()
      return
    }
    const isKnown = page !== notFoundPage
    const address = `/${locale}${renderedPathOf(page)}`.replace(/\/$/, '')
    try {
      const owner = await options.resolve(host)
      if (!owner) return plain(response, 421, 'Misdirected Request')
      if (!isKnown && isCrawler(request.headers)) {
        log.warn({ host, path, status: 404 }, 'a crawler asked for a page that does not exist')
        response.writeHead(404, { ...security, 'cache-control': 'no-cache', vary }).end()
        return
      }
      const whose = { company_id: owner.company_id, domain: owner.config.id }
      const kept = await cache.get(`${host} ${address}`, versionOf(owner), () =>
        options.inPlace(whose, () => render(host, address, isKnown ? 200 : 404))
      )
      sendCompressed(request, response, kept.status, { ...kept.headers, vary }, kept.body)
    } catch (cause) {
      fail(request, response, locale, { host, path: address, cause })
    }
  }

  // only host and path reach the renderer: others see the page, so it must contain nothing of one
  // visitor's request
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
      scripts: build.scripts,
      checksPerMinute: options.checksPerMinute,
      publicAddresses: options.publicAddresses,
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
    throw new Error(`${path} ${reason} instead of ${status}`, { cause: failure })
  }

  function fail(
    request: IncomingMessage,
    response: ServerResponse,
    locale: Locale,
    { cause, ...facts }: { host: string; path: string; cause: unknown }
  ): void {
    const id = randomBytes(9).toString('base64url')
    const status = failureStatus(cause)
    log.error({ ...facts, request: id, status, err: cause }, 'a page failed')
    const headers = { ...security, 'cache-control': 'no-store' }
    if (isCrawler(request.headers)) {
      response.writeHead(status, headers).end()
      return
    }
    response.writeHead(status, {
      ...headers,
      'content-security-policy': failurePageCsp,
      'content-type': 'text/html; charset=utf-8'
    })
    response.end(request.method === 'HEAD' ? undefined : failurePage(build, { locale, status, id }))
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

// with the company's id, because a host may move to another company
function versionOf({ company_id, config }: Owner): string {
  return [company_id, config.id, config.version, config.paused?.verification].join(' ')
}

function target(request: IncomingMessage): { path: string; query: string } {
  const [raw = '/'] = (request.url ?? '/').split('#', 1)
  const mark = raw.indexOf('?')
  const path = mark < 0 ? raw : raw.slice(0, mark)
  // a browser would read a redirect to `//host/` as an address on another host
  const isClean = path === '/' || !(path.includes('//') || path.endsWith('/'))
  const clean = isClean ? path : `/${path.split('/').filter(Boolean).join('/')}`
  return { path: clean, query: mark < 0 ? '' : raw.slice(mark) }
}

const disabledFeatures = [
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
    'permissions-policy': disabledFeatures.map(name => `${name}=()`).join(', '),
    ...(scheme === 'https' ? { 'strict-transport-security': hstsHeader } : {})
  }
}

interface WellKnownResponse {
  status: 200 | 302
  headers: Record<string, string>
  body: string
}

/** The files that programs expect on every host. Undefined for any other path. */
export function wellKnownResponse(
  path: string,
  host: { origin: string; contact: string | undefined; locale: string },
  now = new Date()
): WellKnownResponse | undefined {
  if (path === '/robots.txt') {
    // pages that must not be indexed say so in a meta element or header
    return { status: 200, headers: plainText, body: 'User-agent: *\nDisallow:\n' }
  }
  if (path === '/.well-known/change-password') {
    const headers = { location: `/${host.locale}/me`, 'cache-control': 'no-cache' }
    return { status: 302, headers, body: '' }
  }
  const contact = contactLink(host.contact)
  if (path !== '/.well-known/security.txt' || contact === undefined) return undefined
  const expires = new Date(now.getTime() + securityTxtDays * 86_400_000)
  const lines = [
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    'Preferred-Languages: en, fr',
    `Canonical: ${host.origin}${path}`
  ]
  return { status: 200, headers: plainText, body: `${lines.join('\n')}\n` }
}

/** From the cookie, else the browser's preferences, else the path, else English. */
export function detectLocale(headers: IncomingHttpHeaders, path: string): Locale {
  const chosen = /(?:^|;\s*)i18n_redirected=(en|fr)(?:;|$)/.exec(headers.cookie ?? '')?.[1]
  const [, segment = ''] = path.toLowerCase().split('/')
  return firstOf([chosen, ...preferred(headers['accept-language'] ?? ''), languageOf(segment)])
}

// 'de, fr-CA;q=0.8, en;q=0' → ['de', 'fr']
function preferred(header: string): string[] {
  return parseAccept(header.toLowerCase())
    .filter(({ q }) => q > 0)
    .map(({ type }) => languageOf(type))
}

function languageOf(tag: string): string {
  return tag.split('-')[0] ?? ''
}

function firstOf(names: (string | undefined)[]): Locale {
  return names.flatMap(name => siteLocales.find(locale => locale === name) ?? [])[0] ?? 'en'
}

/** Crawlers get error responses without a body. */
export function isCrawler(headers: IncomingHttpHeaders): boolean {
  return crawlers.test(headers['user-agent'] ?? '')
}
