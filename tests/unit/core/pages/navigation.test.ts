import { expect, test } from 'vitest'
import { resolveLink } from '../../../../src/core/pages/navigation.ts'

const here = 'https://docs.acme.test/en/verify?a=1'

test.each([
  ['/fr/history', 'https://docs.acme.test/fr/history'],
  ['?b=2#c', 'https://docs.acme.test/en/verify?b=2#c'],
  ['https://docs.acme.test/en', 'https://docs.acme.test/en'],
  ['/..//evil.test', 'https://docs.acme.test//evil.test']
])('leads to the page %s', (to, href) => {
  expect(resolveLink(to, here)).toEqual({ kind: 'page', href })
})

test.each([
  'https://evil.test/',
  '//evil.test',
  '/\\evil.test',
  '\\\\evil.test',
  'https:\\\\evil.test',
  '/\t/evil.test',
  'http://docs.acme.test/',
  'https://docs.acme.test:8443/',
  'https://docs.acme.test@evil.test/',
  'https://api.docs.acme.test/'
])('refuses another site unless told to leave: %j', to => {
  expect(() => resolveLink(to, here)).toThrow('external: true')
  expect(resolveLink(to, here, { external: true })).toEqual({
    kind: 'away',
    href: new URL(to, here).href
  })
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://evil.test/1',
  'file:///etc/passwd'
])('refuses what is no place of the web, however it is asked: %j', to => {
  expect(() => resolveLink(to, here)).toThrow('of the kind')
  expect(() => resolveLink(to, here, { external: true })).toThrow('of the kind')
})
