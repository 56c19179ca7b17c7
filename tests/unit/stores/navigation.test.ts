import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { setBrowserEnvironment } from '../../../src/stores/environment.ts'
import { navigate, resolveLink } from '../../../src/stores/navigation.ts'
import { makeBrowser } from '../../helpers/browser.ts'

afterEach(() => setBrowserEnvironment(undefined))

test('opens a page of this site, in place of the present one if asked', async () => {
  const { opened } = visit()
  await navigate('/fr/history?a=1#b')
  await navigate('https://docs.acme.test/en', { replace: true })
  expect(opened).toEqual([
    { href: 'https://docs.acme.test/fr/history?a=1#b', how: 'page' },
    { href: 'https://docs.acme.test/en', how: 'replaced' }
  ])
})

test('refuses another site, and leaves for it when told to', async () => {
  const { opened } = visit()
  await expect(navigate('https://evil.test/')).rejects.toThrow('external: true')
  await expect(navigate('javascript:alert(1)', { external: true })).rejects.toThrow('of the kind')
  expect(opened).toEqual([])
  await navigate('https://partner.test/', { external: true })
  expect(opened).toEqual([{ href: 'https://partner.test/', how: 'site' }])
})

test('is the only way to another page', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const others = sources.filter(path => /\.(?:ts|tsx|astro)$/.test(path))
  expect(others.length).toBeGreaterThan(100)
  for (const path of others.filter(path => path !== 'stores/environment.ts')) {
    const text = readFileSync(`src/${path}`, 'utf8')
    expect(text, path).not.toMatch(/import \{[^}]*\bnavigate\b[^}]*\} from 'astro:/)
    expect(text, path).not.toMatch(/import\('astro:transitions/)
    expect(text, path).not.toMatch(/location\.replace|location\.href\s*=(?!=)|window\.open/)
    // a full load of a path of ours: nothing of the person stays in memory
    for (const [, to] of text.matchAll(/location\.assign\((?:`\$\{)?(\w*)/g)) {
      expect(to, path).toBe('localizedPath')
    }
  }
})

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

function visit() {
  const tab = makeBrowser().openTab('https://docs.acme.test/en/verify', () => new Response())
  setBrowserEnvironment(tab.environment)
  return tab
}
