import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that reads the token keys from their files every minute. It finds the keys that
 * other processes have created. A new key does not sign tokens before it is ten minutes old, so
 * each process knows the key by then.
 */
export function reloadTokenKeysJob(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
