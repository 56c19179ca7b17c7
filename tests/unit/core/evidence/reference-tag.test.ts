import { expect, test } from 'vitest'
import { toHex } from '../../../../src/core/bytes.ts'
import { referenceTagMessage } from '../../../../src/core/evidence/reference-tag.ts'

const message = (reference: string, ...fields: string[]) =>
  toHex(referenceTagMessage('source', reference, fields))

test('covers the register, the reference and the check fields, each with its length', () => {
  const parts = ['vidimus/v1/tag/row/source\0', '\0\0\0\x05a-001', '\0\0\0\x0a1999-12-31']
  expect(message('A-001', '1999-12-31')).toBe(Buffer.from(parts.join('')).toString('hex'))
})

test.each([
  ['letter case', ['a-001', 'Müller']],
  ['accents', ['A-001', 'MULLER']],
  ['spaces', [' A-001\t', '  müller ']],
  ['dashes of word processors', ['A–001', 'Müller']]
])('ignores %s', (_, [reference = '', name = '']) => {
  expect(message(reference, name)).toBe(message('A-001', 'Müller'))
})

test('tells where one value ends and the next begins', () => {
  expect(message('ab', 'c')).not.toBe(message('a', 'bc'))
  expect(message('ab', '')).not.toBe(message('ab'))
})
