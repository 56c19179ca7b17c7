import type { IncomingMessage, ServerResponse } from 'node:http'
import { HostName } from '../../contract/domains.ts'
import {
  type AddressRange,
  isInAddressRanges,
  normalizeAddress,
  parseNetwork
} from '../domain/ip-addresses.ts'

/**
 * `'Docs.Acme.fr:443'` → `'docs.acme.fr'`. Undefined if the Host header is missing, repeated or
 * invalid, or if the URL does not begin with `/`.
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

/** Proxies may read any other path differently: a rule for `/user` would miss `/x/%2e%2e/user`. */
export function hasUnambiguousPath(target: string): boolean {
  const path = target.split('?', 1)[0] ?? ''
  return /^[\w.~!$&'()*+,;=:@/-]+$/.test(path) && !/\/\/|\/\.{1,2}(?:\/|$)/.test(path)
}

const hostsByHeader = new Map<string, string | undefined>()
const maxHeaders = 1000

function hostIn(header: string): string | undefined {
  const match = /^([a-z0-9.-]{1,253}?)\.?(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const [, host, port = '0'] = match ?? []
  if (Number(port) > 65_535 || !HostName.safeParse(host).success) return undefined
  return host
}

// names no host
const misdirectedAdvice = `
Nothing is served at this address. Whoever runs this service sees the addresses that are served with
  npm run vidimus -- hosts

Rien n’est servi à cette adresse. La personne qui exploite ce service voit les adresses servies avec
  npm run vidimus -- hosts
`

/** Does not reveal which hosts exist. */
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

export type ClientAddressReader = (request: IncomingMessage) => string

/** Behind trusted proxies, the last address in `X-Forwarded-For` that is not one of theirs. */
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

/** Throws if the entry is not a network or contains every address. */
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
 * Tells whether an address is that of a trusted proxy or of this machine, so that many people may
 * share it.
 */
export function createProxyAddressCheck(trustedProxies: string[]): (address: string) => boolean {
  const shared = [...trustedProxies, '127.0.0.0/8', '::1'].map(parseTrustedNetwork)
  return address => isInAddressRanges(address, shared)
}
