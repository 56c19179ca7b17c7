import { expect, test } from 'vitest'
import { $route, canReturnAfterSignIn } from '../../../src/stores/routes.ts'

test.each([
  '/',
  '/en',
  '/fr/',
  '/verify',
  '/en/history',
  '/fr/deposit/',
  '/en/admin',
  '/fr/admin/7'
])('lets a sign-in lead to %s', path => expect(canReturnAfterSignIn(path)).toBe(true))

test.each([
  '/en/sign-in',
  '/fr/sign-up',
  '/en/disabled',
  '/de',
  '/en/nowhere',
  '/en/verify/x',
  '//en/verify',
  '/en/admin/7/nowhere',
  '/en/admin//groups',
  ''
])('keeps a sign-in from leading to "%s"', path => expect(canReturnAfterSignIn(path)).toBe(false))

test('reads the parameters of an address', () => {
  $route.open('/fr/admin/7?q=a#b')
  expect($route.get()).toMatchObject({
    route: 'company',
    params: { locale: 'fr', company: '7' },
    search: { q: 'a' },
    hash: '#b'
  })
  $route.open('/en/admin/%ZZ')
  expect($route.get()).toMatchObject({ route: 'company', params: { company: '%ZZ' } })
  $route.open('/en/nowhere')
  expect($route.get()).toBeUndefined()
})
