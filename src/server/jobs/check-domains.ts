import { sendWaitingInvitations } from '../domain/accounts/invitations.ts'
import type { Deps } from '../domain/deps.ts'
import { recheckDueDomains } from '../domain/host-proofs/domain-checks.ts'
import { forEachCompany } from './each-company.ts'
import type { Job } from './job-runner.ts'

/** Also mails the invitations that had to wait because their company had no host. */
export function checkDomainsJob(deps: Deps): Job {
  const name = 'check-domains'
  return {
    name,
    everyMs: 10 * 60_000,
    run: stopping =>
      forEachCompany(deps, { job: name, stopping }, async company => {
        await sendWaitingInvitations(deps, company)
        while (!stopping() && (await recheckDueDomains(deps, company)));
      })
  }
}
