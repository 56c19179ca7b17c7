import { expect, test } from 'vitest'
import { createCompanyActivityTracker } from '../../../src/core/active-companies.ts'

test('a company has others beside it for a second after these have asked', () => {
  let now = 0
  const present = createCompanyActivityTracker(() => now)
  present.note('acme')
  expect(present.hasOthers('acme')).toBe(false)
  expect(present.hasOthers('beta')).toBe(true)
  now = 500
  present.note('beta')
  now = 900
  present.note('acme')
  present.note('acme')
  expect(present.hasOthers('acme')).toBe(true)
  now = 1499
  expect(present.hasOthers('acme')).toBe(true)
  now = 1500
  expect(present.hasOthers('acme')).toBe(false)
})
