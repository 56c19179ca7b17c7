import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostRefusal, type RefusalStatus, readHost } from '../../site/hosts.ts'
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
    hostsByHeader.set(said, readHost(said))
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

/** Does not reveal which hosts exist. */
export function sendHostError(
  response: ServerResponse,
  status: RefusalStatus,
  headers: Record<string, string> = {}
): void {
  const refusal = hostRefusal(status)
  response.writeHead(status, { ...refusal.headers, ...headers, connection: 'close' })
  response.end(refusal.body)
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
