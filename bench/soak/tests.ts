import { spawn } from 'node:child_process'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

interface Options {
  seed: number
  scale: number
}

/**
 * Returns a scenario that runs these test files of Vitest with many more random cases than `npm
 * test` does: `runCount()` in tests/helpers/soak.ts multiplies them by the scale.
 */
export function runTests(files: string[]) {
  return run('vitest/vitest.mjs', ['run', '--testTimeout=86400000', ...files])
}

/**
 * Returns a scenario that runs only the tests of a browser test file whose titles contain `title`.
 */
export function runBrowserTests(file: string, title: string) {
  return run('@playwright/test/cli.js', ['test', file, '--grep', title])
}

function run(tool: string, args: string[]) {
  return async ({ seed, scale }: Options) => {
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
