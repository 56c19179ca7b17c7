import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { killDuringDeposits } from './crash.ts'
import { checkFlushOrder, testFullDisk, testUploadDiskFaults } from './disk.ts'
import { testPutDiskFaults } from './disk-put.ts'
import { testHeldDeposits } from './held.ts'
import { killDuringImports, startImportingServices } from './imports.ts'
import { killDuringRegisterImports } from './register-imports.ts'
import { testCopiedFolder, testRestoredDatabase } from './restored.ts'
import { whyStraceFails } from './strace.ts'
import { measureWaitingCalls } from './waiting.ts'

const root = join(import.meta.dirname, '../..')

interface Options {
  seed: number
  /** The fraction of the full number of rounds to run, such as 0.1. */
  scale: number
}
type Scenario = (options: Options) => Promise<{ faults: string[] }>

// A name begins with the row of docs/security.md that the test proves; only `themes`, which needs a
// build, has none. `npm run soak -- --only C-01 --scale 0.1 --seed 7` runs the tests whose names
// start with C-01, with a tenth of the rounds.
const scenarios: Record<string, Scenario> = {
  'A-01': runTests(['tests/unit/core/keys/kdf.test.ts']),
  'A-02': runTests(['tests/unit/core/input/email.test.ts']),
  'A-03': runTests(['tests/unit/core/keys/challenge.test.ts']),
  'B-03': runTests(['tests/api/history/histories.test.ts']),
  'B-05': runTests(['tests/api/site/shared-caches.test.ts']),
  'B-06': runTests(['tests/api/refusals.test.ts']),
  'C-01': ({ seed, scale }) =>
    killDuringDeposits({ seed, kills: countOf(1000, scale), maxRestartMs: 5000, onKill: say }),
  'C-01 processes': ({ seed, scale }) =>
    killDuringDeposits({ seed, kills: countOf(20, scale), processes: 3, onKill: say }),
  'C-01 held': ({ seed, scale }) =>
    testHeldDeposits({ seed, kills: countOf(40, scale), onKill: say }),
  'C-01 imports': async ({ seed, scale }) => {
    await using services = await startImportingServices()
    const rounds = countOf(30, scale)
    return await killDuringImports(services, { seed, rounds, rows: 20_000, onKill: say })
  },
  'C-01 registers': async ({ seed, scale }) => {
    await using services = await startImportingServices()
    const rounds = countOf(20, scale)
    return await killDuringRegisterImports(services, { seed, rounds, rows: 50_000, onKill: say })
  },
  'C-03': needingStrace(({ seed, scale }) =>
    checkFlushOrder({ seed, deposits: countOf(100, scale) })
  ),
  // a round has 16 system calls
  'C-04': needingStrace(({ seed, scale }) =>
    testUploadDiskFaults({ seed, rounds: countOf(18, scale), onFault: say })
  ),
  // a round has 13 system calls
  'C-04 PUT': needingStrace(({ seed, scale }) =>
    testPutDiskFaults({ seed, rounds: countOf(6, scale), onFault: say })
  ),
  'C-04 full disk': ({ seed }) => testFullDisk({ seed, megabytes: 64 }),
  'C-05': runTests(['tests/api/database-loss.test.ts']),
  'C-06': runTests(['tests/api/deposits/cuts.test.ts']),
  'C-07': runTests(['tests/api/history/stream-cuts.test.ts']),
  'C-10': runTests(['tests/api/deposits/upload-writers.test.ts']),
  'C-10 waiting': ({ seed, scale }) => measureWaitingCalls({ seed, seconds: countOf(10, scale) }),
  'C-11': runTests(['tests/api/evidence/log-kills.test.ts']),
  'C-11 upgrade': runTests(['tests/api/evidence/log-upgrade.test.ts']),
  'C-11 copied': ({ seed }) => testCopiedFolder({ seed }),
  'C-11 restored': ({ seed }) => testRestoredDatabase({ seed }),
  'D-01': runTests(['tests/api/companies/usage.test.ts']),
  'D-02': runTests(['tests/api/deposits/quotas.test.ts']),
  'D-03': runTests(['tests/api/deposits/duplicates.test.ts']),
  'E-01': runTests(['tests/api/contract/fuzz.test.ts', 'tests/api/contract/parsing-cost.test.ts']),
  'E-01 registers': runTests(['tests/api/registers/malformed-files.test.ts']),
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
// a test that threw may have left something running
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`, () => process.exit())

// without this fault, a test that did not run would count as passed
function needingStrace(scenario: Scenario): Scenario {
  return async given => {
    const reason = whyStraceFails()
    return reason ? { faults: [`not tried: ${reason}`] } : scenario(given)
  }
}

function countOf(full: number, scale: number): number {
  return Math.max(1, Math.round(full * scale))
}

// the standard output must contain only the report
function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

function numberOf(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isFinite(number) || number <= 0) throw new Error(`--${name} takes a number above 0`)
  return number
}

// with many more random cases than `npm test` has: `runCount()` multiplies them by the scale
function runTests(files: string[]): Scenario {
  return run('vitest/vitest.mjs', ['run', '--testTimeout=86400000', ...files])
}

function runBrowserTests(file: string, title: string): Scenario {
  return run('@playwright/test/cli.js', ['test', file, '--grep', title])
}

function run(tool: string, args: string[]): Scenario {
  return async ({ seed, scale }) => {
    const started = performance.now()
    const runner = spawn(process.execPath, [join(root, 'node_modules', tool), ...args], {
      cwd: root,
      // the standard output must contain only the report
      stdio: ['ignore', 2, 2],
      env: { ...process.env, SOAK: String(scale), SEED: String(seed) }
    })
    const code = await new Promise<number | null>(resolve => runner.once('close', resolve))
    const seconds = Math.round((performance.now() - started) / 1000)
    const faults = code === 0 ? [] : [`the tests ended with ${code}: see above`]
    return { seed, scale, seconds, faults }
  }
}
