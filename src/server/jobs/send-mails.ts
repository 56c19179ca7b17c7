import type { Deps } from '../domain/deps.ts'
import { sendNextMail } from '../domain/mail/mail-queue.ts'
import { createSignaledJob } from './each-company.ts'
import type { Job } from './job-runner.ts'

/** All four may be of one company if no other company has mails. */
export function sendMailsJob(deps: Deps): Job {
  return createSignaledJob(deps, {
    name: 'send-mails',
    parallel: 4,
    signal: deps.signals.mails,
    workOnNext: (company, { onFound }) => sendNextMail(deps, company, onFound)
  })
}
