import { afterEach, expect, test } from 'vitest'
import { type Environment, environment, setEnvironment } from '../../../src/stores/environment.ts'
import { changeLanguage } from '../../../src/stores/locale.ts'

afterEach(() => setEnvironment(undefined))

test('remembers the language for a year and answers the same place in it', async () => {
  const cookies = visit({ pathname: '/en/verify', search: '?a=1', hash: '#b' })
  const saved: string[] = []
  const address = await changeLanguage('fr', async locale => {
    saved.push(locale)
  })
  expect(address).toBe('/fr/verify?a=1#b')
  expect(saved).toEqual(['fr'])
  expect(cookies).toEqual(['i18n_redirected=fr; Max-Age=31536000; Path=/; Secure; SameSite=Lax'])
})

test('changes the page even when the choice cannot be saved for the person', async () => {
  visit({ pathname: '/fr', search: '', hash: '' })
  const address = await changeLanguage('en', async () => {
    throw new Error('offline')
  })
  expect(address).toBe('/en')
})

function visit(place: { pathname: string; search: string; hash: string }): string[] {
  const cookies: string[] = []
  setEnvironment({
    ...environment(),
    place: () => ({ protocol: 'http:', host: 'a.test', hostname: 'a.test', ...place }),
    writeCookie: (text: string) => {
      cookies.push(text)
    }
  } satisfies Environment)
  return cookies
}
