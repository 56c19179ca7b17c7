import { expect, test } from 'vitest'
import {
  formatHistoryQuery,
  parseHistoryQuery,
  requestFilterOf
} from '../../../../src/islands/history/history-query.ts'

const id = '01978a5e-0000-7000-8000-000000000001'

test('reads back what it has written', () => {
  const search = `?kind=verify&state=done&category=${id}&q=bail+%C3%A9t%C3%A9&from=2026-05-03&to=2026-05-04&request=${id}`
  expect(formatHistoryQuery(parseHistoryQuery(search))).toBe(search)
  expect(formatHistoryQuery({})).toBe('')
})

test.each([
  '?kind=other',
  '?state=DONE',
  '?category=1',
  `?q=${'x'.repeat(101)}`,
  '?q=%00',
  '?from=2026-13-01',
  '?to=yesterday',
  '?from=0001-01-01',
  '?request=../x',
  '?unknown=1'
])('leaves %s out', search => {
  expect(parseHistoryQuery(search)).toEqual({})
})

test('turns the reader’s days into moments, the last day included', () => {
  const filter = requestFilterOf({ from: '2026-03-28', to: '2026-03-29', request: id })
  // whichever the zone, also over a night with 23 or 25 hours
  expect(filter).toEqual({
    from: new Date(2026, 2, 28).toISOString(),
    to: new Date(2026, 2, 30).toISOString()
  })
})
