import { expect, test } from 'vitest'
import { detectLocale } from '../../../src/site/visitors.ts'

test.each([
  ['the cookie first', 'i18n_redirected=en', 'fr', '/fr-CA/x', 'en'],
  ['the cookie among others', 'a=1; i18n_redirected=fr; b=2', 'en', '/', 'fr'],
  ['no cookie of another name', 'xi18n_redirected=fr', '', '/', 'en'],
  ['no cookie of another language', 'i18n_redirected=de', 'fr', '/', 'fr'],
  ['then the browser’s languages', '', 'fr-CA', '/en-GB/x', 'fr'],
  ['by their weight', '', 'de, en;q=0.7, fr;q=0.8', '/', 'fr'],
  ['in their order', '', 'fr, en', '/', 'fr'],
  ['but none that is refused', '', 'fr;q=0, en;q=0.1', '/', 'en'],
  ['then the path', '', 'de', '/fr-CA/verify', 'fr'],
  ['in any case of letters', '', '', '/FR/verify', 'fr'],
  ['and its first segment only', '', '', '/verify/fr', 'en'],
  ['else English', '', '*', '/', 'en'],
  ['whatever is sent', ';;=', ',;q=x,,fr;q', '/%', 'fr']
])('heeds %s', (_, cookie, languages, path, locale) => {
  expect(detectLocale({ cookie, 'accept-language': languages }, path)).toBe(locale)
})
