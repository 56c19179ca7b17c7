import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/** Reloads token keys that another process has made, long before they sign anything. */
export function reloadKeys(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
