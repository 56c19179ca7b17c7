import { describe, expect, test } from 'vitest'
import {
  formatBytes,
  formatCountdown,
  formatDateTime,
  formatExactTime,
  formatMoment,
  formatPercent,
  formatSpeed,
  roundTimeLeft,
  type TimeLeft
} from '../../../../src/core/text/format.ts'

describe('bytes', () => {
  test.each([
    [0, '0 B', '0 o'],
    [1, '1 B', '1 o'],
    [999, '999 B', '999 o'],
    [1_000, '1.0 kB', '1,0 ko'],
    [1_049, '1.0 kB', '1,0 ko'],
    [1_200_000, '1.2 MB', '1,2 Mo'],
    [12_345_678, '12.3 MB', '12,3 Mo'],
    [999_949, '999.9 kB', '999,9 ko'],
    [999_950, '1.0 MB', '1,0 Mo'],
    [999_949_999, '999.9 MB', '999,9 Mo'],
    [5_000_000_000, '5.0 GB', '5,0 Go'],
    [1e12, '1.0 TB', '1,0 To'],
    [1e15, '1,000.0 TB', '1 000,0 To']
  ])('%d read %s and %s', (bytes, en, fr) => {
    expect(formatBytes(bytes, 'en')).toBe(en)
    expect(plainSpaces(formatBytes(bytes, 'fr'))).toBe(fr)
  })

  test('do not break between number and unit in French', () => {
    expect(formatBytes(1_200_000, 'fr')).toMatch(/^1,2[\u00a0\u202f]Mo$/)
    expect(formatBytes(12, 'fr')).toMatch(/^12[\u00a0\u202f]o$/)
  })

  test('per second', () => {
    expect(formatSpeed(1_234_567, 'en')).toBe('1.2 MB/s')
    expect(plainSpaces(formatSpeed(999.4, 'fr'))).toBe('999 o/s')
    expect(formatSpeed(999.6, 'en')).toBe('1.0 kB/s')
  })
})

test('says 100% only of what is complete', () => {
  expect(formatPercent(0.41, 'en')).toBe('41%')
  expect(plainSpaces(formatPercent(0.41, 'fr'))).toBe('41 %')
  expect(formatPercent(0.999999, 'en')).toBe('99%')
  expect(formatPercent(1, 'en')).toBe('100%')
  expect(formatPercent(-1, 'en')).toBe('0%')
  expect(formatPercent(2, 'en')).toBe('100%')
  for (let percent = 0; percent <= 100; percent++)
    expect(formatPercent(percent / 100, 'en')).toBe(`${percent}%`)
})

test('calls the first of a month by its ordinal in French', () => {
  const time = new Date('2026-12-01T12:02:00Z')
  expect(plainSpaces(formatDateTime(time, 'fr', 'UTC'))).toBe('1er décembre 2026 à 12:02')
  expect(plainSpaces(formatDateTime(time, 'en', 'UTC'))).toBe('December 1, 2026 at 12:02 PM')
})

test('writes date and time as each language does, in the zone it is given', () => {
  const time = new Date('2026-05-03T12:02:00Z')
  expect(plainSpaces(formatDateTime(time, 'en', 'Europe/Paris'))).toBe('May 3, 2026 at 2:02 PM')
  expect(plainSpaces(formatDateTime(time, 'fr', 'Europe/Paris'))).toBe('3 mai 2026 à 14:02')
  expect(plainSpaces(formatDateTime(time, 'en', 'UTC'))).toBe('May 3, 2026 at 12:02 PM')
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  expect(formatDateTime(time, 'fr')).toBe(formatDateTime(time, 'fr', timeZone))
})

