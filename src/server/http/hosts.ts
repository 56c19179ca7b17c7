import type { IncomingMessage, ServerResponse } from 'node:http'
import { HostName } from '../../contract/domains.ts'
import {
  type AddressRange,
  isInAddressRanges,
  normalizeAddress,
  parseNetwork
} from '../domain/ip-addresses.ts'

/**
 * Returns the host name of an HTTP request, which decides its company: `'Docs.Acme.fr:443'` →
 * `'docs.acme.fr'`. Returns undefined if the Host header is missing, repeated or invalid, or if the
 * URL does not begin with `/`.
 */
export function hostOf({ rawHeaders, url }: IncomingMessage): string | undefined {
  let said: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length !== 4 || name.toLowerCase() !== 'host') continue
    if (said !== undefined) return undefined
    said = rawHeaders[at + 1]
  }
  if (said === undefined || !url?.startsWith('/')) return undefined
  if (!hostsByHeader.has(said)) {
    if (hostsByHeader.size >= maxHeaders) hostsByHeader.clear()
    hostsByHeader.set(said, hostIn(said))
  }
  return hostsByHeader.get(said)
}

/**
 * Returns whether the path of a request has nothing percent-encoded and no segment that is empty,
 * `.` or `..`. Proxies may read any other path differently than this server. For example, a proxy's
 * rule for `/user` would miss `/x/%2e%2e/user` and `/%75ser`.
 */
export function hasUnambiguousPath(target: string): boolean {
  const path = target.split('?', 1)[0] ?? ''
  return /^[\w.~!$&'()*+,;=:@/-]+$/.test(path) && !/\/\/|\/\.{1,2}(?:\/|$)/.test(path)
}

/**
 * A cache of the host names in Host headers, by the text of the header. Holds undefined for an
 * invalid header. Is emptied when it holds `maxHeaders` entries and another one is added.
 */
const hostsByHeader = new Map<string, string | undefined>()
const maxHeaders = 1000

function hostIn(header: string): string | undefined {
  const match = /^([a-z0-9.-]{1,253}?)\.?(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const [, host, port = '0'] = match ?? []
  if (Number(port) > 65_535 || !HostName.safeParse(host).success) return undefined
  return host
}

/** What a person reads at an address that no company has. It names no host. */
const misdirectedAdvice = `
Nothing is served at this address. Whoever runs this service sees the addresses that are served with
  npm run vidimus -- hosts

Rien n’est servi à cette adresse. La personne qui exploite ce service voit les adresses servies avec
  npm run vidimus -- hosts
`

/**
 * Sends the error response for an HTTP request whose host name is invalid (400), belongs to no
 * company (421) or could not be looked up (503). The response does not reveal which hosts exist.
 */
export function sendHostError(
  response: ServerResponse,
  status: 400 | 421 | 503,
  headers: Record<string, string> = {}
): void {
  const words = { 400: 'Bad Request', 421: 'Misdirected Request', 503: 'Service Unavailable' }
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close'
  })
  const advice = status === 421 ? misdirectedAdvice : ''
  response.end(`${words[status]}\n${advice}`)
}

/**
 * Returns the network address of the client that sent an HTTP request, even if the client connects
 * through trusted proxies.
 */
export type ClientAddressReader = (request: IncomingMessage) => string

/**
 * Returns the function that determines the address of a client: the address of the connection or,
 * behind trusted proxies, the last address in `X-Forwarded-For` that is not a trusted proxy.
 */
export function createClientAddressReader(trustedProxies: string[]): ClientAddressReader {
  const trusted = trustedProxies.map(parseTrustedNetwork)
  return request => {
    const peer = request.socket.remoteAddress ?? ''
    let address = normalizeAddress(peer) ?? peer
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',')
    while (hops.length > 0 && isInAddressRanges(address, trusted)) {
      const hop = normalizeAddress(hops.pop()?.trim() ?? '')
      if (hop === undefined) break
      address = hop
    }
    return address
  }
}

/**
 * Parses an entry of `TRUSTED_PROXIES`. Throws if it is not a network or contains every address.
 */
export function parseTrustedNetwork(network: string): AddressRange {
  const range = parseNetwork(network)
  if (!range) {
    throw new Error(
      `TRUSTED_PROXIES contains ${network}, which is not a network such as 10.0.0.0/8.`
    )
  }
  if (/\/0+$/.test(network)) {
    throw new Error(
      `TRUSTED_PROXIES contains ${network}, which is everyone: list only your own proxies.`
    )
  }
  return range
}

/**
 * Returns a function that tells whether a network address is that of a trusted proxy or of this
 * machine. Connections from such an address may belong to many people.
 */
export function createProxyAddressCheck(trustedProxies: string[]): (address: string) => boolean {
  const shared = [...trustedProxies, '127.0.0.0/8', '::1'].map(parseTrustedNetwork)
  return address => isInAddressRanges(address, shared)
}
