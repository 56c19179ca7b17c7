import { listCompanies } from '../domain/companies/companies.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { sendNextMail } from '../domain/mail/mail-queue.ts'
import { logFailure } from './each-company.ts'
import type { Job } from './job-runner.ts'

/** Mails that are sent at the same time, of all companies together. */
const mailsAtOnce = 4

/**
 * Sends queued mails: woken by each new one, and every few seconds for those that a crash or a dead
 * server left. Companies take turns, one mail each; a company that is alone uses all places.
 */
export function sendMails(deps: Deps): Job {
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
      if (scheduled) for (const company of await listCompanies(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        if (stopping()) return
        await logFailure(deps.log, { job: name, company }, async () => {
          const isSent = await sendNextMail(deps, company, () => {
            // look for the next one without waiting for this one
            waiting.add(company)
            startAnother()
          })
          if (!isSent) waiting.delete(company)
        })
      }
    }
  }
}
