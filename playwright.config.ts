import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'
import { longestSpecs } from './tests/helpers/e2e/longest-specs.ts'
import { makeScratchFolder } from './tests/helpers/scratch-folder.ts'

// Two suites on one machine need ports of their own: this one and the two after it.
const port = Number(process.env.E2E_PORT ?? 4391)
const managementPort = port + 1
/** A test that proves a host listens here while it runs. */
const dnsPort = port + 2
const executablePath = process.env.CHROMIUM_PATH ?? savedBrowser()

// Playwright asks for readiness through the proxy of the environment, which cannot see this machine.
const direct = [process.env.no_proxy ?? process.env.NO_PROXY, '127.0.0.1,localhost,.localhost']
process.env.no_proxy = process.env.NO_PROXY = direct.filter(Boolean).join(',')

// workers inherit it; in memory, because the service waits for the disk at each of its thousands of mails
const dataDir = process.env.E2E_DATA_DIR ?? makeDataDir()
process.env.E2E_DATA_DIR = dataDir

export default defineConfig({
  testDir: 'tests/e2e',
  testMatch: '**/*.spec.ts',
  outputDir: 'test-results',
  // `npm run test:matrix` and the soak take all
  grepInvert: process.env.MATRIX || process.env.SOAK ? [] : /@matrix/,
  timeout: 300_000,
  // a busy machine takes several times as long; a test that passes waits for none of this
  expect: { timeout: 30_000 },
  // tests wait for keys, mails and databases as much as they compute; each makes its own people
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  // a second try is reported as flaky
  retries: process.env.CI ? 1 : 0,
  reporter: [['list'], ['json', { outputFile: '.cache/tests/playwright.json' }]],
  use: {
    baseURL: `http://localhost:${port}`,
    actionTimeout: 30_000,
    navigationTimeout: 60_000,
    // drawing motion takes a seventh of the processor time of these tests; a test of motion asks for it
    contextOptions: { reducedMotion: 'reduce' },
    // recording each test would slow down all of them; `--trace on` records one that is being looked into
    trace: process.env.CI ? 'on-first-retry' : 'off',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      args: [
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // a host that a test proves leads to the service, as its DNS records would
        '--host-resolver-rules=MAP *.fr 127.0.0.1',
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])
      ]
    }
  },
  // the longest tests go first, so that no worker ends with one while the other has none left
  projects: [
    { name: 'longest', testMatch: longestSpecs, use: { browserName: 'chromium' } },
    { name: 'chromium', testIgnore: longestSpecs, use: { browserName: 'chromium' } }
  ],
  webServer: {
    command: process.env.E2E_STACK
      ? 'node tests/helpers/e2e/stack.ts'
      : 'node scripts/e2e-server.mjs',
    url: `http://127.0.0.1:${managementPort}/readyz`,
    env: {
      PORT: String(port),
      MANAGEMENT_PORT: String(managementPort),
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      // else sign-ups wait for a confirmation once a test has proved a host
      DEV: 'true',
      DNS_SERVERS: `127.0.0.1:${dnsPort}`,
      // a test imports from an address on this machine
      REGISTERS_ON_LOOPBACK: 'true',
      // all tests come from one address
      LIMIT_SIGN_UP_PER_ADDRESS_HOUR: '10000',
      LIMIT_VERIFY_PER_ADDRESS_MINUTE: '10000',
      LIMIT_VERIFY_PER_ADDRESS_DAY: '10000'
    },
    timeout: 120_000,
    // A killed server would leave its database running.
    gracefulShutdown: { signal: 'SIGTERM', timeout: 20_000 },
    reuseExistingServer: false,
    stdout: 'pipe',
    stderr: 'pipe'
  }
})

function savedBrowser(): string | undefined {
  const path = '.cache/chromium'
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

/** Returns a folder that is removed when the run ends. */
function makeDataDir(): string {
  const folder = makeScratchFolder()
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'e2e-data')
}
