import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  attachmentHeader,
  attachmentName
} from '../../../../src/core/http-headers/content-disposition.ts'
import { runCount } from '../../../helpers/soak.ts'

test.each([
  ['report.pdf', `attachment; filename="report.pdf"; filename*=UTF-8''report.pdf`],
  ['été.pdf', `attachment; filename="_t_.pdf"; filename*=UTF-8''%C3%A9t%C3%A9.pdf`],
  ['a"b\\c/d.pdf', `attachment; filename="a_b_c_d.pdf"; filename*=UTF-8''a_b_c_d.pdf`],
  [
    'a\r\nSet-Cookie: x',
    `attachment; filename="a__Set-Cookie: x"; filename*=UTF-8''a__Set-Cookie%3A%20x`
  ],
  ['fdp.\u202eexe', `attachment; filename="fdp._exe"; filename*=UTF-8''fdp._exe`],
  ["50%'(1)*.txt", `attachment; filename="50__(1)*.txt"; filename*=UTF-8''50%25%27%281%29%2A.txt`]
])('names %j', (name, expected) => {
  expect(attachmentHeader(name)).toBe(expected)
})

test.each(['report.pdf', 'été 50%.pdf', "it's (1)*.pdf", '収入.vidimus.json'])(
  'reads the name %j again',
  name => expect(attachmentName(attachmentHeader(name))).toBe(name)
)

test.each(['', 'attachment', 'inline; filename="a.pdf"', "attachment; filename*=UTF-8''%zz"])(
  'finds no name in %j',
  header => expect(attachmentName(header)).toBeUndefined()
)

test('is one header value of three parts, whatever the name holds (E-02)', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.string({
      unit: fc.constantFrom(
        '"',
        '\\',
        '\r',
        '\n',
        ';',
        "'",
        '%',
        '\u202e',
        '\ud800',
        '\u2066',
        'é',
        'a'
      ),
      maxLength: 40
    })
  )
  fc.assert(
    fc.property(name, text => {
      const header = attachmentHeader(text)
      expect(header).toMatch(
        /^attachment; filename="[\x20-\x7e]*"; filename\*=UTF-8''[\w!#$&+.^`|~%-]*$/
      )
      expect(header.match(/"/g)).toHaveLength(2)
      const [, encoded = ''] = header.split("UTF-8''")
      expect(decodeURIComponent(encoded)).not.toMatch(
        /[\p{Cc}"\\/\u202a-\u202e\u2066-\u2069\u200e\u200f]/u
      )
      expect(() => new Headers({ 'content-disposition': header })).not.toThrow()
    }),
    { numRuns: runCount(1_000, 1_000_000) }
  )
})
