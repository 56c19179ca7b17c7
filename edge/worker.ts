import { env, waitUntil } from 'cloudflare:workers'
import record from 'vidimus:build'
import { createApp } from 'astro/app/entrypoint'
import { getMimeType } from 'hono/utils/mime'
import { type Bytes, toBase64Url } from '../src/core/bytes.ts'
import { hostRefusal, type RefusalStatus, readHost } from '../src/site/hosts.ts'
import { createOwnerReader, type OwnerSource, siteSecretHeader } from '../src/site/owners.ts'
import { type BuiltFile, createSite } from '../src/site/site.ts'
import { isLogPath } from '../src/site/well-known.ts'

// together a quarter of the memory that providers give to an isolate
const maxCacheBytes = 16_000_000
const maxOwnerCharacters = 8_000_000
// what the API allows by default
const checksPerMinute = 60
const logAnswerMs = 30_000
const hidden = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip'
]

const { protocol, port } = new URL(env.PUBLIC_URL)
const scheme = protocol === 'https:' ? 'https' : 'http'
const app = createApp()
const paths = new Set(record.files)
const files = new Map<string, Promise<BuiltFile>>()

const resolve = createOwnerReader(ownerSource(), {
  fetch: (input, init) => fetch(input, init),
  waitUntil,
  maxCharacters: maxOwnerCharacters,
  // the runtime may end a request that waits, and its turn would come to nothing
  maxUnknownWaiting: 0
})

const site = createSite({
  resolve,
  inPlace: (_whose, render) => render(),
  scheme,
  port: port === '' ? undefined : Number(port),
  log: {
    error: (facts, text) => log('error', facts, text),
    warn: (facts, text) => log('warn', facts, text)
  },
  pages: {
    ...record,
    styles: record.files.filter(path => path.endsWith('.css')),
    file: path => (paths.has(path) ? readFile(path) : undefined),
    async render({ path, authority }, locals) {
      const headers = { accept: 'text/html' }
      await app.render(new Request(`http://${authority}${path}`, { headers }), { locals })
    }
  },
  // the provider compresses
  async encode(body) {
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', body))
    return { etag: `W/"${toBase64Url(hash)}"`, identity: body, size: body.length }
  },
  maxCacheBytes
})

export default {
  fetch(request: Request): Promise<Response> {
    const answering = answer(request).catch((error: unknown) => {
      log('error', { host: request.headers.get('host'), err: error }, 'request failed')
      return refuse(503)
    })
    // others may wait for what this request has begun, even if its visitor leaves
    waitUntil(answering)
    return answering
  }
}

async function answer(request: Request): Promise<Response> {
  const host = readHost(request.headers.get('host') ?? '')
  if (!host) return refuse(400)
  // `api.acme.fr` is the API of `acme.fr` if that exists, else a page host
  if (host.startsWith('api.')) {
    const owner = await resolve(host.slice(4)).catch(() => 'unknown' as const)
    if (owner) return askApi(request).catch(() => refuse(503))
  }
  const target = request.url.slice(request.url.indexOf('/', 'https://'.length))
  if (isLogPath(target)) {
    if (!(await resolve(host))) return refuse(421)
    return askApi(request, AbortSignal.timeout(logAnswerMs)).catch(() => refuse(503))
  }
  // if that fails, the site shows a page that says so
  const owner = await resolve(host).catch(() => 'unknown' as const)
  if (!owner) return refuse(421)
  const { status, headers, body } = await site.answer(
    {
      method: request.method,
      target,
      headers: Object.fromEntries(request.headers)
    },
    host
  )
  // an empty text would get a type
  return new Response(body || null, { status, headers })
}

/** Hides what the visitor says about itself and about proxies, because the API believes the edge. */
function askApi(request: Request, signal?: AbortSignal): Promise<Response> {
  const headers = new Headers(request.headers)
  for (const name of [...hidden, siteSecretHeader]) headers.delete(name)
  const address = env.CLIENT_ADDRESS_HEADER && request.headers.get(env.CLIENT_ADDRESS_HEADER)
  if (address) headers.set('x-forwarded-for', address)
  headers.set('via', '1.1 edge')
  return fetch(new Request(request, { headers, redirect: 'manual', ...(signal && { signal }) }))
}

function refuse(status: RefusalStatus): Response {
  const { headers, body } = hostRefusal(status)
  return new Response(body, { status, headers })
}

function ownerSource(): OwnerSource {
  const { SITE_SECRET: secret, API_INTERNAL_URL: apiUrl } = env
  if (secret) return { apiUrl, secret }
  const suffix = port === '' ? '' : `:${port}`
  return { apiOriginOf: host => `${scheme}://api.${host}${suffix}`, checksPerMinute }
}

async function loadFile(path: string): Promise<BuiltFile> {
  const response = await env.ASSETS.fetch(`http://files${path}`)
  if (!response.ok) throw new Error(`The file ${path} answers ${response.status}`)
  const body: Bytes = new Uint8Array(await response.arrayBuffer())
  return { body, type: getMimeType(path) ?? 'application/octet-stream' }
}

/** Keeps what it has read. */
function readFile(path: string): Promise<BuiltFile> {
  const known = files.get(path)
  if (known) return known
  const reading = loadFile(path)
  files.set(path, reading)
  reading.catch(() => files.delete(path))
  return reading
}

function log(level: 'error' | 'warn', facts: object, text: string): void {
  const shown = (_key: string, value: unknown) =>
    value instanceof Error ? { stack: value.stack, cause: value.cause } : value
  console[level](JSON.stringify({ level, ...facts, msg: text }, shown))
}
