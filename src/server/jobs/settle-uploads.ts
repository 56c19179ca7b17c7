import { findDemo } from '../domain/demo/demo.ts'
import {
  endNextIdleUpload,
  releaseIdleUploadReservations
} from '../domain/deposits/idle-uploads.ts'
import { createDepositFromNextUpload } from '../domain/deposits/upload-settlement.ts'
import type { Deps } from '../domain/deps.ts'
import { createSignaledJob, forEachCompany } from './each-company.ts'
import type { Job } from './job-runner.ts'

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
