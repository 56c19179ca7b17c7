import { afterEach, expect, test, vi } from 'vitest'
import { dateTag } from '../../../../src/core/text/date-tag.ts'

afterEach(() => void vi.unstubAllGlobals())

test.each([
  ['a British one', ['en-GB', 'en'], 'en-GB'],
  ['a Canadian one behind French', ['fr-CA', 'en-CA'], 'en-CA'],
  ['an English without a country', ['en', 'de'], 'en-US'],
  ['one without English', ['de-DE'], 'en-US'],
  ['a name that Intl refuses', ['en-US@posix'], 'en-US']
])('%s writes dates in its own form of English', (_name, languages, tag) => {
  stubBrowser(languages)
  expect(dateTag('en-US')).toBe(tag)
  expect(dateTag('fr-FR')).toBe('fr-FR')
})

test('the server writes the dates of the tag', () => {
  vi.stubGlobal('navigator', { languages: ['en-GB'] })
  expect(dateTag('en-US')).toBe('en-US')
})

function stubBrowser(languages: string[]) {
  vi.stubGlobal('document', {})
  vi.stubGlobal('navigator', { languages })
}
