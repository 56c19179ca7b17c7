// Runs Vitest, then the browser tests on the build, and leaves the sum in .cache/tests/summary.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

const folder = '.cache/tests'
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })

const results = [run('vitest', ['run'], countVitest)]
if (process.env.SKIP_E2E === '1') {
  console.log('SKIP_E2E=1: the browser tests are left out.')
} else {
  results.push(run('playwright', ['test'], countPlaywright))
}

const passed = results.reduce((sum, result) => sum + result.passed, 0)
const failed = results.reduce((sum, result) => sum + result.failed, 0)
writeFileSync(`${folder}/summary`, `${passed} passed, ${failed} failed\n`)
if (failed > 0 || passed === 0) process.exitCode = 1

/** A run that failed outside of its tests, or left no report, counts as one failure. */
function run(tool, args, count) {
  const { status } = spawnSync(tool, args, {
    stdio: 'inherit',
    shell: process.platform === 'win32'
  })
  try {
    const { passed, failed } = count(JSON.parse(readFileSync(`${folder}/${tool}.json`, 'utf8')))
    return { passed, failed: Math.max(failed, status === 0 ? 0 : 1) }
  } catch {
    return { passed: 0, failed: 1 }
  }
}

function countVitest(report) {
  const broken = report.testResults.filter(
    file => file.status === 'failed' && file.assertionResults.length === 0
  )
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length }
}

function countPlaywright({ stats }) {
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected }
}
