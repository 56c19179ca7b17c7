import { listCompanies } from '../domain/companies/companies.ts'
import { findDemo } from '../domain/demo/demo.ts'
import { lapseNextUpload, releaseIdleUploads } from '../domain/deposits/idle-uploads.ts'
import { settleNextUpload } from '../domain/deposits/upload-settlement.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { eachCompany, logFailure } from './each-company.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that turns complete uploads into deposits. Each complete upload wakes it. It also
 * runs every few seconds, for uploads left by a crash.
 */
export function settleUploads(deps: Deps): Job {
  const waiting = new Set<CompanyId>()
  const name = 'settle-uploads'
  return {
    name,
    everyMs: 5000,
    parallel: 4,
    wake: run =>
      deps.signals.uploads.on(company => {
        waiting.add(company)
        run()
      }),
    async run(stopping, scheduled) {
      if (scheduled) for (const company of await listCompanies(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        await logFailure(deps.log, { job: name, company }, async () => {
          while (!stopping() && (await settleNextUpload(deps, company)));
        })
      }
    }
  }
}

/**
 * Returns the job that releases the reserved quota of uploads that nobody continues. After 10
 * minutes it releases the bytes that are still missing. After a day it ends the whole upload.
 */
export function lapseStaleUploads(deps: Deps): Job {
  const name = 'lapse-uploads'
  return {
    name,
    everyMs: 60_000,
    async run(stopping) {
      const demo = await findDemo(deps)
      await eachCompany(deps, { job: name, stopping }, async company => {
        // the demonstration's uploads carry old dates and would lapse before their bytes are
        // written
        if (demo?.state === 'seeding' && demo.company_id === company) return
        await releaseIdleUploads(deps, company)
        while (!stopping() && (await lapseNextUpload(deps, company)));
      })
    }
  }
}
