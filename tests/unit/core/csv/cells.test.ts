import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvRecord, unescapeFormulas } from '../../../../src/core/csv/cells.ts'
import { runCount } from '../../../helpers/soak.ts'

test.each([
  [['a', 1, undefined], 'a,1,\r\n'],
  [['a,b', 'a "b"', 'two\nlines', 'cr\r'], '"a,b","a ""b""","two\nlines","cr\r"\r\n'],
  [['=1+1', '+1', '-1', '@x', '\tx', '\0'], "'=1+1,'+1,'-1,'@x,'\tx,'\0\r\n"],
  [['＝1', '＋1', '－1', '＠x'], "'＝1,'＋1,'－1,'＠x\r\n"],
  [["'=1", "''=1", "'s-Hertogenbosch"], "''=1,'''=1,'s-Hertogenbosch\r\n"],
  [['a;=1', 'a,-1', 'a;b', 'a; -b'], `a;'=1,"a,'-1",a;b,a; -b\r\n`],
  [['a;"=1"'], '"a;\'""=1"""\r\n'],
  [['=HYPERLINK("http://x")'], '"\'=HYPERLINK(""http://x"")"\r\n']
])('writes %j as %j', (cells, text) => {
  expect(csvRecord(cells)).toBe(text)
})

test('can be read back, whatever the cells hold, and leaves no formula (E-02)', () => {
  const cell = fc.string({
    unit: fc.constantFrom(...'ab \',;"=+-@\r\n\t\0＝＋－＠é'),
    maxLength: 8
  })
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 5 }), cells => {
      const record = csvRecord(cells)
      const read = parse(record)
      for (const each of read) expect(each).not.toMatch(/^[=+\-@\t\r\0＝＋－＠]/)
      // nor for a spreadsheet that splits at other characters, also within quotes
      for (const part of record.split(/[,;\t\r\n]/)) {
        expect(part).not.toMatch(/^["]*[=+\-@\0＝＋－＠]/)
      }
      expect(read.map(unescapeFormulas)).toEqual(cells)
    }),
    { numRuns: runCount(1_000, 1_000_000) }
  )
})

/** Parses one record of a CSV file with the grammar of RFC 4180. */
function parse(text: string): string[] {
  const cells: string[] = []
  for (const match of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n$)/g)) {
    const [, cell = ''] = match
    cells.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)
  }
  return cells
}
