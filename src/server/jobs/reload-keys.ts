import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that reads the token keys from their files every minute. A new key signs tokens
 * only ten minutes after its creation, so by then this process knows every key that another process
 * has created.
 */
export function reloadTokenKeysJob(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