describe('an instant of record', () => {
  test.each([
    [
      '2026-05-03T12:02:07.900Z',
      'UTC',
      'May 3, 2026 at 12:02:07 PM UTC',
      '3 mai 2026 à 12:02:07 UTC'
    ],
    [
      '2026-05-03T12:02:07Z',
      'Europe/Paris',
      'May 3, 2026 at 2:02:07 PM UTC+02:00 (2026-05-03 12:02:07 UTC)',
      '3 mai 2026 à 14:02:07 UTC+02:00 (2026-05-03 12:02:07 UTC)'
    ],
    [
      '2026-02-28T22:30:00Z',
      'Asia/Kathmandu',
      'March 1, 2026 at 4:15:00 AM UTC+05:45 (2026-02-28 22:30:00 UTC)',
      '1er mars 2026 à 04:15:00 UTC+05:45 (2026-02-28 22:30:00 UTC)'
    ],
    [
      '2027-01-01T02:00:00Z',
      'America/St_Johns',
      'December 31, 2026 at 10:30:00 PM UTC-03:30 (2027-01-01 02:00:00 UTC)',
      '31 décembre 2026 à 22:30:00 UTC-03:30 (2027-01-01 02:00:00 UTC)'
    ],
    [
      '2026-01-15T12:00:00Z',
      'Europe/London',
      'January 15, 2026 at 12:00:00 PM UTC',
      '15 janvier 2026 à 12:00:00 UTC'
    ]
  ])('%s in %s', (iso, zone, en, fr) => {
    expect(plainSpaces(formatExactTime(new Date(iso), 'en', zone))).toBe(en)
    expect(plainSpaces(formatExactTime(new Date(iso), 'fr', zone))).toBe(fr)
  })

  test('tells the two hours apart that a clock shows twice', () => {
    const [first, second] = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map(iso =>
      plainSpaces(formatExactTime(new Date(iso), 'fr', 'Europe/Paris'))
    )
    expect(first).toBe('25 octobre 2026 à 02:30:00 UTC+02:00 (2026-10-25 00:30:00 UTC)')
    expect(second).toBe('25 octobre 2026 à 02:30:00 UTC+01:00 (2026-10-25 01:30:00 UTC)')
  })
})

test.each<[number, TimeLeft]>([
  [-1, { unit: 'second', value: 5 }],
  [0, { unit: 'second', value: 5 }],
  [5.1, { unit: 'second', value: 10 }],
  [50, { unit: 'second', value: 50 }],
  [51, { unit: 'minute', value: 1 }],
  [95, { unit: 'minute', value: 2 }],
  [59.4 * 60, { unit: 'minute', value: 59 }],
  [59.6 * 60, { unit: 'hour', value: 1 }],
  [23.4 * 3_600, { unit: 'hour', value: 23 }],
  [23.6 * 3_600, { unit: 'day', value: 1 }],
  [3 * 86_400, { unit: 'day', value: 3 }]
])('rounds %d seconds left to %j', (seconds, left) => {
  expect(roundTimeLeft(seconds)).toEqual(left)
})

function plainSpaces(text: string): string {
  return text.replace(/[\u00a0\u202f]/g, ' ')
}

test.each([
  [0, '0:00'],
  [42, '0:42'],
  [725, '12:05'],
  [3_607, '1:00:07']
])('counts %d seconds down as %s', (seconds, text) => {
  expect(formatCountdown(seconds)).toBe(text)
})

test.each([
  ['en', 'Europe/Paris', 'May 3, 2026 at 4:02:07 PM (Paris time)'],
  ['fr', 'Europe/Paris', '3 mai 2026 à 16:02:07 (heure de Paris)'],
  ['fr', 'Indian/Reunion', '3 mai 2026 à 18:02:07 (heure de La Réunion)'],
  ['en', 'America/New_York', 'May 3, 2026 at 10:02:07 AM (Eastern Time)'],
  ['en', 'UTC', 'May 3, 2026 at 2:02:07 PM (UTC)']
] as const)('formats a moment for a sentence in %s, %s', (locale, zone, expected) => {
  const text = formatMoment(new Date('2026-05-03T14:02:07Z'), locale, zone)
  expect(text.replaceAll('\u00a0', ' ').replaceAll('\u202f', ' ')).toBe(expected)
})
