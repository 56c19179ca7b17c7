import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { HostName } from '../../../../src/contract/domains.ts'
import { hostOf } from '../../../../src/server/http/hosts.ts'
import { runCount } from '../../../helpers/soak.ts'

// E-02

const pieces = [
  'acme',
  'API',
  '.',
  '../..',
  '-',
  ':',
  '80',
  ':65536',
  '@',
  '/',
  '\\',
  ' ',
  '\t',
  '_',
  '%2e'
]
const more = [
  'é',
  'K',
  'xn--bcher-kva',
  '127.0.0.1',
  '[::1]',
  'localhost',
  ',',
  '\0',
  'a'.repeat(64)
]
const name = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.constantFrom(...pieces, ...more), { maxLength: 7 })
      .map(parts => parts.join(''))
  },
  fc.domain(),
  fc.string({ unit: 'binary', maxLength: 40 })
)
const target = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('/', '/en', '//evil.test/', '/a?b') },
  fc.constantFrom('*', 'http://evil.test/', 'evil.test:443', '', '\\evil.test')
)

test('a host is one name in its one spelling, or there is none', () => {
  let accepted = 0
  fc.assert(
    fc.property(fc.array(name, { minLength: 0, maxLength: 2 }), target, (names, url) => {
      const host = hostOf(requestTo(names, url))
      if (host === undefined) return
      accepted++
      expect(names).toHaveLength(1)
      expect(url.startsWith('/')).toBe(true)
      expect(HostName.safeParse(host).success).toBe(true)
      // nothing but capitals, a last dot and a port is forgiven
      expect((names[0] ?? '').toLowerCase()).toMatch(
        new RegExp(`^${RegExp.escape(host)}\\.?(:\\d{1,5})?$`)
      )
      expect(hostOf(requestTo([host], '/'))).toBe(host)
    }),
    { numRuns: runCount(10_000, 1_000_000) }
  )
  expect(accepted).toBeGreaterThan(200)
})

/**
 * Returns a request with these Host headers as Node parses it: `headers` has only the first of
 * them.
 */
function requestTo(names: string[], url: string): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.url = url
  request.rawHeaders = names.flatMap((each, at) => [at === 0 ? 'Host' : 'hOST', each])
  if (names[0] !== undefined) request.headers = { host: names[0] }
  return request
}
