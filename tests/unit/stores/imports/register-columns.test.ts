import { describe, expect, test } from 'vitest'
import { registerLimits } from '../../../../src/contract/kit/limits.ts'
import { RegisterColumns } from '../../../../src/contract/registers.ts'
import {
  completeColumns,
  findColumnFaults,
  findRegisterHeadings,
  guessDateOrder,
  guessRegisterColumns,
  newColumn,
  type ReadTable
} from '../../../../src/stores/imports/register-columns.ts'

const diplomas: ReadTable = {
  headings: ['Nom', 'Prénom', 'Date de naissance', 'N° diplôme', 'Diplôme', 'Année', 'E-mail'],
  rows: [
    ['Vale', 'Iris', '31/05/1999', 'D-2024-001', 'Master', '2024', 'iris@example.com'],
    ['Moreau', 'Léa', '02/11/2000', 'D-2024-002', 'Licence', '2024', 'lea@example.com']
  ]
}
const hash = 'a'.repeat(64)

/** `[['reference', 3], …]` */
function usesOf(table: ReadTable, known = guessRegisterColumns({ headings: [], rows: [] })) {
  return guessRegisterColumns(table, known).map(({ use, index }) => [use, index])
}

describe('the guess', () => {
  test('takes the number, last name and birth date of a diploma, and shows nothing about people', () => {
    const found = guessRegisterColumns({
      ...diplomas,
      headings: diplomas.headings.with(3, 'Numéro de diplôme')
    })
    expect(found.map(({ use, index, date }) => [use, index, date])).toEqual([
      ['reference', 3, undefined],
      ['check', 0, undefined],
      ['check', 2, 'dmy'],
      ['shown', 4, undefined],
      ['shown', 5, undefined]
    ])
    expect(found[0]?.labels).toEqual({ en: 'Diploma number', fr: 'Numéro de diplôme' })
    expect(found[1]?.labels).toEqual({ en: 'Last name', fr: 'Nom' })
    expect(RegisterColumns.safeParse(completeColumns(found)).success).toBe(true)
  })

  test('finds the number by its cells if no heading names it', () => {
    expect(usesOf({ ...diplomas, headings: diplomas.headings.with(3, 'Parchemin') })[0]).toEqual([
      'reference',
      3
    ])
  })

  test.each([
    ['Certificate No', 0],
    ['Ref.', 0],
    ['Numéro de facture', 0],
    ['Matricule', 0],
    ['ID', 0]
  ])('takes the column %s as the reference', (heading, index) => {
    const table = { headings: [heading, 'Phone number'], rows: [['A1', '0612345678']] }
    expect(usesOf(table)[0]).toEqual(['reference', index])
  })

  test('takes 64 hexadecimal digits as the fingerprint, and then checks nothing', () => {
    const table = { headings: ['Number', 'Last name', 'sha'], rows: [['1', 'Vale', hash]] }
    expect(usesOf(table)).toEqual([['fingerprint', 2]])
  })

  test('has no key where nothing looks like one', () => {
    const table = {
      headings: ['Town', 'Note'],
      rows: [
        ['Lyon', 'a'],
        ['Lyon', 'b']
      ]
    }
    const found = guessRegisterColumns(table)
    expect(found).toEqual([])
    expect(findColumnFaults(found)).toEqual([{ kind: 'key' }])
  })

  test('repeats the choice of the last import by heading, wherever the columns are now', () => {
    const known = guessRegisterColumns(diplomas).map(column => ({
      ...column,
      labels: { en: `${column.labels.en}!`, fr: column.labels.fr }
    }))
    const order = [6, 5, 4, 3, 2, 1, 0]
    const turned = {
      headings: order.map(at => (diplomas.headings[at] ?? '').toUpperCase()),
      rows: diplomas.rows.map(row => order.map(at => row[at] ?? ''))
    }
    const found = guessRegisterColumns(turned, known)
    expect(found.map(({ use, index }) => [use, index])).toEqual(
      known.map(({ use, index }) => [use, 6 - index])
    )
    expect(found.every(({ labels }) => labels.en.endsWith('!'))).toBe(true)
  })

  test('repeats it by place for a file without headings', () => {
    const table = { headings: ['', ''], rows: [['D1', 'Vale']] }
    const known = [newColumn(table, 1, 'check'), newColumn(table, 0, 'reference')]
    expect(usesOf(table, known)).toEqual([
      ['check', 1],
      ['reference', 0]
    ])
  })

  test('guesses anew if the key of the last import is not in the file', () => {
    const known = guessRegisterColumns({ headings: ['Sha', 'Année'], rows: [[hash, '2024']] })
    expect(usesOf(diplomas, known)).toContainEqual(['check', 0])
  })

  test('keeps at most 50 of 1,000 columns', () => {
    const headings = Array.from({ length: 1_000 }, (_, at) => `Year ${at}`)
    const rows = Array.from({ length: 100 }, (_, row) => headings.map((_, at) => `${row} ${at}`))
    expect(guessRegisterColumns({ headings, rows })).toHaveLength(registerLimits.columns)
  })
})

test.each([
  ['2026-05-31', 'ymd'],
  ['2026-05-03', 'ymd'],
  ['31.05.2026', 'dmy'],
  ['05/31/2026', 'mdy'],
  ['03/05/2026', 'ask'],
  ['3 5 26', 'ask'],
  ['May 3', undefined],
  ['1234', undefined],
  ['123-45-6', undefined]
] as const)('reads the order of the date %s as %s', (cell, order) => {
  expect(guessDateOrder([cell])).toBe(order)
})

test('one clear date decides for the whole column, and one other cell makes it text', () => {
  expect(guessDateOrder(['03/05/2026', '31/05/2026'])).toBe('dmy')
  expect(guessDateOrder(['03/05/2026', 'unknown'])).toBeUndefined()
  expect(guessDateOrder([])).toBeUndefined()
})

describe('the row of headings', () => {
  const header = ['Number', 'Name', 'Born']
  const row = ['D-1', 'Vale', '1999-05-31']
  test.each([
    ['is the first row', [header, row], 0],
    ['is below a title', [['Diplomas'], header, row], 1],
    ['is not a row with a date', [row, row], undefined],
    ['is not a row with a fingerprint', [[hash], [hash]], undefined],
    ['is not a row of numbers', [['1'], ['2']], undefined],
    [
      'is not like the row below',
      [
        ['D-1', 'x'],
        ['D-230', 'y']
      ],
      undefined
    ],
    [
      'may have digits',
      [
        ['Year 1', 'No'],
        ['2024', 'D-1']
      ],
      0
    ],
    ['is not the only row', [header], undefined],
    ['is not in an empty file', [], undefined]
  ])('%s', (_, rows, at) => expect(findRegisterHeadings(rows)).toBe(at))
})

test('an order that is not chosen and a missing label are faults', () => {
  const table = { headings: ['No', ''], rows: [['1', '03/05/2026']] }
  const columns = [newColumn(table, 0, 'reference'), newColumn(table, 1, 'check')]
  expect(findColumnFaults(columns)).toEqual([
    { kind: 'label', index: 1, language: 'en' },
    { kind: 'label', index: 1, language: 'fr' },
    { kind: 'date', index: 1 }
  ])
  expect(() => completeColumns(columns)).toThrow()
})
