import { expect, test } from 'vitest'
import { countPlaywright, countVitest, summaryOf } from '../../scripts/results.mjs'

const spec = (title: string, status: string, message?: string) => ({
  title,
  tests: [{ status, results: [{}, ...(message ? [{ error: { message } }] : [])] }]
})

test('names the browser tests that failed, and those that passed only when repeated', () => {
  const suite = {
    title: 'drops.spec.ts',
    specs: [
      spec('drops a file', 'expected'),
      spec('drops a folder', 'flaky', '\u001b[31mError: no zone\u001b[39m\n  at drop.ts'),
      spec('drops a link', 'unexpected', 'Error: no link')
    ],
    suites: [{ title: 'on a phone', specs: [spec('drops nothing', 'flaky')] }]
  }
  expect(countPlaywright({ stats: { expected: 1 }, suites: [suite] })).toEqual({
    passed: 1,
    failed: ['drops.spec.ts › drops a link: Error: no link'],
    flaky: [
      'drops.spec.ts › drops a folder: Error: no zone',
      'drops.spec.ts › on a phone › drops nothing'
    ]
  })
})

test('names the tests that failed, and the files that failed before their tests', () => {
  const report = {
    numPassedTests: 2,
    testResults: [
      {
        name: '/vidimus/tests/unit/sums.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'adds' },
          { status: 'failed', fullName: 'divides', failureMessages: ['Error: by 0\n  at x'] }
        ]
      },
      {
        name: '/vidimus/tests/api/broken.test.ts',
        status: 'failed',
        message: 'SyntaxError: no',
        assertionResults: []
      }
    ]
  }
  expect(countVitest(report)).toEqual({
    passed: 2,
    failed: [
      'tests/unit/sums.test.ts › divides: Error: by 0',
      'tests/api/broken.test.ts: SyntaxError: no'
    ],
    flaky: []
  })
})

test('ends with the sum, below what failed and what was flaky', () => {
  const units = { passed: 3, failed: [], flaky: [] }
  expect(summaryOf([units])).toBe('3 passed, 0 failed\n')
  expect(summaryOf([units, { passed: 2, failed: ['c › d: Error'], flaky: ['a › b'] }])).toBe(
    '1 flaky, passed when repeated:\n  a › b\n1 failed:\n  c › d: Error\n5 passed, 1 failed\n'
  )
})
