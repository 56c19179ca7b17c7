import { defineConfig } from 'vitest/config'
import { LongestFirstSequencer } from './tests/helpers/vitest/longest-first.ts'

const shared = {
  pool: 'forks',
  setupFiles: 'tests/helpers/vitest/wait-timeout.ts',
  // a busy machine makes a test of two seconds one of thirty
  testTimeout: 120_000,
  hookTimeout: 120_000,
  teardownTimeout: 20_000,
  // its own is one second
  expect: { poll: { timeout: 60_000 } }
} as const

const server = [
  'tests/api/**/*.test.ts',
  'tests/unit/{bench,contract,core,server,site,theme}/**/*.test.ts'
]
// loads modules anew for each tab
const isolated = ['tests/api/history/tabs.test.ts']
// needs a program that many machines lack: `npm run test:strace`
const traced = ['tests/api/deposits/disk.test.ts']
// starts, kills and takes over databases and builds for minutes: `npm run test:starts`
const starts = ['tests/unit/server/db/postgres.test.ts', 'tests/unit/setup.test.ts']

export default defineConfig({
  test: {
    globalSetup: 'tests/helpers/vitest/global-setup.ts',
    // each waits for PostgreSQL and for processes as much as it computes
    maxWorkers: 3,
    sequence: { sequencer: LongestFirstSequencer },
    reporters: ['default', ['json', { outputFile: '.cache/tests/vitest.json' }]],
    projects: [
      {
        test: {
          ...shared,
          name: 'server',
          include: server,
          exclude: [...isolated, ...traced, ...starts],
          // Node reads these modules itself, as in production, and each worker reads them once. So
          // a test of them leaves nothing behind in globals or in the state of a module.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          isolate: false
        }
      },
      {
        // a module that only Astro's own builds know
        resolve: {
          alias: { 'astro:transitions/client': 'astro/virtual-modules/transitions-router.js' }
        },
        test: {
          ...shared,
          name: 'browser',
          include: [...isolated, 'tests/unit/**/*.test.ts'],
          exclude: [...server.slice(1), ...starts]
        }
      },
      { test: { ...shared, name: 'strace', include: traced } },
      // needs Caddy: `npm run test:caddy`
      { test: { ...shared, name: 'caddy', include: ['tests/deploy/caddy.test.ts'] } },
      { test: { ...shared, name: 'starts', include: starts } },
      // needs Python: `npm run test:verifier`
      { test: { ...shared, name: 'verifier', include: ['tests/verifier/**/*.test.ts'] } },
      // needs what `npm run build:edge` installs: `npm run test:edge`
      { test: { ...shared, name: 'edge', include: ['tests/edge/**/*.test.ts'] } }
    ]
  }
})
