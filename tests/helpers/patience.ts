import { vi } from 'vitest'

/** `vi.waitFor` gives up after a second by itself, which on a busy machine says nothing. */
const { waitFor } = vi
vi.waitFor = (check, options) =>
  waitFor(check, typeof options === 'number' ? options : { timeout: 20_000, ...options })
