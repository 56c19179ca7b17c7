import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CsvDialect } from '../../../src/core/csv/dialect.ts'
import { delimiters } from '../../../src/core/csv/dialect.ts'
import { type Encoding, encodeText } from '../../../src/core/csv/encodings.ts'
import { readRows } from '../../../src/core/csv/rows.ts'
import { encodeCsv } from '../../../src/core/csv/writer.ts'
import {
  countRowsAndFaults,
  createRowRangeReader,
  inspectFile
} from '../../../src/workers/csv-files.ts'
import { runCount } from '../../helpers/soak.ts'

const plain: CsvDialect = {
  delimiter: ',',
  encoding: 'utf-8',
  hasMark: false,
  newline: '\n',
  hasHeader: true,
  firstRow: 1
}

test('what is exported is what is imported, in every dialect and in pieces of any size', async () => {
  const cell = fc.string({ unit: fc.constantFrom(...'ab \',;|"=+-@\r\n\té€＝'), maxLength: 8 })
  const filled = cell.filter(text => text.trim() !== '')
  const rows = fc.array(
    fc.tuple(filled, fc.array(cell, { maxLength: 3 })).map(([first, rest]) => [first, ...rest]),
    { minLength: 1, maxLength: 6 }
  )
  const dialect = fc.record<CsvDialect>({
    delimiter: fc.constantFrom(...delimiters),
    encoding: fc.constantFrom<Encoding>('utf-8', 'utf-16le', 'utf-16be'),
    hasMark: fc.boolean(),
    newline: fc.constantFrom('\n', '\r\n', '\r'),
    hasHeader: fc.constant(true),
    firstRow: fc.constant(1)
  })
  await fc.assert(
    fc.asyncProperty(rows, dialect, fc.integer({ min: 1, max: 40 }), async (table, how, size) => {
      const file = new Blob([encodeCsv(table, how)])
      const read: string[][] = []
      for await (const batch of readRows(file, how, size)) {
        read.push(...batch.rows)
        expect(batch).toMatchObject({ malformed: [] })
        expect(batch.unclosed).toBeUndefined()
      }
      expect(read).toEqual(table)
    }),
    { numRuns: runCount(2_000, 100_000) }
  )
})

test('a file is read in pieces of 10 MB, and with a comma where nothing separates cells', async () => {
  const found = await inspectFile(new Blob(['email\nann@example.com\n']))
  expect(found).toMatchObject({ dialect: { delimiter: ',' } })
  const line = `${'x'.repeat(2 ** 20 - 1)}\n`
  const batches = await Array.fromAsync(readRows(new Blob(Array(25).fill(line)), plain))
  expect(batches.map(({ rows }) => rows.length)).toEqual([10, 10, 5])
})

test.each<Encoding>(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'])(
  'recognizes %s, also where the first letters are plain',
  async encoding => {
    const rows = ['email;name', ...Array(20_000).fill('ann@example.com;Ann'), 'zoe@example.com;Zoé']
    const text = `${rows.join('\r\n')}\r\n`
    const file = new Blob([encodeText(text, encoding, false) ?? ''])
    const found = await inspectFile(file)
    expect(found).toMatchObject({
      kind: 'text',
      dialect: { delimiter: ';', encoding, hasMark: false, newline: '\r\n' }
    })
    if (found.kind !== 'text') return
    expect(found.rows).toHaveLength(200)
    expect(found.rows[1]).toEqual({ row: 2, cells: ['ann@example.com', 'Ann'] })
    const counted = await countRowsAndFaults(file, found.dialect)
    expect(counted).toEqual({ rows: 20_002, columns: 2, blank: [], faults: {} })
  }
)

test('says what is wrong with the rows', async () => {
  const text = 'a,b\n1\n\n1,2,3\n"x"y",2\n\0,1\n"open,2\n3,4\n'
  const counted = await countRowsAndFaults(new Blob([text]), plain)
  expect(counted).toMatchObject({
    rows: 6,
    columns: 2,
    blank: [3],
    faults: {
      short: { row: 2 },
      long: { row: 4, count: 1 },
      malformed: { row: 5, count: 1 },
      nul: { row: 6, count: 1 },
      unclosed: { row: 7, count: 1 }
    }
  })
  const latin = new Blob([new Uint8Array([0x61, 10, 0xe9, 10])])
  expect((await countRowsAndFaults(latin, plain)).faults.unknown).toEqual({ row: 2, count: 1 })
})

test.each([
  ['', 'empty'],
  [' \r\n,,\n', 'empty'],
  ['PK\u0003\u0004xl/workbook.xml', 'spreadsheet'],
  ['%PDF-1.7', 'binary']
])('says what %j is', async (text, kind) => {
  expect(await inspectFile(new Blob([text]))).toEqual({ kind })
})

test('shows the rows in another dialect', async () => {
  const file = new Blob(['a;b,c\n1;2,3\n'])
  expect(await inspectFile(file, plain)).toMatchObject({
    rows: [
      { row: 1, cells: ['a;b', 'c'] },
      { row: 2, cells: ['1;2', '3'] }
    ]
  })
})

test('hands out all rows but the blank ones, with their numbers, and can begin anywhere', async () => {
  const file = new Blob([
    Array.from({ length: 100 }, (_, at) => (at % 10 === 3 ? '' : `${at}`)).join('\n')
  ])
  const take = createRowRangeReader()
  const taken: { row: number; cells: string[] }[] = []
  for (let from: number | undefined = 2; from !== undefined; ) {
    const part = await take('one', file, plain, { from, most: 7 })
    expect(part.rows.length).toBeLessThanOrEqual(7)
    taken.push(...part.rows)
    from = part.next
  }
  expect(taken).toHaveLength(89)
  for (const { row, cells } of taken) expect(cells).toEqual([`${row - 1}`])
  const again = await take('one', file, plain, { from: 50, most: 1 })
  expect(again.rows[0]?.row).toBe(50)
})
