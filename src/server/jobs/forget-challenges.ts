import { forgetChallenges } from '../domain/challenges.ts'
import type { Deps } from '../domain/deps.ts'
import { listCompanies } from '../domain/installation.ts'
import type { Job } from './run.ts'

/** Keeps the list of used challenges as short as the time in which one could be repeated. */
export function forgetUsedChallenges(deps: Deps): Job {
  return {
    name: 'forget-challenges',
    everyMs: 10 * 60_000,
    async run(stopping) {
      for (const company of await listCompanies(deps)) {
        if (stopping()) return
        await forgetChallenges(deps, company)
      }
    }
  }
}
