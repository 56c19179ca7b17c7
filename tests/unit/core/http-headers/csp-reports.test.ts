import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCspViolations } from '../../../../src/core/http-headers/csp-reports.ts'
import '../../../helpers/soak.ts'

const said = {
  effectiveDirective: 'script-src-elem',
  documentURL: 'https://docs.acme.fr/fr/reset-password?email=ada@example.com#t=secret',
  blockedURL: 'https://evil.example/x.js?token=secret',
  sourceFile: 'https://docs.acme.fr/_astro/a.js?secret',
  lineNumber: 7,
  sample: 'secret'
}
const kept = {
  directive: 'script-src-elem',
  page: 'docs.acme.fr/fr/reset-password',
  blocked: 'evil.example/x.js',
  source: 'docs.acme.fr/_astro/a.js',
  line: 7
}

test('keeps rule and places of a report, and neither query, fragment nor sample', () => {
  expect(parseCspViolations([{ type: 'csp-violation', body: said }])).toEqual([kept])
  const legacy = {
    'csp-report': {
      'violated-directive': "script-src-elem 'self'",
      'document-uri': said.documentURL,
      'blocked-uri': said.blockedURL,
      'source-file': said.sourceFile,
      'line-number': 7
    }
  }
  expect(parseCspViolations(legacy)).toEqual([kept])
})

test.each([
  ['inline', 'inline'],
  ['trusted-types-sink', 'trusted-types-sink'],
  ['data:text/javascript,secret', 'data:'],
  ['blob:https://docs.acme.fr/secret', 'blob:'],
  ['Not A Place', '']
])('names what was blocked: %s as %s', (blockedURL, expected) => {
  const body = { ...said, blockedURL }
  expect(parseCspViolations([{ type: 'csp-violation', body }])?.[0]?.blocked).toBe(expected)
})

test.each([
  null,
  1,
  'x',
  {},
  [],
  [null],
  [{ type: 'deprecation', body: said }],
  { 'csp-report': 1 }
])('takes %j for none', body => {
  expect(parseCspViolations(body)).toBeUndefined()
})

test('lets nothing of the kind of a secret through, whatever is sent', () => {
  fc.assert(
    fc.property(fc.webUrl({ withFragments: true, withQueryParameters: true }), address => {
      const body = { ...said, documentURL: address, blockedURL: address }
      const [report] = parseCspViolations([{ type: 'csp-violation', body }]) ?? []
      expect(`${report?.page} ${report?.blocked}`).not.toMatch(/[?#]/)
    }),
    { numRuns: 1000 }
  )
})
