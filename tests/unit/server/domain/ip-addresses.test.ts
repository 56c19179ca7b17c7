import { expect, test } from 'vitest'
import {
  isInAddressRanges,
  networksOfAddress,
  normalizeAddress,
  parseNetwork
} from '../../../../src/server/domain/ip-addresses.ts'

test.each([
  ['192.0.2.7', ['192.0.2.7']],
  ['::ffff:192.0.2.7', ['192.0.2.7']],
  ['2001:db8::1', ['2001:db8::/64', '2001:db8::/56', '2001:db8::/48']],
  ['2001:DB8:0:0:1:2:3:4', ['2001:db8::/64', '2001:db8::/56', '2001:db8::/48']],
  ['2001:db8:1:2345::', ['2001:db8:1:2345::/64', '2001:db8:1:2300::/56', '2001:db8:1::/48']],
  ['::1', ['::/64', '::/56', '::/48']],
  ['fe80::1%eth0', ['fe80::/64', 'fe80::/56', 'fe80::/48']],
  ['64:ff9b::192.0.2.7', ['64:ff9b::/64', '64:ff9b::/56', '64:ff9b::/48']],
  ['', ['']]
])('counts %s as %s', (address, networks) => {
  expect(networksOfAddress(address)).toEqual(networks)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::FFFF:192.0.2.7', '192.0.2.7'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['10.1', undefined],
  ['010.0.0.1', undefined],
  ['0x7f.0.0.1', undefined],
  ['192.0.2.7:80', undefined],
  ['proxy.test', undefined],
  ['', undefined]
])('reads the address %s as %s', (text, address) => {
  expect(normalizeAddress(text)).toBe(address)
})

test.each([
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.0.0.0', '10.0.0.0/8', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['::ffff:10.1.2.3', '10.0.0.0/8', true],
  ['10.1.2.3', '::ffff:10.0.0.0/104', true],
  ['fd00::1', 'fd00::/8', true],
  ['2001:db8::1', 'fd00::/8', false],
  ['not an address', '10.0.0.0/8', false]
])('%s lies within %s: %s', (address, network, expected) => {
  const range = parseNetwork(network)
  expect(range && isInAddressRanges(address, [range])).toBe(expected)
})

test.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/8/8', 'fd00::/129', '/8', ''])(
  'takes %j for no network',
  text => {
    expect(parseNetwork(text)).toBeUndefined()
  }
)
