import { forgetChallenges } from '../domain/challenges.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { forgetAnswers } from '../domain/idempotency.ts'
import { listCompanies } from '../domain/installation.ts'
import { forgetMailTokens } from '../domain/mail-tokens.ts'
import { forgetEvents } from '../domain/requests.ts'
import { forgetSessions } from '../domain/sessions.ts'
import { forgetSignUps } from '../domain/signups.ts'
import type { Job } from './run.ts'

/** Removes what has had its time: challenges, stored answers, events nobody resumes from, sessions, sign-ups, links. */
export function forget(deps: Deps): Job {
  const verbs: ((deps: Deps, company: CompanyId) => Promise<void>)[] = [
    forgetChallenges,
    forgetAnswers,
    forgetEvents,
    forgetSessions,
    forgetSignUps,
    forgetMailTokens
  ]
  return {
    name: 'forget',
    everyMs: 10 * 60_000,
    async run(stopping) {
      for (const company of await listCompanies(deps)) {
        for (const verb of verbs) {
          if (stopping()) return
          await verb(deps, company)
        }
      }
    }
  }
}
