import { afterEach, expect, test, vi } from 'vitest'
import { setBrowserEnvironment } from '../../../src/stores/environment.ts'
import { changeLanguage } from '../../../src/stores/languages.ts'
import { makeBrowser } from '../../helpers/browser.ts'

afterEach(() => {
  setBrowserEnvironment(undefined)
  vi.restoreAllMocks()
})

test('remembers the language for a year and answers the same place in it, with its words', async () => {
  const { browser, tab } = visit('https://docs.acme.test/en/verify?a=1#b')
  const saved: string[] = []
  const save = async (locale: string) => void saved.push(locale)
  expect(await changeLanguage('fr', { buildId: 'b-1', save })).toEqual({
    address: '/fr/verify?a=1#b',
    words: { shell: { language: 'Langue' } },
    isSaved: true
  })
  expect(saved).toEqual(['fr'])
  expect(tab.calls.map(({ path }) => path)).toEqual(['/_i18n/b-1/fr/messages.json'])
  expect(browser.cookies.get('i18n_redirected')).toEqual({
    value: 'fr',
    attributes: ['Max-Age=31536000', 'Path=/', 'Secure', 'SameSite=Lax']
  })
})

test('changes the page even when the choice cannot be saved for the person, and says so', async () => {
  visit('https://docs.acme.test/fr')
  const save = () => Promise.reject(new Error('offline'))
  const change = await changeLanguage('en', { buildId: 'b-1', save })
  expect(change).toMatchObject({ address: '/en', isSaved: false })
})

test.each([
  ['no answer', () => Promise.reject(new TypeError('no network'))],
  ['an error', () => new Response('{}', { status: 503 })],
  ['something else', () => new Response('<!doctype html>')]
])('changes nothing while the words of the language cannot be loaded: %s', async (_, answer) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const { browser } = visit('https://docs.acme.test/en/verify', answer)
  const save = vi.fn(async () => {})
  await expect(changeLanguage('fr', { buildId: 'b-1', save })).rejects.toThrow(
    'Failed loading locale (fr)'
  )
  expect(warn.mock.calls).toEqual([['Failed to load messages for locale fr']])
  expect(browser.cookies.size).toBe(0)
  expect(save).not.toHaveBeenCalled()
})

function visit(
  url: string,
  answer: () => Response | Promise<Response> = () =>
    Response.json({ shell: { language: 'Langue' } })
) {
  const browser = makeBrowser()
  const tab = browser.openTab(url, answer)
  setBrowserEnvironment(tab.environment)
  return { browser, tab }
}
