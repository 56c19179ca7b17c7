import ipaddr from 'ipaddr.js'

/** Both ends included, as 128-bit numbers. An IPv4 address counts as `::ffff:a.b.c.d`. */
export interface AddressRange {
  first: bigint
  last: bigint
}

/** `'::ffff:192.0.2.7'` → `'192.0.2.7'`, `'2001:DB8:0::1'` → `'2001:db8::1'` */
export function normalizeAddress(text: string): string | undefined {
  return parse(text)?.toString()
}

export function parseNetwork(text: string): AddressRange | undefined {
  const slash = text.indexOf('/')
  const address = parse(slash < 0 ? text : text.slice(0, slash), 'as written')
  if (!address) return undefined
  const bits = address.kind() === 'ipv4' ? 32 : 128
  const prefix = slash < 0 ? String(bits) : text.slice(slash + 1)
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits) return undefined
  const free = BigInt(bits - Number(prefix))
  const first = (numberOf(address) >> free) << free
  return { first, last: first + (1n << free) - 1n }
}

export function isInAddressRanges(text: string, ranges: readonly AddressRange[]): boolean {
  const address = ranges.length > 0 ? parse(text) : undefined
  if (!address) return false
  const number = numberOf(address)
  return ranges.some(({ first, last }) => first <= number && number <= last)
}

// providers give a /64 or a /56 to a household, and a /48 to an organization
const countedPrefixes = [64, 56, 48]

/** `'2001:db8::1'` → `['2001:db8::/64', '2001:db8::/56', '2001:db8::/48']` */
export function networksOfAddress(text: string): string[] {
  const address = parse(text)
  if (!address) return [text]
  if (address.kind() === 'ipv4') return [address.toString()]
  const plain = address.toString().replace(/%.*/, '')
  return countedPrefixes.map(
    prefix => `${ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${prefix}`)}/${prefix}`
  )
}

// the library would take `10.1` and `0x7f.1` for IPv4
function parse(text: string, form?: 'as written'): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!ipaddr.IPv6.isValid(text)) return undefined
  const address = ipaddr.IPv6.parse(text)
  return form === undefined && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

function numberOf(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  const long = 'octets' in address ? address.toIPv4MappedAddress() : address
  return long.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}
