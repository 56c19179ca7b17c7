import { listCompanyIds } from '../domain/companies/companies.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { sendNextMail } from '../domain/mail/mail-queue.ts'
import { runAndLogFailure } from './each-company.ts'
import type { Job } from './job-runner.ts'

/** The most mails that are sent at the same time, for all companies together. */
const mailsAtOnce = 4

/**
 * Returns the job that sends queued mails. It runs for each new mail, and every few seconds for
 * mails that a crash or an unreachable mail server has left. Companies take turns, one mail each. A
 * company uses all parallel runs if no other company has mails.
 */
export function sendMailsJob(deps: Deps): Job {
  const waiting = new Set<CompanyId>()
  const name = 'send-mails'
  let startAnother = () => {}
  return {
    name,
    everyMs: 5000,
    parallel: mailsAtOnce,
    wake: run => {
      startAnother = run
      return deps.signals.mails.on(company => {
        waiting.add(company)
        run()
      })
    },
    async run(stopping, scheduled) {
      if (scheduled) for (const company of await listCompanyIds(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        if (stopping()) return
        await runAndLogFailure(deps.log, { job: name, company }, async () => {
          const isSent = await sendNextMail(deps, company, () => {
            // start another run for the next mail without waiting until this one is sent
            waiting.add(company)
            startAnother()
          })
          if (!isSent) waiting.delete(company)
        })
      }
    }
  }
}
