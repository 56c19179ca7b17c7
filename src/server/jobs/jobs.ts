import { announceEndingKeys } from '../domain/accounts/api-keys.ts'
import { sendWaitingInvitations } from '../domain/accounts/invitations.ts'
import { userImportRowHandlers } from '../domain/accounts/user-import-row-handlers.ts'
import { fillDemo, findDemo } from '../domain/demo/demo.ts'
import {
  checkFilesAndDeleteOrphans,
  deleteFilesOfRemovedCompanies
} from '../domain/deposits/file-checks.ts'
import { eraseExpiredFiles } from '../domain/deposits/file-retention.ts'
import {
  endNextIdleUpload,
  releaseIdleUploadReservations
} from '../domain/deposits/idle-uploads.ts'
import { createDepositFromNextUpload } from '../domain/deposits/upload-settlement.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { deleteExpiredEvents } from '../domain/events/events.ts'
import { deleteOldCheckpoints } from '../domain/evidence/seals.ts'
import { expiredRowDeletions } from '../domain/expired-rows.ts'
import { recheckDueDomains } from '../domain/host-proofs/domain-checks.ts'
import { deleteExpiredResponses } from '../domain/idempotency/idempotency.ts'
import { workOnNextImport } from '../domain/imports/import-work.ts'
import { deleteExpiredImports } from '../domain/imports/imports.ts'
import { deleteExpiredRateCounts } from '../domain/limits/rate-counters.ts'
import { sendNextMail } from '../domain/mail/mail-queue.ts'
import { eraseRowsOfDeletedSources } from '../domain/registers/data-sources.ts'
import { fetchNextFile } from '../domain/registers/register-fetches.ts'
import { deleteOldImports } from '../domain/registers/register-imports.ts'
import { endOldVersions } from '../domain/registers/register-versions.ts'
import { workOnRegisters } from '../domain/registers/register-work.ts'
import { createSignaledJob, forEachCompany, runAndLogFailure } from './each-company.ts'
import type { Job } from './job-runner.ts'
import { monitorLogsJob, publishLogsJob } from './log-jobs.ts'

// in a day one document in a hundred
const rehashAnHour = 0.01 / 24

/** The jobs that run from the start. `fillDemoJob` waits until the service listens. */
export function serviceJobs(deps: Deps): Job[] {
  return [
    createDepositsFromUploadsJob(deps),
    endIdleUploadsJob(deps),
    sendMailsJob(deps),
    runImportsJob(deps),
    fetchRegistersJob(deps),
    workOnRegistersJob(deps),
    publishLogsJob(deps),
    monitorLogsJob(deps),
    deleteExpiredRowsJob(deps),
    announceEndingKeysJob(deps),
    checkDomainsJob(deps),
    checkFilesJob(deps),
    reloadTokenKeysJob(deps)
  ]
}

export function createDepositsFromUploadsJob(deps: Deps): Job {
  return createSignaledJob(deps, {
    name: 'settle-uploads',
    parallel: 4,
    signal: deps.signals.uploads,
    workOnNext: company => createDepositFromNextUpload(deps, company)
  })
}

/**
 * Ends an upload of `PUT /deposit` after 10 minutes, any other after a day. The quota that is
 * reserved for missing bytes is released after 10 minutes.
 */
export function endIdleUploadsJob(deps: Deps): Job {
  const name = 'lapse-uploads'
  return {
    name,
    everyMs: 60_000,
    async run(stopping) {
      const demo = await findDemo(deps)
      await forEachCompany(deps, { job: name, stopping }, async company => {
        // the demonstration's uploads carry old dates and would lapse before their bytes are
        // written
        if (demo?.state === 'seeding' && demo.company_id === company) return
        await releaseIdleUploadReservations(deps, company)
        while (!stopping() && (await endNextIdleUpload(deps, company)));
      })
    }
  }
}

/** All four may be of one company if no other company has mails. */
export function sendMailsJob(deps: Deps): Job {
  return createSignaledJob(deps, {
    name: 'send-mails',
    parallel: 4,
    signal: deps.signals.mails,
    workOnNext: (company, { onFound }) => sendNextMail(deps, company, onFound)
  })
}

/** Two companies at a time, so that a small import need not wait for a large one. */
export function runImportsJob(deps: Deps): Job {
  return createSignaledJob(deps, {
    name: 'run-imports',
    parallel: 2,
    signal: deps.signals.imports,
    workOnNext: (company, { stopping }) =>
      workOnNextImport(deps, company, userImportRowHandlers, stopping)
  })
}

/** Most of the time, each waits for another server. */
export function fetchRegistersJob(deps: Deps): Job {
  return createSignaledJob(deps, {
    name: 'fetch-registers',
    parallel: 16,
    signal: deps.signals.registers,
    workOnNext: (company, context) => fetchNextFile(deps, company, context)
  })
}

/** One at a time, because each reads in a thread of its own. */
export function workOnRegistersJob(deps: Deps): Job {
  return createSignaledJob(deps, {
    name: 'work-on-registers',
    parallel: 1,
    signal: deps.signals.registers,
    workOnNext: (company, { stopping }) => workOnRegisters(deps, company, stopping)
  })
}

export function deleteExpiredRowsJob(deps: Deps): Job {
  const name = 'forget'
  // called again while true, because there may be more rows to delete
  const deletions: ((deps: Deps, company: CompanyId) => Promise<unknown>)[] = [
    ...expiredRowDeletions,
    deleteExpiredResponses,
    deleteExpiredEvents,
    deleteOldCheckpoints,
    deleteExpiredImports,
    endOldVersions,
    deleteOldImports,
    eraseRowsOfDeletedSources,
    eraseExpiredFiles
  ]
  return {
    name,
    everyMs: 10 * 60_000,
    async run(stopping) {
      await runAndLogFailure(deps.log, { job: name }, async () =>
        deps.mails.deleteOldFiles?.(deps.clock())
      )
      await runAndLogFailure(deps.log, { job: name }, async () => {
        while (!stopping() && (await deleteExpiredRateCounts(deps)));
      })
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

function announceEndingKeysJob(deps: Deps): Job {
  const name = 'announce-ending-keys'
  return {
    name,
    everyMs: 60 * 60_000,
    run: stopping =>
      forEachCompany(deps, { job: name, stopping }, company => announceEndingKeys(deps, company))
  }
}

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

export function checkFilesJob(deps: Deps): Job {
  const name = 'check-files'
  return {
    name,
    everyMs: 3_600_000,
    async run(stopping) {
      await deleteFilesOfRemovedCompanies(deps)
      await forEachCompany(deps, { job: name, stopping }, async company => {
        const { missing, damaged, ...counts } = await checkFilesAndDeleteOrphans(
          deps,
          company,
          rehashAnHour
        )
        deps.log.info({ company, ...counts }, 'files checked')
        if (missing.length + damaged.length > 0) {
          deps.log.error(
            { company, missing, damaged },
            'files of documents are missing or damaged: restore documents/blobs/<company>/<first two digits>/<name> from a backup'
          )
        }
      })
    }
  }
}

// a new key does not sign before it is ten minutes old, so each process knows it by then
function reloadTokenKeysJob(deps: Deps): Job {
  return { name: 'reload-keys', everyMs: 60_000, run: () => deps.keys.reload() }
}

export function fillDemoJob(deps: Deps): Job {
  let isComplete = false
  return {
    name: 'fill-demo',
    everyMs: 5000,
    async run(stopping) {
      if (!isComplete) isComplete = await fillDemo(deps, stopping)
    }
  }
}
