import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buildRedirectParameter,
  parseRedirectParameter,
  withRedirect
} from '../../../../src/core/pages/redirect-parameter.ts'
import { runCount } from '../../../helpers/soak.ts'

const origin = 'https://acme.test'
const everywhere = () => true
const known = (path: string) => /^\/(en|fr)(\/(verify|deposit|history))?$/.test(path)

const hostilePaths = [
  '',
  ' ',
  'evil.com',
  '//evil.com',
  '///evil.com',
  '////evil.com',
  '//evil.com/en/verify',
  '//user@evil.com',
  '//acme.test@evil.com',
  '//evil.com:443/',
  '/..//evil.com',
  '/.//evil.com',
  '/a/..//evil.com',
  '/a/../..//evil.com',
  '/a/b/../..//evil.com',
  '/../..//evil.com',
  '/././/evil.com',
  '/%2e%2e//evil.com',
  '/%2E%2E//evil.com',
  '/%2e//evil.com',
  '/.%2e//evil.com',
  '/%2e.//evil.com',
  '/a/%2e%2e//evil.com',
  '/..//evil.com/%2f..',
  '/..///evil.com',
  '/\\evil.com',
  '\\\\evil.com',
  '\\/evil.com',
  '/\\/evil.com',
  '/\\\\evil.com',
  '/a\\..\\\\evil.com',
  '/..\\/evil.com',
  '/.\\\\evil.com',
  '/\t/evil.com',
  '/\n/evil.com',
  '/\r/evil.com',
  '/\r\n/evil.com',
  '\t//evil.com',
  '\n//evil.com',
  ' //evil.com',
  '\u00a0//evil.com',
  '\u0000//evil.com',
  '/\u0000/evil.com',
  '/en\u0000',
  '/en/verify\r\nSet-Cookie: a=b',
  '/en\u007f',
  '/en\u0085',
  '/en\u2028',
  '/en\u2029',
  '/en\ud800',
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  'javascript://acme.test/%0aalert(1)',
  'data:text/html,<script>alert(1)</script>',
  'vbscript:msgbox(1)',
  'blob:https://acme.test/1',
  'file:///etc/passwd',
  'http:evil.com',
  'https:evil.com',
  'https:/evil.com',
  'https://evil.com',
  'https:///evil.com',
  'https://acme.test/en',
  'https://acme.test.evil.com',
  'https://acme.test@evil.com',
  'HTTPS://EVIL.COM',
  '@evil.com',
  '.evil.com',
  ':443',
  '?a=b',
  '#a',
  './/evil.com',
  '../evil.com',
  '%2f%2fevil.com',
  '%68ttps://evil.com',
  '\u2044\u2044evil.com',
  '／／evil.com',
  `/${'a'.repeat(2_048)}`,
  `/${'é'.repeat(1_024)}`
]

const hostileTexts = [
  '',
  ' ',
  '/en/verify',
  'https://evil.com',
  'undefined',
  'null',
  'true',
  '1',
  '"/en"',
  '[]',
  '["/en"]',
  '{}',
  '{',
  '{"query":"","hash":""}',
  '{"path":null}',
  '{"path":1}',
  '{"path":["/en"]}',
  '{"path":{"toString":"/en"}}',
  '{"path":"/en","query":1}',
  '{"path":"/en","query":null}',
  '{"path":"/en","query":["a"]}',
  '{"path":"/en","hash":{}}',
  '{"path":"/en","query":"?a\\\\b"}',
  '{"path":"/en","query":"?a\\nb"}',
  '{"path":"/en","hash":"#\\u0000"}',
  '{"path":"/en","path":"//evil.com"}',
  '{"__proto__":{"path":"/en"}}',
  `{"path":"/en","query":"?${'a'.repeat(2_048)}"}`,
  `{"path":"/en","hash":"#${'a'.repeat(2_048)}"}`,
  `{"path":"/en","more":"${'a'.repeat(40_000)}"}`,
  '['.repeat(40_000)
]

