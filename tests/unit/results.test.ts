import { expect, test } from 'vitest'
import { flakyIn, summaryOf } from '../../scripts/results.mjs'

const spec = (title: string, status: string) => ({ title, tests: [{ status }] })

test('names the browser tests that passed only when they were repeated', () => {
  const report = {
    title: 'drops.spec.ts',
    specs: [spec('drops a file', 'expected'), spec('drops a folder', 'flaky')],
    suites: [{ title: 'on a phone', specs: [spec('drops nothing', 'flaky')] }]
  }
  expect(flakyIn(report)).toEqual([
    'drops.spec.ts › drops a folder',
    'drops.spec.ts › on a phone › drops nothing'
  ])
})

test('counts them beside the sum, which ends the run', () => {
  const units = { passed: 3, failed: 0, flaky: [] }
  expect(summaryOf([units])).toBe('3 passed, 0 failed\n')
  expect(summaryOf([units, { passed: 2, failed: 1, flaky: ['a › b'] }])).toBe(
    '1 flaky, passed when repeated:\n  a › b\n5 passed, 1 failed\n'
  )
})
