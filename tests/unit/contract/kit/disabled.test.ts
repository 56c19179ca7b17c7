import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  DisabledReason,
  parseDisabledParameter,
  toDisabledState
} from '../../../../src/contract/kit/disabled.ts'
import '../../../helpers/soak.ts'

const since = '2026-05-03T12:00:00.000Z'

test.each([...DisabledReason.options, 'other'])('reads what the API says: %s', reason => {
  const details = { scope: 'user', reason, since }
  expect(parseDisabledParameter(JSON.stringify(details))).toEqual(details)
})

test('takes no word of the address that it does not know', () => {
  const text = JSON.stringify({ scope: 'company', reason: 'Call +33 1 23', since, note: 'Call us' })
  expect(parseDisabledParameter(text)).toEqual({ scope: 'company', reason: 'other', since })
  expect(toDisabledState('user', { reason: 'a joke', since }).reason).toBe('other')
})

test.each([
  null,
  '',
  ' ',
  'undefined',
  'null',
  'true',
  '1',
  '"user"',
  '[]',
  '{}',
  '{',
  '['.repeat(2_000),
  '%7B%22scope%22',
  '[object Object]',
  '{"scope":"user"}',
  '{"scope":"user","reason":"left"}',
  `{"scope":"planet","reason":"left","since":"${since}"}`,
  `{"scope":["user"],"reason":"left","since":"${since}"}`,
  '{"scope":"user","reason":"left","since":"yesterday"}',
  '{"scope":"user","reason":"left","since":"2026-02-31T00:00:00Z"}',
  '{"scope":"user","reason":"left","since":1777809600}',
  '{"scope":"user","reason":"left","since":"<b>2026</b>"}',
  `{"__proto__":{"scope":"user","reason":"left","since":"${since}"}}`,
  `{"scope":"user","reason":"left","since":"${since}","more":"${'a'.repeat(3_000)}"}`
])('reads nothing from %.60j', text => expect(parseDisabledParameter(text)).toBeUndefined())

test('never throws, and answers listed words and a date only', () => {
  const part = fc.constantFrom('scope', 'user', 'reason', 'left', 'since', since, '<b>', '\u0000')
  const value = fc.oneof(part, fc.json(), fc.integer(), fc.constant(null))
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.dictionary(part, value).map(each => JSON.stringify(each))
  )
  fc.assert(
    fc.property(text, given => {
      const read = parseDisabledParameter(given)
      if (!read) return
      expect(['user', 'company', 'domain']).toContain(read.scope)
      expect([...DisabledReason.options, 'other']).toContain(read.reason)
      expect(Number.isNaN(Date.parse(read.since))).toBe(false)
    }),
    { numRuns: 2_000 }
  )
})
