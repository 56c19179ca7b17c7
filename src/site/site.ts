import type { DomainConfig } from '../contract/domains.ts'
import { toBase64Url, toUtf8 } from '../core/bytes.ts'
import { hstsHeader, workerCsp } from '../core/http-headers/csp.ts'
import { findPage, notFoundPage, renderedPathOf } from '../core/pages/page-table.ts'
import { type Locale, locales, type Messages } from '../i18n/index.ts'
import { type Answer, type Ask, type EncodedBody, encodedAnswer } from './answers.ts'
import { failurePage, failurePageCsp, failureStatus } from './failure-page.ts'
import type { Owner } from './owners.ts'
import { type Encode, PageCache, type RenderedPage } from './page-cache.ts'
import { detectLocale, isCrawler } from './visitors.ts'
import { wellKnownResponse } from './well-known.ts'

/** What `npm run build` made. */
export interface Pages {
  id: string
  messages: Record<Locale, Messages>
  scripts: BuiltScripts
  /** The paths of the style sheets. */
  styles: readonly string[]
  /** Undefined if there is no such file: `/kdf-a1.json`, `/_astro/client.FVv06Hs5.js`. */
  file(path: string): Promise<BuiltFile> | undefined
  /** Calls `keepPage` or `failPage` of the locals. */
  render(page: { path: string; authority: string }, locals: PageLocals): Promise<void>
}

/** The scripts of the pages, by name: `Verify.FVv06Hs5`. */
export interface BuiltScripts {
  /** The script that contains a source: `islands/verify/Verify.tsx`. */
  ofSource: Record<string, string>
  /** The scripts that a script imports at its start. */
  imports: Record<string, string[]>
}

export interface BuiltFile {
  body: EncodedBody['identity']
  type: string
}

/** What pages know besides what `src/middleware.ts` adds. */
export interface PageLocals {
  host: string
  origin: string
  apiOrigin: string
  config: DomainConfig
  /** A page of another build offers to reload. */
  buildId: string
  scripts: BuiltScripts
  /** The number of fingerprints that a network may verify in a minute without signing in. */
  checksPerMinute: number
  /** For the DNS records that domains need. */
  publicAddresses: readonly string[]
  keepPage: (page: RenderedPage) => void
  failPage: (cause: unknown) => void
}

export interface SiteOptions {
  resolve: (host: string) => Promise<Owner | undefined>
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
  pages: Pages
  encode: Encode
  maxCacheBytes: number
}

export interface Site {
  /** `host` must be normalized. */
  answer(ask: Ask, host: string): Promise<Answer>
  stats(): ReturnType<PageCache['stats']>
}

const fileQuality = 9
const messagesMaxAgeSeconds = 86_400

