import { eraseExpiredFiles } from '../domain/deposits/file-retention.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { deleteExpiredEvents } from '../domain/events/events.ts'
import { expiredRowDeletions } from '../domain/expired-rows.ts'
import { deleteExpiredResponses } from '../domain/idempotency/idempotency.ts'
import { deleteExpiredImports } from '../domain/imports/imports.ts'
import { forEachCompany, runAndLogFailure } from './each-company.ts'
import type { Job } from './job-runner.ts'

export function deleteExpiredRowsJob(deps: Deps): Job {
  const name = 'forget'
  // called again while true, because there may be more rows to delete
  const deletions: ((deps: Deps, company: CompanyId) => Promise<unknown>)[] = [
    ...expiredRowDeletions,
    deleteExpiredResponses,
    deleteExpiredEvents,
    deleteExpiredImports,
    eraseExpiredFiles
  ]
  return {
    name,
    everyMs: 10 * 60_000,
    async run(stopping) {
      await runAndLogFailure(deps.log, { job: name }, async () =>
        deps.mails.deleteOldFiles?.(deps.clock())
      )
      await forEachCompany(deps, { job: name, stopping }, async company => {
        for (const deletion of deletions) {
          await runAndLogFailure(deps.log, { job: name, company }, async () => {
            while (!stopping() && (await deletion(deps, company)) === true);
          })
        }
      })
    }
  }
}
