import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/** Learns of token keys that another process has made, long before anything is signed with them. */
export function reloadKeys(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}
