import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/unit/**/*.test.ts', 'tests/api/**/*.test.ts'],
    globalSetup: 'tests/helpers/global-setup.ts',
    pool: 'forks',
    // Each worker talks to PostgreSQL, which needs the rest of a two-core machine.
    maxWorkers: 2,
    setupFiles: 'tests/helpers/wait-timeout.ts',
    // a busy machine makes a test of two seconds one of thirty
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    reporters: ['default', ['json', { outputFile: '.cache/tests/vitest.json' }]]
  }
})
