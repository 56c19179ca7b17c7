// Runs Vitest and, at the same time, the browser tests on the build, because both wait as much as
// they compute. Prints the one after the other, and writes the results to .cache/tests/summary.
import { rmSync, writeFileSync } from 'node:fs'
import { runPlaywright, runVitest, summaryOf } from './results.mjs'

const summary = '.cache/tests/summary'
rmSync(summary, { force: true })

const vitest = runVitest()
const running = [vitest]
if (process.env.SKIP_E2E === '1') {
  console.log('SKIP_E2E=1: the browser tests are skipped.')
} else {
  running.push(runPlaywright(vitest))
}
const results = await Promise.all(running)

const passed = results.reduce((sum, result) => sum + result.passed, 0)
const failed = results.flatMap(result => result.failed).length
writeFileSync(summary, summaryOf(results))
console.log(`\n${summaryOf(results)}`)
if (failed > 0 || passed === 0) process.exitCode = 1