/** Runs on Node and on edge runtimes. Requests to the hosts of the API never reach it. */
export function createSite(options: SiteOptions): Site {
  const { pages, encode, log } = options
  const cache = new PageCache(options.maxCacheBytes, encode)
  const files = new Map<string, Promise<EncodedBody>>()
  const security = securityHeaders(options.scheme)

  return { answer, stats: () => cache.stats() }

  async function answer(ask: Ask, host: string): Promise<Answer> {
    const { path, query } = readTarget(ask.target)
    if (ask.method !== 'GET' && ask.method !== 'HEAD') {
      return plain(405, 'Method Not Allowed', { allow: 'GET, HEAD' })
    }
    const file = pages.file(path)
    if (file) return fileAnswer(ask, path, await file)
    if (path.startsWith('/_astro/')) return plain(404, 'Not Found')
    if (path === '/builds/latest.json') return buildIdAnswer(ask)
    const words = /^\/_i18n\/([\w-]+)\/(en|fr)\/messages\.json$/.exec(path)
    if (words) {
      const [, id, locale] = words
      return messagesAnswer(ask, id === pages.id, locale as Locale) // as: the pattern has checked it
    }
    if (path === '/robots.txt' || path.startsWith('/.well-known/')) {
      return wellKnownAnswer(ask, host, path)
    }
    return pageAnswer(ask, host, path, query)
  }

  async function wellKnownAnswer(ask: Ask, host: string, path: string): Promise<Answer> {
    const owner = await options.resolve(host)
    const locale = detectLocale(ask.headers, path)
    const { origin } = addressOf(host)
    const found =
      owner && wellKnownResponse(path, { origin, contact: owner.config.contact, locale })
    if (!found) return plain(404, 'Not Found')
    return {
      status: found.status,
      headers: { ...security, ...found.headers },
      body: ask.method === 'HEAD' ? undefined : found.body
    }
  }

  function addressOf(host: string): { authority: string; origin: string; apiOrigin: string } {
    const { scheme, port } = options
    const authority = port === undefined ? host : `${host}:${port}`
    return {
      authority,
      origin: `${scheme}://${authority}`,
      apiOrigin: `${scheme}://api.${authority}`
    }
  }

  /** Encodes it at the first request. */
  function encodedFile(path: string, body: () => BuiltFile['body'], type: string) {
    const encoded = files.get(path) ?? encode(body(), type, fileQuality)
    files.set(path, encoded)
    return encoded
  }

  async function fileAnswer(ask: Ask, path: string, file: BuiltFile): Promise<Answer> {
    const isImmutable = path.startsWith('/_astro/')
    const headers = {
      ...security,
      'content-type': file.type,
      'cache-control': isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'Accept-Encoding',
      ...(path.startsWith('/_astro/worker-') ? { 'content-security-policy': workerCsp } : {})
    }
    return encodedAnswer(ask, 200, headers, await encodedFile(path, () => file.body, file.type))
  }

  async function buildIdAnswer(ask: Ask): Promise<Answer> {
    const body = toUtf8(JSON.stringify({ id: pages.id }))
    const headers = {
      ...security,
      'content-type': 'application/json',
      'cache-control': 'no-store'
    }
    return encodedAnswer(ask, 200, headers, await encode(body, 'application/json', 1))
  }

  async function messagesAnswer(ask: Ask, isCurrent: boolean, locale: Locale): Promise<Answer> {
    const type = 'application/json'
    const body = () => toUtf8(JSON.stringify(pages.messages[locale]))
    const headers = {
      ...security,
      'content-type': type,
      'cache-control': isCurrent
        ? `public, max-age=${messagesMaxAgeSeconds}, immutable`
        : 'no-cache',
      vary: 'Accept-Encoding'
    }
    return encodedAnswer(ask, 200, headers, await encodedFile(`messages ${locale}`, body, type))
  }

  async function pageAnswer(ask: Ask, host: string, path: string, query: string): Promise<Answer> {
    const [, first = '', ...rest] = path.split('/')
    const prefix = locales.find(locale => locale === first)
    const locale = prefix ?? detectLocale(ask.headers, path)
    const local = prefix ? `/${rest.join('/')}` : path
    const vary = prefix ? 'Accept-Encoding' : 'Accept-Encoding, Cookie, Accept-Language'
    const page = findPage(local) ?? notFoundPage
    // the home page has the address `/`; every other page has one address for each language
    if (!prefix && local !== '/' && page !== notFoundPage) {
      const location = `/${locale}${local}${query}`
      return { status: 302, headers: { ...security, 'cache-control': 'no-cache', vary, location } }
    }
    const isKnown = page !== notFoundPage
    const address = `/${locale}${renderedPathOf(page)}`.replace(/\/$/, '')
    try {
      const owner = await options.resolve(host)
      if (!owner) return plain(421, 'Misdirected Request')
      if (!isKnown && isCrawler(ask.headers)) {
        log.warn({ host, path, status: 404 }, 'a crawler asked for a page that does not exist')
        return { status: 404, headers: { ...security, 'cache-control': 'no-cache', vary } }
      }
      const whose = { company_id: owner.company_id, domain: owner.config.id }
      const kept = await cache.get(`${host} ${address}`, versionOf(owner), () =>
        options.inPlace(whose, () => render(owner, host, address, isKnown ? 200 : 404))
      )
      return encodedAnswer(ask, kept.status, { ...kept.headers, vary }, kept.body)
    } catch (cause) {
      return failure(ask, locale, { host, path: address, cause })
    }
  }

  // only owner, host and path reach the renderer: others see the page, so it must contain nothing
  // of one visitor's request
  async function render(
    { config, checksPerMinute, publicAddresses }: Owner,
    host: string,
    path: string,
    status: number
  ): Promise<RenderedPage> {
    const { authority, origin, apiOrigin } = addressOf(host)
    let rendered: RenderedPage | undefined
    let failed: unknown
    await pages.render(
      { path, authority },
      {
        host,
        origin,
        apiOrigin,
        config,
        buildId: pages.id,
        scripts: pages.scripts,
        checksPerMinute,
        publicAddresses,
        keepPage: page => {
          rendered = page
        },
        failPage: cause => {
          failed = cause
        }
      }
    )
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
    throw new Error(`${path} ${reason} instead of ${status}`, { cause: failed })
  }

  function failure(
    ask: Ask,
    locale: Locale,
    { cause, ...facts }: { host: string; path: string; cause: unknown }
  ): Answer {
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(9)))
    const status = failureStatus(cause)
    log.error({ ...facts, request: id, status, err: cause }, 'a page failed')
    const headers = { ...security, 'cache-control': 'no-store' }
    if (isCrawler(ask.headers)) return { status, headers }
    return {
      status,
      headers: {
        ...headers,
        'content-security-policy': failurePageCsp,
        'content-type': 'text/html; charset=utf-8'
      },
      body: ask.method === 'HEAD' ? undefined : failurePage(pages, { locale, status, id })
    }
  }

  function plain(status: number, text: string, headers: Record<string, string> = {}): Answer {
    return {
      status,
      headers: {
        ...security,
        ...headers,
        'cache-control': 'no-store',
        'content-type': 'text/plain; charset=utf-8'
      },
      body: `${text}\n`
    }
  }
}

// with the company's id, because a host may move to another company
function versionOf({ company_id, config, checksPerMinute, publicAddresses }: Owner): string {
  const { id, version, paused } = config
  return [company_id, id, version, paused?.verification, checksPerMinute, publicAddresses].join(' ')
}

function readTarget(target: string): { path: string; query: string } {
  const [raw = '/'] = target.split('#', 1)
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
