import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { setBrowserEnvironment } from '../../../src/stores/environment.ts'
import { navigate } from '../../../src/stores/navigation.ts'
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

function visit() {
  const tab = makeBrowser().openTab('https://docs.acme.test/en/verify', () => new Response())
  setBrowserEnvironment(tab.environment)
  return tab
}
