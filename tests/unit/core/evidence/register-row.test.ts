import { expect, test } from 'vitest'
import { toBase64Url, toUtf8 } from '../../../../src/core/bytes.ts'
import { commitToRow } from '../../../../src/core/evidence/register-row.ts'
import { exampleSalt } from './vectors.ts'

const row = {
  register: 'UFFSU1RVVldYWVpbXF1eXw',
  segment: 1,
  salt: exampleSalt('row'),
  cells: toUtf8('{"Number":"A-001","Status":"valid"}')
}

test('computes the commitment of the published example', () => {
  expect(toBase64Url(commitToRow(row))).toBe('k-HsgnlkC7ZKNeUmsK0fuyJ-pACbQQr9qvoTF9NzrYo')
})

test.each([
  ['segment', { segment: 2 }],
  ['register', { register: 'UFFSU1RVVldYWVpbXF1eXg' }],
  ['salt', { salt: exampleSalt('other') }],
  ['cells', { cells: toUtf8('{"Number":"A-001","Status":"void"}') }]
])('depends on the %s', (_, change) => {
  expect(commitToRow({ ...row, ...change })).not.toEqual(commitToRow(row))
})

test('refuses a short salt', () => {
  expect(() => commitToRow({ ...row, salt: row.salt.slice(1) })).toThrow('32 bytes')
})
