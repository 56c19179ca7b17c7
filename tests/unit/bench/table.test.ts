import { expect, test } from 'vitest'
import { median, meetsTarget, quantile, renderReport } from '../../../bench/table.ts'

test('takes the middle of the runs, whatever their order', () => {
  expect(median([9, 1, 5])).toBe(5)
  expect(median([4, 1, 2, 3])).toBe(2.5)
  expect(median([])).toBeNaN()
})

test('a quantile is one of the values, and no fewer of them lie below it', () => {
  const values = Array.from({ length: 200 }, (_, at) => 200 - at)
  expect(quantile(values, 0.99)).toBe(198)
  expect(quantile([7], 0.99)).toBe(7)
})

test('a target is met when every part of it is', () => {
  const row = { what: 'x', ours: 80, peer: 100, unit: '/s' }
  expect(meetsTarget(row)).toBeUndefined()
  expect(meetsTarget({ ...row, target: { ratio: 0.8 } })).toBe(true)
  expect(meetsTarget({ ...row, target: { ratio: 0.81 } })).toBe(false)
  expect(meetsTarget({ ...row, target: { ratioAtMost: 0.5 } })).toBe(false)
  expect(meetsTarget({ ...row, target: { ratio: 0.8, atLeast: 500 } })).toBe(false)
  expect(meetsTarget({ ...row, target: { atMost: 300 } })).toBe(true)
})

test('a target that could not be measured is missed', () => {
  const row = { what: 'x', unit: '/s', ours: Number.NaN, target: { atLeast: 500 } }
  expect(meetsTarget(row)).toBe(false)
  expect(meetsTarget({ ...row, ours: 1, target: { ratio: 0.8 } })).toBe(false)
})

test('shows figures, ratio, target and verdict in one line a row, and notes below', () => {
  const text = renderReport([
    {
      what: 'pages',
      ours: 12_345,
      peer: 10_000,
      unit: '/s',
      target: { ratio: 0.8 },
      note: 'of 9 kB'
    },
    { what: 'memory', ours: 312.4, unit: 'MB', target: { atMost: 300 } },
    { what: 'warm start', ours: 0.4567, unit: 's' }
  ])
  expect(text.split('\n').map(line => line.split(/ {2,}/))).toEqual([
    ['what', 'ours', 'peer', 'ratio', 'aim', 'verdict'],
    expect.anything(),
    ['pages', '12,300/s', '10,000/s', '1.23', '≥ 0.8 ×', 'met'],
    ['memory', '312 MB', '≤ 300 MB', 'MISSED'],
    ['warm start', '0.457 s'],
    [''],
    ['pages: of 9 kB']
  ])
})
