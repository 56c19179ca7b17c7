import ipaddr from 'ipaddr.js'

/**
 * A range of IP addresses from `first` to `last`, both inclusive. Each is an IPv6 address as a
 * 128-bit number. An IPv4 address counts as the IPv6 address `::ffff:a.b.c.d`.
 */
export interface AddressRange {
  first: bigint
  last: bigint
}

/**
 * Returns the normal form of an IP address: `'::ffff:192.0.2.7'` → `'192.0.2.7'`, `'2001:DB8:0::1'`
 * → `'2001:db8::1'`. Returns undefined for any other text.
 */
export function normalizeAddress(text: string): string | undefined {
  return parse(text)?.toString()
}

/**
 * Returns the range of a network such as `10.0.0.0/8` or of a single address. Returns undefined for
 * any other text.
 */
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

/**
 * Returns whether the address `text` is in one of the ranges. Returns false for a text that is not
 * an address.
 */
export function isInAddressRanges(text: string, ranges: readonly AddressRange[]): boolean {
  const address = ranges.length > 0 ? parse(text) : undefined
  if (!address) return false
  const number = numberOf(address)
  return ranges.some(({ first, last }) => first <= number && number <= last)
}

/**
 * The prefix lengths of the IPv6 networks that rate limits count in place of single addresses.
 * Providers usually give a /64 or a /56 to a household and a /48 to an organization.
 */
const countedPrefixes = [64, 56, 48]

/**
 * Returns the networks in which rate limits count a call from an address, smallest first. For an
 * IPv4 address, returns only the address, without `::ffff:`. For a text that is no address, returns
 * only the text.
 * `'2001:db8::1'` → `['2001:db8::/64', '2001:db8::/56', '2001:db8::/48']`
 */
export function networksOfAddress(text: string): string[] {
  const address = parse(text)
  if (!address) return [text]
  if (address.kind() === 'ipv4') return [address.toString()]
  const plain = address.toString().replace(/%.*/, '')
  return countedPrefixes.map(
    prefix => `${ipaddr.IPv6.networkAddressFromCIDR(`${plain}/${prefix}`)}/${prefix}`
  )
}

/**
 * Parses an IPv6 address, or an IPv4 address of four decimal numbers. Returns undefined for any
 * other text, even for `10.1` and `0x7f.1`, which the library would accept as IPv4. Converts
 * `::ffff:a.b.c.d` to an IPv4 address, except with the form `as written`.
 */
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
