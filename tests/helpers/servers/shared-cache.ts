import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import { listenLocally } from './listen.ts'

/** A shared HTTP cache that listens on `port` and passes requests on to the service. */
export interface CachingProxy extends AsyncDisposable {
  port: number
}

interface Stored {
  /**
   * The request headers that `Vary` names in the stored response, each with its value in the
   * request to which the service gave this response.
   */
  varying: [name: string, value: string | undefined][]
  status: number
  headers: string[]
  body: Buffer
  etag: string | undefined
  freshUntil: number
}

const hopByHop = ['connection', 'keep-alive', 'transfer-encoding', 'te', 'trailer', 'upgrade']

/**
 * Starts a shared cache that stores as much as RFC 9111 allows. It has one entry for each method,
 * host, target and set of values of the `Vary` headers. It revalidates stale entries by their ETag,
 * and passes all other requests on unchanged.
 */
export async function startSharedCache(target: number) {
  const entries = new Map<string, Stored[]>()
  const counts = { asked: 0, hits: 0, revalidated: 0, stored: 0 }

  const proxy = createServer(async (incoming, outgoing) => {
    counts.asked++
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const { method = 'GET', url = '/', headers } = incoming
    const key = `${method} ${authorityOf(url, headers)} ${url}`
    const mayUse = (method === 'GET' || method === 'HEAD') && headers.range === undefined
    const found = mayUse ? entries.get(key)?.find(entry => matches(entry, headers)) : undefined
    // returns a fresh stored answer; its own headers must prevent wrong uses
    if (found && found.freshUntil > Date.now()) {
      counts.hits++
      return reply(found)
    }
    const own = headers['if-none-match'] === undefined && found?.etag !== undefined
    const condition = own && found.etag ? ['if-none-match', found.etag] : []
    const body = Buffer.concat(chunks)
    const answer = await sendRawRequest(
      target,
      method,
      url,
      [...incoming.rawHeaders, ...condition],
      body
    )
    if (found && own && answer.status === 304) {
      counts.revalidated++
      found.freshUntil = Date.now() + lifetimeOf(answer.headers) * 1000
      return reply(found)
    }
    const entry: Stored = {
      varying: namesIn(answer.headers.vary).map(name => [name, textOf(headers[name])]),
      status: answer.status,
      headers: answer.rawHeaders,
      body: answer.body,
      etag: textOf(answer.headers.etag),
      freshUntil: Date.now() + lifetimeOf(answer.headers) * 1000
    }
    if (mayUse && mayStore(entry, answer.headers, headers)) {
      counts.stored++
      const others = (entries.get(key) ?? []).filter(each => !matches(each, headers))
      entries.set(key, [...others, entry])
    }
    return reply(entry)

    function reply({ status, headers: raw, body: content }: Stored): void {
      outgoing.sendDate = false
      outgoing.writeHead(status, raw)
      outgoing.end(content)
    }
  })
  proxy.on('clientError', (_error, socket) => socket.destroy())
  return {
    port: await listenLocally(proxy),
    counts,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      await new Promise(resolve => proxy.close(resolve))
    }
  }
}

/** Returns the host of a request. An absolute target overrides the Host header (RFC 9110 §7.2). */
function authorityOf(url: string, headers: IncomingHttpHeaders): string {
  return (URL.canParse(url) ? new URL(url).host : (headers.host ?? '')).toLowerCase()
}

/**
 * Returns whether a shared cache may store an answer (RFC 9111 §3, and §3.5 for requests with
 * credentials).
 */
function mayStore(entry: Stored, answer: IncomingHttpHeaders, asked: IncomingHttpHeaders): boolean {
  const rules = directivesOf(answer)
  if (rules.has('no-store') || rules.has('private')) return false
  if (entry.varying.some(([name]) => name === '*')) return false
  const isShared = ['public', 's-maxage', 'must-revalidate'].some(each => rules.has(each))
  if (asked.authorization !== undefined && !isShared) return false
  const isUseful = lifetimeOf(answer) > 0 || entry.etag !== undefined
  return (
    [200, 203, 204, 300, 301, 302, 404, 405, 410, 414, 421, 501].includes(entry.status) && isUseful
  )
}

/**
 * Returns for how many seconds an answer is fresh. Returns 0 where the cache must revalidate it
 * every time.
 */
function lifetimeOf(headers: IncomingHttpHeaders): number {
  const rules = directivesOf(headers)
  if (rules.has('no-cache')) return 0
  const seconds = Number(rules.get('s-maxage') ?? rules.get('max-age'))
  // §4.2.2 allows a cache to guess a lifetime where none is given; this one does
  return Number.isNaN(seconds) ? 60 : seconds
}

function directivesOf(headers: IncomingHttpHeaders): Map<string, string> {
  const parts = (headers['cache-control'] ?? '').toLowerCase().split(',')
  return new Map(
    parts.map(part => {
      const [name = '', value = ''] = part.trim().split('=')
      return [name, value]
    })
  )
}

function matches({ varying }: Stored, headers: IncomingHttpHeaders): boolean {
  return varying.every(([name, value]) => textOf(headers[name]) === value)
}

function namesIn(vary: string | undefined): string[] {
  return (vary ?? '')
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(Boolean)
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

interface Asked {
  status: number
  headers: IncomingHttpHeaders
  rawHeaders: string[]
  body: Buffer
}

/** Sends one request with exactly these headers. */
export function sendRawRequest(
  port: number,
  method: string,
  path: string,
  headers: string[],
  body?: Uint8Array
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      method,
      path,
      headers,
      setHost: false,
      agent: false
    })
    outgoing.once('error', reject)
    outgoing.once('response', async response => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const raw = response.rawHeaders
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        rawHeaders: raw.filter(
          (_, at) => !hopByHop.includes((raw[at - (at % 2)] ?? '').toLowerCase())
        ),
        body: Buffer.concat(chunks)
      })
    })
    outgoing.end(body)
  })
}
