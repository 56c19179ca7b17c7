// Runs a test tool and returns its results from the report that it writes to .cache/tests.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const folder = '.cache/tests'
/**
 * Folder in which Node stores compiled modules. The tests start the product many times, and each
 * start is faster with them.
 */
const compiled = resolve('.cache/compiled')

export function runVitest(args = [], env = {}) {
  const projects = ['--project', 'server', '--project', 'browser']
  return run('vitest', ['run', ...projects, ...args], countVitest, { env })
}

/** Runs the browser tests. Prints their output at once, or after the promise `printFrom`. */
export function runPlaywright({ args = [], env = {}, printFrom } = {}) {
  return run('playwright', ['test', ...args], countPlaywright, { env, printFrom })
}

/** Counts one failure if the run failed outside of its tests or left no report. */
async function run(tool, args, count, { env = {}, printFrom } = {}) {
  const report = `${folder}/${tool}.json`
  mkdirSync(folder, { recursive: true })
  rmSync(report, { force: true })
  const child = spawn(tool, args, {
    stdio: printFrom ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    env: { NODE_COMPILE_CACHE: compiled, ...process.env, ...env },
    shell: process.platform === 'win32'
  })
  if (printFrom) printLater(child, printFrom)
  try {
    const [status] = await once(child, 'close')
    const result = count(JSON.parse(readFileSync(report, 'utf8')))
    if (status === 0 || result.failed.length > 0) return result
    return { ...result, failed: [`${tool} ended with status ${status}`] }
  } catch {
    return { passed: 0, failed: [`${tool} wrote no report: see its output above`], flaky: [] }
  }
}

function printLater({ stdout, stderr }, printFrom) {
  let waiting = []
  for (const output of [stdout, stderr]) {
    output.on('data', chunk => (waiting ? waiting.push(chunk) : process.stdout.write(chunk)))
  }
  printFrom.finally(() => {
    for (const chunk of waiting) process.stdout.write(chunk)
    waiting = undefined
  })
}

/**
 * Returns the number of passed tests and the names of the failed tests in a report of Vitest. A
 * file that failed before its first test counts as one failed test.
 *
 * @param {{ numPassedTests: number, testResults: { name: string, status: string, message?: string,
 *   assertionResults: { status: string, fullName: string, failureMessages?: string[] }[]
 *   }[] }} report
 */
export function countVitest({ numPassedTests, testResults }) {
  const failed = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = name.slice(name.lastIndexOf('/tests/') + 1)
    if (status === 'failed' && assertionResults.length === 0) return [`${file}${cause(message)}`]
    return assertionResults
      .filter(test => test.status === 'failed')
      .map(({ fullName, failureMessages }) => `${file} › ${fullName}${cause(failureMessages?.[0])}`)
  })
  return { passed: numPassedTests, failed, flaky: [] }
}

/**
 * Returns the number of passed tests and the names of the failed and flaky tests in a report of
 * Playwright. A test that first failed and then passed when repeated is flaky.
 *
 * @typedef {{ title: string, specs?: { title: string, tests: { status: string,
 *   results?: { error?: { message?: string } }[] }[] }[], suites?: Suite[] }} Suite
 * @param {{ stats: { expected: number }, suites: Suite[] }} report
 */
export function countPlaywright({ stats, suites }) {
  const named = status => suites.flatMap(suite => withStatus(suite, status))
  return { passed: stats.expected, failed: named('unexpected'), flaky: named('flaky') }
}

function withStatus({ title, specs = [], suites = [] }, status) {
  const own = specs.flatMap(spec => {
    const test = spec.tests.find(each => each.status === status)
    if (!test) return []
    const error = test.results?.find(result => result.error)?.error
    return [`${spec.title}${cause(error?.message)}`]
  })
  const nested = suites.flatMap(suite => withStatus(suite, status))
  return [...own, ...nested].map(name => `${title} › ${name}`)
}

/** Returns `: ` and the first line of an error message without terminal colors. */
function cause(message = '') {
  const line = stripVTControlCharacters(message).trim().split('\n')[0]
  return line ? `: ${line.slice(0, 200)}` : ''
}

/** Returns the last lines of output: the names of flaky and failed tests, then the totals. */
export function summaryOf(results) {
  const all = what => results.flatMap(result => result[what])
  const passed = results.reduce((sum, result) => sum + result.passed, 0)
  const [failed, flaky] = [all('failed'), all('flaky')]
  return [
    ...listed(`${flaky.length} flaky, passed when repeated:`, flaky),
    ...listed(`${failed.length} failed:`, failed),
    `${passed} passed, ${failed.length} failed\n`
  ].join('\n')
}

function listed(heading, names) {
  return names.length === 0 ? [] : [heading, ...names.map(name => `  ${name}`)]
}
