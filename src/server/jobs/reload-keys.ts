import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that reads the token keys again. So this process learns of a key that another
 * process has created before the new key signs its first token.
 */
export function reloadKeys(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
