import { afterEach, expect, test, vi } from 'vitest'

afterEach(() => void vi.unstubAllGlobals())

const time = new Date('2026-11-27T13:39:29Z')

// the formatters are made once, so the modules are loaded in the browser of this test
test('a British browser shows the day first, in every kind of date', async () => {
  vi.stubGlobal('document', {})
  vi.stubGlobal('navigator', { languages: ['en-GB'] })
  const dates = await import('../../../../src/core/text/format.ts')
  const times = await import('../../../../src/islands/kit/time.ts')
  expect(dates.formatDateTime(time, 'en', 'UTC')).toBe('27 November 2026 at 13:39')
  expect(dates.formatMoment(time, 'en', 'UTC')).toBe('27 November 2026 at 13:39:29 (UTC)')
  expect(dates.formatExactTime(time, 'en', 'UTC')).toBe('27 November 2026 at 13:39:29 UTC')
  expect(dates.formatTimeWithSeconds(time, 'en', 'UTC')).toBe('13:39:29')
  expect(dates.formatDateTime(time, 'fr', 'UTC')).toMatch(/^27 novembre 2026 à 13:39$/)
  expect(times.formatTimeOfDay(new Date(2026, 10, 27, 16, 5), 'en')).toBe('16:05')
})
