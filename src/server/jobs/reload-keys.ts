import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/** A new key does not sign before it is ten minutes old, so each process knows it by then. */
export function reloadTokenKeysJob(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
