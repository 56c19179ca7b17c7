import { sendLateInvitations } from '../domain/accounts/invitations.ts'
import type { Deps } from '../domain/deps.ts'
import { recheckDomains } from '../domain/host-proofs/domain-checks.ts'
import { forEachCompany } from './each-company.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that checks every verified domain once a day: does DNS still have the record that
 * proves it? For each company, it first mails invitations that are still unsent although the company
 * has a host by now.
 */
export function checkDomainsJob(deps: Deps): Job {
  const name = 'check-domains'
  return {
    name,
    everyMs: 10 * 60_000,
    run: stopping =>
      forEachCompany(deps, { job: name, stopping }, async company => {
        await sendLateInvitations(deps, company)
        while (!stopping() && (await recheckDomains(deps, company)));
      })
  }
}