describe('a redirect parameter', () => {
  test.each(hostilePaths)('does not lead to the path %.40j', path => {
    expect(
      parseRedirectParameter(JSON.stringify({ path, query: '', hash: '' }), origin, everywhere)
    ).toBeUndefined()
    expect(buildRedirectParameter({ path, query: '', hash: '' })).toBeOneOf([
      '',
      JSON.stringify({ path, query: '', hash: '' })
    ])
  })

  test.each(hostileTexts)('is not taken from %.60j', text => {
    expect(parseRedirectParameter(text, origin, everywhere)).toBeUndefined()
  })

  test('leads back to where a person was', () => {
    const text = buildRedirectParameter({
      path: '/fr/verify',
      query: '?q=a%20b&x=é',
      hash: '#part'
    })
    expect(parseRedirectParameter(text, origin, known)).toBe(
      'https://acme.test/fr/verify?q=a%20b&x=%C3%A9#part'
    )
    expect(parseRedirectParameter('{"path":"/en"}', origin, known)).toBe('https://acme.test/en')
    const local = 'http://demo.localhost:4321'
    expect(parseRedirectParameter('{"path":"/en/deposit"}', local, known)).toBe(
      `${local}/en/deposit`
    )
  })

  test('takes the query from the query, and not from the path', () => {
    expect(parseRedirectParameter('{"path":"/en?a=b#c"}', origin, known)).toBe(
      'https://acme.test/en'
    )
  })

  test('leads to listed pages only, judged after dots and escapes are resolved', () => {
    expect(parseRedirectParameter('{"path":"/en/sign-out"}', origin, known)).toBeUndefined()
    expect(parseRedirectParameter('{"path":"/en/reset-password"}', origin, known)).toBeUndefined()
    expect(
      parseRedirectParameter('{"path":"/en/verify/../sign-out"}', origin, known)
    ).toBeUndefined()
    expect(parseRedirectParameter('{"path":"/en/x/../verify"}', origin, known)).toBe(
      'https://acme.test/en/verify'
    )
  })

  test('never leaves the origin, nor does its path alone (E-02)', () => {
    const part = fc.constantFrom(
      '/',
      '//',
      '..',
      '.',
      '\\',
      '%2e',
      '%2f',
      '%5c',
      '@',
      ':',
      'evil.com',
      'en',
      '?',
      '#',
      '\t',
      ' ',
      'javascript'
    )
    const text = fc.array(part, { maxLength: 8 }).map(parts => parts.join(''))
    const parts = fc.record({ path: text.map(each => `/${each}`), query: text, hash: text })
    const parameter = fc.oneof(
      { weight: 8, arbitrary: parts.map(each => JSON.stringify(each)) },
      fc.string({ unit: 'binary' }),
      fc.json()
    )
    let accepted = 0
    fc.assert(
      fc.property(parameter, given => {
        const href = parseRedirectParameter(given, origin, everywhere)
        if (href === undefined) return
        accepted++
        const url = new URL(href)
        expect(url.origin).toBe(origin)
        expect(new URL(url.pathname, origin).origin).toBe(origin)
        expect(href.startsWith(`${origin}/`)).toBe(true)
        // where it leads, it leads again
        const { pathname: path, search: query, hash } = url
        const again = parseRedirectParameter(
          buildRedirectParameter({ path, query, hash }),
          origin,
          everywhere
        )
        expect(again).toBe(`${origin}${path}${query}${hash}`)
      }),
      { numRuns: runCount(10_000, 1_000_000) }
    )
    expect(accepted).toBeGreaterThan(500)
  })

  test('round trips through what it was built from', () => {
    const segment = fc.string({ unit: fc.constantFrom(...'abc-_~0'), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 4 }), segment, segment, (path, query, hash) => {
        const place = `/${path.join('/')}?${query}#${hash}`
        const built = buildRedirectParameter({
          path: `/${path.join('/')}`,
          query: `?${query}`,
          hash: `#${hash}`
        })
        expect(parseRedirectParameter(built, origin, everywhere)).toBe(origin + place)
      })
    )
  })

  test('is empty for a place that cannot be returned to', () => {
    expect(buildRedirectParameter({ path: '//evil.com', query: '', hash: '' })).toBe('')
    expect(buildRedirectParameter({ path: '/en', query: `?${'a'.repeat(2_048)}`, hash: '' })).toBe(
      ''
    )
  })
})

describe('the way to a page and back', () => {
  const place = { path: '/fr/history', query: '?kind=deposit&q=a%20b', hash: '#row' }

  test.each([
    ['/fr/sign-in', '', ''],
    ['/fr/sign-in?reason=ended', 'ended', ''],
    ['/fr/sign-in?reason=a%26b#invited', 'a&b', '#invited'],
    ['/fr/sign-in#a?b', '', '#a?b']
  ])('keeps what %s says itself', (target, reason, hash) => {
    const url = new URL(withRedirect(target, place), origin)
    expect(url.pathname).toBe('/fr/sign-in')
    expect(url.searchParams.get('reason') ?? '').toBe(reason)
    expect(url.hash).toBe(hash)
    const redirect = url.searchParams.get('redirect') ?? ''
    expect(JSON.parse(redirect)).toEqual(place)
    expect(parseRedirectParameter(redirect, origin, everywhere)).toBe(
      `${origin}/fr/history?kind=deposit&q=a%20b#row`
    )
  })

  test('leads to the page alone from a place that cannot be returned to', () => {
    const far = { ...place, query: `?${'a'.repeat(2_048)}` }
    expect(withRedirect('/fr/sign-in#a', far)).toBe('/fr/sign-in#a')
    expect(withRedirect('/fr/sign-in?b=1', { ...place, path: '//evil.com' })).toBe(
      '/fr/sign-in?b=1'
    )
  })
})
