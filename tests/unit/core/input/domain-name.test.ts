import { describe, expect, test } from 'vitest'
import {
  canBecomeDomain,
  hostFault,
  isDomainName,
  isWildcardDomain,
  matchesDomainPattern,
  normalizeTypedHost
} from '../../../../src/core/input/domain-name.ts'
import { topLevelDomains } from '../../../../src/core/input/top-level-domains.ts'

const isTopLevel = (label: string) => topLevelDomains.has(label)
const label = (length: number) => 'a'.repeat(length)
/** Returns a domain name of exactly `length` characters that ends in `.fr`. */
const nameOf = (length: number) => {
  const filled = `${label(61)}.`.repeat(4)
  return `${filled}${label(length - filled.length - 3)}.fr`
}

describe('a domain name', () => {
  test.each([
    'acme.fr',
    'docs.acme.fr',
    'DOCS.Acme.FR',
    'a.b.c.d.co.uk',
    'xn--exmple-cua.com',
    '1.museum',
    'a--b.org',
    `${label(63)}.fr`
  ])('is %s', text => expect(isDomainName(text, isTopLevel)).toBe(true))

  test.each([
    '',
    'fr',
    'localhost',
    'acme',
    'acme.',
    '.acme.fr',
    'acme..fr',
    '-acme.fr',
    'acme-.fr',
    'docs.-acme.fr',
    'ac_me.fr',
    'ac me.fr',
    'acmé.fr',
    '*.acme.fr',
    'acme.notatld',
    'acme.123',
    '192.168.0.1',
    'https://acme.fr',
    'acme.fr/',
    'acme.fr:443',
    `${label(64)}.fr`
  ])('is not %s', text => expect(isDomainName(text, isTopLevel)).toBe(false))

  test('has 253 characters at most', () => {
    expect(nameOf(253)).toHaveLength(253)
    expect(isDomainName(nameOf(253), isTopLevel)).toBe(true)
    expect(isDomainName(`b${nameOf(253)}`, isTopLevel)).toBe(false)
  })
})

test.each([
  ['docs.acme.fr', '*.acme.fr', true],
  ['DOCS.acme.fr', '*.Acme.fr', true],
  ['acme.fr', '*.acme.fr', false],
  ['a.docs.acme.fr', '*.acme.fr', false],
  ['docs.acmee.fr', '*.acme.fr', false],
  ['-.acme.fr', '*.acme.fr', false],
  ['*.acme.fr', '*.acme.fr', false],
  ['acme.fr', 'acme.fr', true]
])('%s is built from %s: %s', (text, base, expected) => {
  expect(matchesDomainPattern(text, base, isTopLevel)).toBe(expected)
})

test.each([
  ['*.acme.fr', true],
  ['acme.fr', false],
  ['*', false],
  ['*.fr', true],
  ['*.*.fr', false],
  ['a.*.fr', false],
  ['*.acme.notatld', false]
])('%s is a wildcard domain: %s', (text, expected) => {
  expect(isWildcardDomain(text, isTopLevel)).toBe(expected)
})

test.each([
  ['', 'docs.', true],
  ['do', 'docs.', true],
  ['docs.', 'docs.', true],
  ['Docs.acme', 'docs.', true],
  ['dox', 'docs.', false],
  ['docs.-', 'docs.', false],
  [`docs.${label(64)}`, 'docs.', false]
])('%j can begin a name with %s: %s', (text, start, expected) => {
  expect(canBecomeDomain(text, start)).toBe(expected)
})

test('knows the usual endings, the new ones and those of other scripts', () => {
  for (const known of ['com', 'fr', 'museum', 'paris', 'xn--p1ai', 'dev', 'uk']) {
    expect(isTopLevel(known), known).toBe(true)
  }
  for (const unknown of ['localhost', 'test', 'internal', 'example', 'con', '']) {
    expect(isTopLevel(unknown), unknown).toBe(false)
  }
  expect(topLevelDomains.size).toBeGreaterThan(1400)
})

describe('a typed host', () => {
  test.each([
    [' https://Docs.Acme.fr/en?x=1 ', 'docs.acme.fr'],
    ['docs.acme.fr.', 'docs.acme.fr'],
    ['http://docs.acme.fr:8080', 'docs.acme.fr'],
    ['*.Acme.fr', '*.acme.fr'],
    ['dépôt.fr', 'xn--dpt-bma0d.fr'],
    ['*.dépôt.fr', '*.xn--dpt-bma0d.fr'],
    ['docs_acme.fr', 'docs_acme.fr']
  ])('%s is %s', (text, host) => expect(normalizeTypedHost(text)).toBe(host))

  test.each([
    ['', undefined],
    ['docs.acme.fr', undefined],
    ['*.acme.fr', undefined],
    [nameOf(253), undefined],
    [nameOf(254), 'max'],
    [`${label(64)}.fr`, 'host_label'],
    ['-acme.fr', 'host_hyphen'],
    ['docs.acme-.fr', 'host_hyphen'],
    ['docs_acme.fr', 'host_characters'],
    ['docs acme.fr', 'host_characters'],
    ['acme', 'host_dots'],
    ['acme.', 'host_dots'],
    ['docs..acme.fr', 'host_dots'],
    ['*', 'host_dots'],
    ['docs.*.fr', 'host_star'],
    ['d*.acme.fr', 'host_star'],
    ['docs.acme.nonsense', 'host_top_level'],
    ['*.fr', 'host_suffix'],
    ['api.acme.fr', 'host_api'],
    ['*.api.acme.fr', 'host_api'],
    ['api.a', 'host_api'],
    ['apiary.fr', undefined]
  ])('%s breaks %s', (host, rule) => expect(hostFault(host, isTopLevel)?.rule).toBe(rule))

  test('is never refused where it is a domain name outside of the API', () => {
    for (const host of ['acme.fr', 'a--b.org', '1.museum', '*.a.b.c.co.uk']) {
      const isName = isDomainName(host, isTopLevel) || isWildcardDomain(host, isTopLevel)
      expect([host, isName, hostFault(host, isTopLevel)]).toEqual([host, true, undefined])
    }
  })
})
