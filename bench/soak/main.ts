import { parseArgs } from 'node:util'
import { killDuringDeposits } from './crash.ts'
import { checkFlushOrder, testFullDisk, testUploadDiskFaults } from './disk.ts'
import { testPutDiskFaults } from './disk-put.ts'
import { testHeldDeposits } from './held.ts'
import { killDuringImports } from './imports.ts'
import { whyStraceFails } from './strace.ts'
import { runBrowserTests, runTests } from './tests.ts'
import { measureWaitingCalls } from './waiting.ts'

interface Options {
  seed: number
  /** The fraction of the full number of rounds to run, such as 0.1. */
  scale: number
}
type Scenario = (options: Options) => Promise<{ faults: string[] }>

/**
 * The long tests by name. A name begins with the row of docs/security.md that the test proves. Only
 * `themes` has no row; this test needs a build. `npm test` runs most of these tests with fewer
 * rounds, but not `C-01 held`, `C-04 full disk` and `C-10 waiting`. The program prints the seed
 * first and a JSON report last, and exits with 1 if a test failed or could not run.
 * `npm run soak -- --only C-01 --scale 0.1 --seed 7` runs the tests whose names start with C-01,
 * with a tenth of the rounds.
 */
const scenarios: Record<string, Scenario> = {
  'A-02': runTests(['tests/unit/core/input/email.test.ts']),
  'A-03': runTests(['tests/unit/core/keys/challenge.test.ts']),
  'B-03': runTests(['tests/api/history/histories.test.ts']),
  'B-05': runTests(['tests/api/site/shared-caches.test.ts']),
  'B-06': runTests(['tests/api/refusals.test.ts']),
  'C-01': ({ seed, scale }) =>
    killDuringDeposits({ seed, kills: countOf(1000, scale), maxRestartMs: 5000, onKill: say }),
  'C-01 held': ({ seed, scale }) =>
    testHeldDeposits({ seed, kills: countOf(40, scale), onKill: say }),
  'C-01 imports': ({ seed, scale }) =>
    killDuringImports({ seed, rounds: countOf(30, scale), rows: 20_000, onKill: say }),
  'C-03': needingStrace(({ seed, scale }) =>
    checkFlushOrder({ seed, deposits: countOf(100, scale) })
  ),
  // a round has 16 system calls
  'C-04': needingStrace(({ seed, scale }) =>
    testUploadDiskFaults({ seed, rounds: countOf(18, scale), onFault: say })
  ),
  // a round has 14 system calls
  'C-04 PUT': needingStrace(({ seed, scale }) =>
    testPutDiskFaults({ seed, rounds: countOf(6, scale), onFault: say })
  ),
  'C-04 full disk': ({ seed }) => testFullDisk({ seed, megabytes: 64 }),
  'C-05': runTests(['tests/api/database-loss.test.ts']),
  'C-06': runTests(['tests/api/deposits/cuts.test.ts']),
  'C-07': runTests(['tests/api/history/stream-cuts.test.ts']),
  'C-10': runTests(['tests/api/deposits/upload-writers.test.ts']),
  'C-10 waiting': ({ seed, scale }) => measureWaitingCalls({ seed, seconds: countOf(10, scale) }),
  'D-01': runTests(['tests/api/companies/usage.test.ts']),
  'D-02': runTests(['tests/api/deposits/quotas.test.ts']),
  'D-03': runTests(['tests/api/deposits/duplicates.test.ts']),
  'E-01': runTests(['tests/api/contract/fuzz.test.ts', 'tests/api/contract/parsing-cost.test.ts']),
  'E-02': runTests([
    'tests/unit/core',
    'tests/unit/server/http/hosts.test.ts',
    'tests/unit/server/domain/companies/canonical-svg.test.ts'
  ]),
  themes: runBrowserTests('tests/e2e/admin/domains.spec.ts', 'random themes')
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    scale: { type: 'string', default: '1' }
  }
})
const options: Options = {
  seed: numberOf('seed', values.seed),
  scale: numberOf('scale', values.scale)
}
const { only } = values
const names = Object.keys(scenarios).filter(name => only === undefined || name.startsWith(only))
if (names.length === 0) throw new Error(`--only takes ${Object.keys(scenarios).join(', ')}`)
say(`seed ${options.seed}`)

const report: Record<string, object> = {}
for (const name of names) {
  say(name)
  // a test that throws is reported, and the other tests still run
  const result = await scenarios[name]?.(options).catch((error: unknown) => ({
    faults: [String(error)]
  }))
  if (!result) continue
  report[name] = result
  if (result.faults.length > 0) process.exitCode = 1
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)

/**
 * Returns a scenario that reports a fault if strace cannot run on this machine. Without this fault,
 * a test that did not run would count as passed.
 */
function needingStrace(scenario: Scenario): Scenario {
  return async given => {
    const reason = whyStraceFails()
    return reason ? { faults: [`not tried: ${reason}`] } : scenario(given)
  }
}

function countOf(full: number, scale: number): number {
  return Math.max(1, Math.round(full * scale))
}

/** Prints to the error stream, because the standard output must contain only the report. */
function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number <= 0) throw new Error(`--${name} takes a number above 0`)
  return number
}
