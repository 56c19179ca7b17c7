import type { CompanyId, Deps } from '../domain/deps.ts'
import { listCompanies } from '../domain/installation.ts'
import { sendNextMail } from '../domain/mails.ts'
import { logFailure } from './each-company.ts'
import type { Job } from './run.ts'

/** Sends what waits: woken by each mail, and every few seconds for what a crash or a dead server left. */
export function sendMails(deps: Deps): Job {
  const waiting = new Set<CompanyId>()
  const name = 'send-mails'
  return {
    name,
    everyMs: 5000,
    wake: run =>
      deps.wakes.mails.on(company => {
        waiting.add(company)
        run()
      }),
    async run(stopping, scheduled) {
      if (scheduled) for (const company of await listCompanies(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        await logFailure(deps.log, { job: name, company }, async () => {
          while (!stopping() && (await sendNextMail(deps, company)));
        })
      }
    }
  }
}
