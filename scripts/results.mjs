// Runs a tool that tests and answers what came of it, from the report it leaves in .cache/tests.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'

const folder = '.cache/tests'

export function runVitest(args = [], env = {}) {
  return run('vitest', ['run', ...args], countVitest, env)
}

export function runPlaywright() {
  return run('playwright', ['test'], countPlaywright)
}

/** A run that failed outside of its tests, or left no report, counts as one failure. */
function run(tool, args, count, env = {}) {
  const report = `${folder}/${tool}.json`
  mkdirSync(folder, { recursive: true })
  rmSync(report, { force: true })
  const { status } = spawnSync(tool, args, {
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32'
  })
  try {
    const { passed, failed } = count(JSON.parse(readFileSync(report, 'utf8')))
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
