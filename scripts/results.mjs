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
    const { passed, failed, flaky } = count(JSON.parse(readFileSync(report, 'utf8')))
    return { passed, failed: Math.max(failed, status === 0 ? 0 : 1), flaky }
  } catch {
    return { passed: 0, failed: 1, flaky: [] }
  }
}

function countVitest(report) {
  const broken = report.testResults.filter(
    file => file.status === 'failed' && file.assertionResults.length === 0
  )
  const failed = report.numFailedTests + broken.length
  return { passed: report.numPassedTests, failed, flaky: [] }
}

function countPlaywright({ stats, suites }) {
  return { passed: stats.expected, failed: stats.unexpected, flaky: suites.flatMap(flakyIn) }
}

/**
 * Returns the names of the tests of a suite that failed first and passed when they were repeated.
 *
 * @typedef {{ title: string, specs?: { title: string, tests: { status: string }[] }[], suites?: Suite[] }} Suite
 * @param {Suite} suite of Playwright's JSON report
 * @returns {string[]}
 */
export function flakyIn({ title, specs = [], suites = [] }) {
  const own = specs.filter(({ tests }) => tests.some(({ status }) => status === 'flaky'))
  return [...own, ...suites.flatMap(flakyIn).map(name => ({ title: name }))].map(
    each => `${title} › ${each.title}`
  )
}

/** Returns the lines that end a run: each flaky test by its name, then the sum without them. */
export function summaryOf(results) {
  const sum = what => results.reduce((total, result) => total + result[what], 0)
  const flaky = results.flatMap(result => result.flaky)
  const named = flaky.map(name => `  ${name}\n`).join('')
  const repeated =
    flaky.length === 0 ? '' : `${flaky.length} flaky, passed when repeated:\n${named}`
  return `${repeated}${sum('passed')} passed, ${sum('failed')} failed\n`
}
