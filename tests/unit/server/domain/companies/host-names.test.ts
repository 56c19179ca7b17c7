import { expect, test } from 'vitest'
import { requireClaimableHost } from '../../../../../src/server/domain/companies/host-names.ts'

test.each(['docs.acme.fr', '*.acme.fr', 'acme.co.uk', 'xn--bcher-kva.example.com', 'a.github.io'])(
  'allows %s everywhere',
  host => {
    expect(() => requireClaimableHost(host, false)).not.toThrow()
  }
)

test.each([
  'fr',
  'co.uk',
  '*.co.uk',
  'github.io',
  '*.fr',
  'docs.acme.nosuchtld',
  'api.acme.fr',
  'api.localhost',
  '*.api.acme.fr',
  '-a.acme.fr',
  'a-.acme.fr',
  'a..fr',
  'a.*.fr',
  '*.*.acme.fr',
  'acme.fr.',
  '192.0.2.1',
  `${'a'.repeat(64)}.fr`,
  `${'a.'.repeat(126)}fr`,
  'localhost',
  '*.localhost'
])('refuses %s everywhere', host => {
  for (const isDeveloper of [false, true]) {
    expect(() => requireClaimableHost(host, isDeveloper)).toThrow(
      expect.objectContaining({ code: 'host_not_allowed' })
    )
  }
})

test('allows hosts below localhost on a developer’s machine alone', () => {
  expect(() => requireClaimableHost('acme.localhost', true)).not.toThrow()
  expect(() => requireClaimableHost('acme.localhost', false)).toThrow()
})
