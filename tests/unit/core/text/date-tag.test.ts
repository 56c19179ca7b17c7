import { afterEach, expect, test, vi } from 'vitest'
import { dateTag } from '../../../../src/core/text/date-tag.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

const time = new Date('2026-11-27T13:39:29Z')

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

test('a British browser shows the day first, in every kind of date', async () => {
  stubBrowser(['en-GB'])
  const dates = await import('../../../../src/core/text/format.ts')
  const times = await import('../../../../src/islands/kit/time.ts')
  expect(dates.formatDateTime(time, 'en', 'UTC')).toBe('27 November 2026 at 13:39')
  expect(dates.formatMoment(time, 'en', 'UTC')).toBe('27 November 2026 at 13:39:29 (UTC)')
  expect(dates.formatExactTime(time, 'en', 'UTC')).toBe('27 November 2026 at 13:39:29 UTC')
  expect(dates.formatTimeWithSeconds(time, 'en', 'UTC')).toBe('13:39:29')
  expect(dates.formatDateTime(time, 'fr', 'UTC')).toMatch(/^27 novembre 2026 à 13:39$/)
  expect(times.formatTimeOfDay(new Date(2026, 10, 27, 16, 5), 'en')).toBe('16:05')
})

function stubBrowser(languages: string[]) {
  vi.stubGlobal('document', {})
  vi.stubGlobal('navigator', { languages })
}
