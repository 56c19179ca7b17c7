import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIP, isIPv6 } from 'node:net'
import { HostName } from '../contract/domains.ts'

/**
 * The one reading of a request's host, on which the company depends: `undefined` for more than one
 * Host header, an absolute or otherwise odd target, or a name or port that cannot be one.
 * `'Docs.Acme.fr:443'` → `'docs.acme.fr'`
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
  if (!read.has(said)) {
    if (read.size >= maxRead) read.clear()
    read.set(said, hostIn(said))
  }
  return read.get(said)
}

/** Headers read before: a service has few hosts and each is asked for again and again. */
const read = new Map<string, string | undefined>()
const maxRead = 1000

function hostIn(header: string): string | undefined {
  const match = /^([a-z0-9.-]{1,253}?)\.?(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const [, host, port = '0'] = match ?? []
  if (Number(port) > 65_535 || !HostName.safeParse(host).success) return undefined
  return host
}

/** Says nothing about which hosts exist. */
export function refuseHost(response: ServerResponse, status: 400 | 421 | 503): void {
  const words = { 400: 'Bad Request', 421: 'Misdirected Request', 503: 'Service Unavailable' }
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close'
  })
  response.end(`${words[status]}\n`)
}

export type AddressReader = (request: IncomingMessage) => string

/** Address of the other end: the peer, or behind trusted networks the last hop that is in none of them. */
export function createAddressReader(trustedProxies: string[]): AddressReader {
  const trusted = new BlockList()
  for (const network of trustedProxies) {
    const { family, address, prefix } = networkOf(network)
    trusted.addSubnet(address, prefix, family)
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
  return request => {
    let address = plainAddress(request.socket.remoteAddress ?? '')
    const hops = String(request.headers['x-forwarded-for'] ?? '').split(',')
    while (isTrusted(address) && hops.length > 0) {
      const hop = plainAddress(hops.pop()?.trim() ?? '')
      if (isIP(hop) === 0) break
      address = hop
    }
    return address
  }
}

/** `'10.0.0.0/8'` → its parts; an address alone is a network of one. */
export function networkOf(network: string): {
  family: 'ipv4' | 'ipv6'
  address: string
  prefix: number
} {
  const [address = '', bits] = network.split('/')
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  const widest = family === 'ipv6' ? 128 : 32
  const prefix = bits === undefined ? widest : /^\d+$/.test(bits) ? Number(bits) : -1
  if (isIP(address) === 0 || prefix < 0 || prefix > widest) {
    throw new Error(`TRUSTED_PROXIES names ${network}, which is no network such as 10.0.0.0/8.`)
  }
  if (prefix === 0) {
    throw new Error(`TRUSTED_PROXIES names ${network}, everybody: list your own proxies only.`)
  }
  return { family, address, prefix }
}

/** `'::ffff:127.0.0.1'` → `'127.0.0.1'` */
function plainAddress(address: string): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}
