import { expect, test } from 'vitest'
import {
  fieldOfEachHeading,
  findHeadingRow,
  guessMapping,
  type ImportField,
  withAssignedColumn
} from '../../../../src/core/csv/columns.ts'
import {
  type CsvDialect,
  detectDelimiter,
  detectNewline
} from '../../../../src/core/csv/dialect.ts'
import {
  createUtf8Check,
  detectFileType,
  type Encoding,
  encodeText
} from '../../../../src/core/csv/encodings.ts'
import { encodeCsv } from '../../../../src/core/csv/writer.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const fields: ImportField[] = [
  { name: 'email', isRequired: true, headings: ['Email', 'Courriel', 'Mail'], looks: 'email' },
  { name: 'username', isRequired: false, headings: ['Name', 'Nom'] },
  { name: 'groups', isRequired: false, headings: ['Groups', 'Groupes'] }
]

test.each([
  ['a,b\n1,2\n', ','],
  ['a;b\n1,5;2\n2,5;3\n', ';'],
  ['a\tb\n"1,2";\t2\n', '\t'],
  ['a|b\n1|2\n', '|'],
  ['email\nann@example.com\n', ','],
  ['"a;b","c;d"\n"e;f;g","h"\n', ','],
  ['a,b,c\n"x ""y"", z",2,3\n', ','],
  ['name;note\nAnn;"one\ntwo, three, four"\nBob;x\n', ';'],
  ['', ',']
])('separates %j by %j', (sample, delimiter) => {
  expect(detectDelimiter(sample)).toBe(delimiter)
})

test.each([
  ['a\nb\n', '\n'],
  ['a\r\nb\r\n', '\r\n'],
  ['a\rb\r', '\r'],
  ['a\r\nb\nc', 'mixed'],
  ['"x\ny"\r\nb', '\r\n'],
  ['a', '\n']
])('ends the rows of %j with %j', (sample, newline) => {
  expect(detectNewline(sample)).toBe(newline)
})

test.each([
  [bytes(''), { kind: 'empty' }],
  [bytes('a,b\n'), { kind: 'text', encoding: undefined, hasMark: false }],
  [bytes('\uFEFFa,b\n'), { kind: 'text', encoding: 'utf-8', hasMark: true }],
  [encodeText('a,é\n', 'utf-16le', true), { kind: 'text', encoding: 'utf-16le', hasMark: true }],
  [encodeText('a,é\n', 'utf-16be', true), { kind: 'text', encoding: 'utf-16be', hasMark: true }],
  [encodeText('a,é\n', 'utf-16le', false), { kind: 'text', encoding: 'utf-16le', hasMark: false }],
  [encodeText('a,é\n', 'utf-16be', false), { kind: 'text', encoding: 'utf-16be', hasMark: false }],
  [new Uint8Array([0x50, 0x4b, 3, 4, 20]), { kind: 'spreadsheet' }],
  [new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), { kind: 'spreadsheet' }],
  [bytes('%PDF-1.7'), { kind: 'binary' }],
  [new Uint8Array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), { kind: 'binary' }]
])('reads the first bytes %# of a file', (first, kind) => {
  expect(detectFileType(first ?? new Uint8Array())).toEqual(kind)
})

test('a letter that lies in two pieces is UTF-8, one that is cut off at the end is not', () => {
  const [start, end] = [bytes('aé').slice(0, 2), bytes('aé').slice(2)]
  const whole = createUtf8Check()
  expect([whole(start), whole(end), whole()]).toEqual([true, true, true])
  const cut = createUtf8Check()
  expect([cut(start), cut()]).toEqual([true, false])
  const latin = createUtf8Check()
  expect([latin(new Uint8Array([0x61, 0xe9, 0x62])), latin(bytes('a')), latin()]).toEqual([
    false,
    false,
    false
  ])
})

test.each<Encoding>(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])('writes %s', encoding => {
  const text = 'Zoé – “50 €”, naïve Œuvre ŠšŽžŸ'
  const written = encodeText(text, encoding, encoding !== 'windows-1252')
  expect(new TextDecoder(encoding).decode(written)).toBe(text)
})

test('writes what Windows-1252 has not in UTF-8 with a mark', () => {
  const dialect: CsvDialect = {
    delimiter: ';',
    encoding: 'windows-1252',
    hasMark: false,
    newline: '\r\n',
    hasHeader: true,
    firstRow: 1
  }
  expect(encodeCsv([['é', '=1']], dialect)).toEqual(
    new Uint8Array([0xe9, 0x3b, 0x27, 0x3d, 0x31, 13, 10])
  )
  expect(encodeCsv([['Łódź', 'a;b']], dialect)).toEqual(bytes('\uFEFFŁódź;"a;b"\r\n'))
})

test('finds the column of a field by its heading, then by a part of it, then by its cells', () => {
  const rows = [['1', 'x', 'ann@example.com', 'Sales']]
  expect(guessMapping(fields, ['Id', 'Nom', 'Contact', 'Groupes (tous)'], rows)).toEqual({
    username: 1,
    email: 2,
    groups: 3
  })
  expect(guessMapping(fields, ['E-MAIL', 'name'], [])).toEqual({ email: 0, username: 1 })
  expect(guessMapping(fields, ['', ''], [['Ann', 'ann@example.com']])).toEqual({ email: 1 })
})

test('remembers which field a heading had, and that it had none', () => {
  const headings = ['Nom', 'Contact', 'Groupes']
  const remembered = fieldOfEachHeading(headings, { email: 1, groups: 0 })
  expect(guessMapping(fields, headings, [], remembered)).toEqual({ email: 1, groups: 0 })
  expect(guessMapping(fields, ['Groupes', 'Courriel'], [], remembered)).toEqual({ email: 1 })
})

test('a column has one field', () => {
  expect(withAssignedColumn({ email: 0, username: 1 }, 'groups', 1)).toEqual({
    email: 0,
    groups: 1
  })
  expect(withAssignedColumn({ email: 0, username: 1 }, 'email', undefined)).toEqual({ username: 1 })
})

test.each([
  [
    [
      ['Email', 'x'],
      ['a@b.com', 'y']
    ],
    true
  ],
  [
    [
      ['a@b.com', 'Ann'],
      ['b@b.com', 'Bob']
    ],
    false
  ],
  [
    [
      ['Anschrift', 'Titel'],
      ['1', '2']
    ],
    true
  ],
  [
    [
      ['Anschrift', ''],
      ['1', '2']
    ],
    false
  ],
  [
    [
      ['x', 'x'],
      ['1', '2']
    ],
    false
  ],
  [[['Email']], true],
  [[['x']], false]
])('knows whether the first row of %j has the names of the columns: %s', (rows, isHeader) => {
  expect(findHeadingRow(fields, rows)).toBe(isHeader ? 0 : undefined)
})
