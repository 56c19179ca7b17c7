import { announceEndingKeys } from '../domain/accounts/api-keys.ts'
import type { Deps } from '../domain/deps.ts'
import { forEachCompany } from './each-company.ts'
import type { Job } from './job-runner.ts'

/** Returns the job that mails to the owners of API keys that these end soon. */
export function announceEndingKeysJob(deps: Deps): Job {
  const name = 'announce-ending-keys'
  return {
    name,
    everyMs: 60 * 60_000,
    run: stopping =>
      forEachCompany(deps, { job: name, stopping }, company => announceEndingKeys(deps, company))
  }
}
