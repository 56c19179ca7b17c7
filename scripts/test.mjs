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
  running.push(runPlaywright({ printFrom: vitest }))
}
const results = await Promise.all(running)

console.log(
  '\nLeft out: further browser tests, and each page and state in every look (npm run test:matrix), PostgreSQL 15 (npm run test:postgres), the edge runtime (npm run test:edge), calls to the disk that fail (npm run test:strace), pages and API in processes of their own behind nginx (npm run test:apart), Caddy with certificates (npm run test:caddy), starts and kills of the bundled database and of the setup (npm run test:starts), the second verifier of receipts and logs (npm run test:verifier), long runs, most random cases and kills in each step of an import (npm run soak), speed (npm run bench).'
)
const passed = results.reduce((sum, result) => sum + result.passed, 0)
const failed = results.flatMap(result => result.failed).length
writeFileSync(summary, summaryOf(results))
console.log(`\n${summaryOf(results)}`)
if (failed > 0 || passed === 0) process.exitCode = 1
