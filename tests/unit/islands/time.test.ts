import { expect, test } from 'vitest'
import { AppError } from '../../../src/contract/errors.ts'
import { retryTime } from '../../../src/islands/parts/time.ts'

test.for([
  ['12:00:10', 20, '12:01'],
  ['12:00:50', 20, '12:02'],
  ['12:00:00', 60, '12:01']
] as const)('at %s, %i s of waiting end by %s', ([now, retryAfter, wanted]) => {
  const error = new AppError('rate_limited', 'Too many', { retryAfter })
  expect(retryTime(error, 'fr', new Date(`2026-05-03T${now}`).getTime())).toBe(wanted)
})
