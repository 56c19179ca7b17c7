import { vi } from 'vitest'

/**
 * Sets the default timeout of `vi.waitFor` to 60 seconds. Vitest's default of one second is too
 * short on a busy machine.
 */
const { waitFor } = vi
const waitForLonger: typeof waitFor = (check, options) =>
  waitFor(check, typeof options === 'number' ? options : { timeout: 60_000, ...options })
// this file runs before each file of tests, and files may share a process
if (waitFor.name !== waitForLonger.name) vi.waitFor = waitForLonger
