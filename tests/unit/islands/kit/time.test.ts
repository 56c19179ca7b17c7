import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { dayName, localDayOf } from '../../../../src/islands/history/history-days.ts'
import { formatRetryTimeOfDay, relativeTime } from '../../../../src/islands/kit/time.ts'

test.for([
  ['12:00:10', 20, '12:01'],
  ['12:00:50', 20, '12:02'],
  ['12:00:00', 60, '12:01']
] as const)('at %s, %i s of waiting end by %s', ([now, retryAfter, wanted]) => {
  const error = new AppError('rate_limited', 'Too many', { retryAfter })
  expect(formatRetryTimeOfDay(error, 'fr', new Date(`2026-05-03T${now}`).getTime())).toBe(wanted)
})

describe('relative times', () => {
  const machineZone = process.env.TZ
  beforeAll(() => {
    process.env.TZ = 'Europe/Paris'
  })
  afterAll(() => {
    process.env.TZ = machineZone
  })

  test.for([
    // 2026-03-29 has 23 hours in Paris, 2026-10-25 has 25
    ['2026-11-22T11:00:00Z', '2026-11-22T11:00:20Z', 'maintenant', 'now'],
    ['2026-11-22T11:00:00Z', '2026-11-22T10:59:00Z', 'maintenant', 'now'],
    ['2026-11-22T11:00:00Z', '2026-11-22T11:05:00Z', 'il y a 5 minutes', '5 minutes ago'],
    ['2026-11-21T23:30:00Z', '2026-11-22T22:30:00Z', 'il y a 23 heures', '23 hours ago'],
    ['2026-11-21T22:30:00Z', '2026-11-21T23:30:00Z', 'hier', 'yesterday'],
    ['2026-11-20T09:00:00Z', '2026-11-21T22:59:00Z', 'hier', 'yesterday'],
    ['2026-11-19T22:59:00Z', '2026-11-21T10:00:00Z', 'avant-hier', '2 days ago'],
    ['2026-03-28T22:30:00Z', '2026-03-30T21:30:00Z', 'avant-hier', '2 days ago'],
    ['2026-10-24T21:30:00Z', '2026-10-25T22:30:00Z', 'hier', 'yesterday']
  ] as const)('of %s at %s are %s, and agree with the heading of the day', ([at, now, fr, en]) => {
    const [time, seen] = [new Date(at), new Date(now)]
    expect(relativeTime(time, seen.getTime(), 'fr')).toBe(fr)
    expect(relativeTime(time, seen.getTime(), 'en')).toBe(en)
    const heading = dayName(localDayOf(at), localDayOf(seen.toISOString()), 'fr', key => key)
    expect(heading === 'history.yesterday').toBe(fr === 'hier')
  })

  test('count the first of a month in French', () => {
    expect(dayName('2026-05-01', '2026-05-09', 'fr', key => key)).toBe('Vendredi 1er mai')
    expect(dayName('2026-05-11', '2026-05-19', 'fr', key => key)).toBe('Lundi 11 mai')
    expect(dayName('2026-05-01', '2026-05-09', 'en', key => key)).toBe('Friday, May 1')
  })
})
