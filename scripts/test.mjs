// Runs Vitest, then the browser tests on the build, and writes the results to .cache/tests/summary.
import { rmSync, writeFileSync } from 'node:fs'
import { runPlaywright, runVitest, summaryOf } from './results.mjs'

const summary = '.cache/tests/summary'
rmSync(summary, { force: true })

const results = [runVitest()]
if (process.env.SKIP_E2E === '1') {
  console.log('SKIP_E2E=1: the browser tests are skipped.')
} else {
  results.push(runPlaywright())
}

const passed = results.reduce((sum, result) => sum + result.passed, 0)
const failed = results.flatMap(result => result.failed).length
writeFileSync(summary, summaryOf(results))
console.log(`\n${summaryOf(results)}`)
if (failed > 0 || passed === 0) process.exitCode = 1
