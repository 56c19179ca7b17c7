import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that reads the token keys again. A key that another process created signs its
 * first token long after that.
 */
export function reloadKeys(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
