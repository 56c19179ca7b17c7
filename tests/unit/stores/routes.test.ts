import { expect, test } from 'vitest'
import { isReturnable } from '../../../src/stores/routes.ts'

test.each(['/', '/en', '/fr/', '/verify', '/en/history', '/fr/deposit/'])(
  'lets a sign-in lead to %s',
  path => expect(isReturnable(path)).toBe(true)
)

test.each([
  '/en/sign-in',
  '/fr/sign-up',
  '/en/disabled',
  '/de',
  '/en/nowhere',
  '/en/verify/x',
  '//en/verify',
  ''
])('keeps a sign-in from leading to "%s"', path => expect(isReturnable(path)).toBe(false))
