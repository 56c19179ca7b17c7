import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that reads the token keys from their files every minute. So this process knows a
 * key that another process has created before that key signs its first token.
 */
export function reloadKeysJob(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
