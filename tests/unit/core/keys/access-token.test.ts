import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeTokenPayload,
  isTokenUsable,
  readTokenExpirySeconds,
  secondsAheadOfServer
} from '../../../../src/core/keys/access-token.ts'
import { corruptedText } from '../../../helpers/corrupted.ts'
import { runCount } from '../../../helpers/soak.ts'

const payload = Buffer.from('{"sub":"é","exp":1777809600}').toString('base64url')

test.for([
  ['an empty token', ''],
  ['one segment', 'abc'],
  ['an empty second segment', 'abc..def'],
  ['no base64url', 'abc.+/.def'],
  ['no UTF-8', `abc.${Buffer.from([0xff, 0xff]).toString('base64url')}.def`],
  ['no JSON', `abc.${Buffer.from('nope').toString('base64url')}.def`],
  ['an array', `abc.${Buffer.from('[1]').toString('base64url')}.def`],
  ['null', `abc.${Buffer.from('null').toString('base64url')}.def`]
] as const)('reads nothing from %s', ([, token]) => {
  expect(decodeTokenPayload(token)).toBeUndefined()
  expect(readTokenExpirySeconds(token)).toBeUndefined()
})

test('reads the payload of a token, signed or not', () => {
  expect(decodeTokenPayload(`abc.${payload}.def`)).toEqual({ sub: 'é', exp: 1777809600 })
  expect(decodeTokenPayload(`abc.${payload}`)).toEqual({ sub: 'é', exp: 1777809600 })
  expect(readTokenExpirySeconds(`abc.${payload}.def`)).toBe(1777809600)
})

test.for([
  [2000, true],
  [1001, true],
  [1000, false],
  [0, false],
  [-5000, false]
] as const)('a token with %d ms left is usable: %s', ([left, usable]) => {
  expect(isTokenUsable(1777809600, 1777809600_000 - left)).toBe(usable)
})

test.for([
  [86_400, 86_400],
  [-86_400, -86_400],
  [11, 11],
  [10, 0],
  [-9, 0],
  [0, 0]
] as const)('a clock %d s ahead of a fresh token counts as %d s', ([seconds, ahead]) => {
  const fresh = `abc.${Buffer.from('{"iat":1777809600}').toString('base64url')}.def`
  expect(secondsAheadOfServer(fresh, (1777809600 + seconds) * 1000)).toBe(ahead)
})

test.for(['{}', '{"iat":"now"}', '{"iat":null}'])('a token that says %s tells no clock', text => {
  const token = `abc.${Buffer.from(text).toString('base64url')}.def`
  expect(secondsAheadOfServer(token, 0)).toBe(0)
})

test('tells an object or nothing, and a time or nothing, whatever comes (E-02)', () => {
  const forged = fc.json().map(text => `a.${Buffer.from(text).toString('base64url')}.b`)
  const good = `abc.${payload}.def`
  let told = 0
  fc.assert(
    fc.property(fc.oneof(corruptedText(good), forged), fc.maxSafeNat(), (text, now) => {
      const found = decodeTokenPayload(text)
      if (found) told++
      expect(found === undefined || (typeof found === 'object' && !Array.isArray(found))).toBe(true)
      const exp = readTokenExpirySeconds(text)
      expect(exp === undefined || Number.isFinite(exp)).toBe(true)
      expect(Number.isFinite(secondsAheadOfServer(text, now))).toBe(true)
    }),
    { numRuns: runCount(10_000, 1_000_000) }
  )
  expect(told).toBeGreaterThan(500)
})
