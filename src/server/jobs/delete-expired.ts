import { forgetSignUps } from '../domain/accounts/signups.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { forgetEvents } from '../domain/history/requests.ts'
import { forgetAnswers } from '../domain/idempotency.ts'
import { forgetChallenges } from '../domain/key-proofs/challenges.ts'
import { forgetMailTokens } from '../domain/mail/mail-tokens.ts'
import { forgetSessions } from '../domain/sessions/sessions.ts'
import { eachCompany, logFailure } from './each-company.ts'
import type { Job } from './job-runner.ts'

/** Removes what has had its time: challenges, stored answers, events nobody resumes from, sessions, sign-ups, links. */
export function forget(deps: Deps): Job {
  const name = 'forget'
  /** `true`: a batch was removed, and more may be due. */
  const verbs: ((deps: Deps, company: CompanyId) => Promise<unknown>)[] = [
    forgetChallenges,
    forgetAnswers,
    forgetEvents,
    forgetSessions,
    forgetSignUps,
    forgetMailTokens
  ]
  return {
    name,
    everyMs: 10 * 60_000,
    run: stopping =>
      eachCompany(deps, { job: name, stopping }, async company => {
        for (const verb of verbs) {
          await logFailure(deps.log, { job: name, company }, async () => {
            while (!stopping() && (await verb(deps, company)) === true);
          })
        }
      })
  }
}
