import { expect, test } from 'vitest'
import { deriveKeyPair } from '../../../../src/core/keys/kdf.ts'
import { publicJwk } from '../../../../src/core/keys/public-key-proof.ts'
import { demoAccount, demoPublicKey } from '../../../../src/server/domain/demo-account.ts'
import { isRequestFromDeveloperMachine } from '../../../../src/server/domain/developer-machine.ts'
import { argon2id } from '../../../helpers/keys.ts'

const alone = {
  dev: false,
  hasPublicUrl: false,
  hasOwnDomain: false,
  peer: '127.0.0.1',
  headers: []
}

test.each([
  ['loopback', {}, true],
  ['all of 127.0.0.0/8', { peer: '127.8.9.1' }, true],
  ['loopback of IPv6', { peer: '::1' }, true],
  ['loopback of IPv4 within IPv6', { peer: '::ffff:127.0.0.1' }, true],
  ['ordinary headers', { headers: ['host', 'Accept', 'x-forward'] }, true],
  ['another machine', { peer: '192.0.2.7' }, false],
  ['another machine, IPv4 within IPv6', { peer: '::ffff:192.0.2.7' }, false],
  ['another machine of IPv6', { peer: '2001:db8::1' }, false],
  ['a peer nobody knows', { peer: undefined }, false],
  ['a peer that is no address', { peer: 'localhost' }, false],
  ['a public address', { hasPublicUrl: true }, false],
  ['a domain of its own', { hasOwnDomain: true }, false],
  ['Forwarded', { headers: ['forwarded'] }, false],
  ['X-Forwarded-For', { headers: ['host', 'X-Forwarded-For'] }, false],
  ['X-Forwarded-Proto', { headers: ['x-forwarded-proto'] }, false],
  ['X-Forwarded-Anything', { headers: ['x-forwarded-anything'] }, false],
  ['X-Real-IP', { headers: ['x-real-ip'] }, false],
  ['Via', { headers: ['VIA'] }, false],
  [
    'DEV beside all that',
    { dev: true, hasPublicUrl: true, hasOwnDomain: true, peer: '192.0.2.7', headers: ['via'] },
    true
  ]
] as const)('takes a request with %s for a developer’s: %j → %s', (_name, given, expected) => {
  const it = { ...alone, ...given }
  expect(isRequestFromDeveloperMachine(it, it, it)).toBe(expected)
})

test('knows the key of the demonstration’s published password', async () => {
  const { email, password } = demoAccount
  expect(publicJwk(await deriveKeyPair('a1', email, password, argon2id))).toEqual(demoPublicKey)
})
