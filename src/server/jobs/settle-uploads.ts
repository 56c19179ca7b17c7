import { findDemo } from '../domain/demo.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import { listCompanies } from '../domain/installation.ts'
import { lapseNextUpload, settleNextUpload } from '../domain/uploads.ts'
import type { Job } from './run.ts'

/** Makes deposits of complete uploads: woken by each one, and every few seconds for what a crash left. */
export function settleUploads(deps: Deps): Job {
  const waiting = new Set<CompanyId>()
  return {
    name: 'settle-uploads',
    everyMs: 5000,
    parallel: 4,
    wake: run =>
      deps.wakes.uploads.on(company => {
        waiting.add(company)
        run()
      }),
    async run(stopping, scheduled) {
      if (scheduled) for (const company of await listCompanies(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        while (!stopping() && (await settleNextUpload(deps, company)));
      }
    }
  }
}

/** Gives back what uploads hold that nobody continues. */
export function lapseStaleUploads(deps: Deps): Job {
  return {
    name: 'lapse-uploads',
    everyMs: 10 * 60_000,
    async run(stopping) {
      const demo = await findDemo(deps)
      for (const company of await listCompanies(deps)) {
        // what is being made there is dated back, and would lapse before it has its bytes
        if (demo?.state === 'seeding' && demo.company_id === company) continue
        while (!stopping() && (await lapseNextUpload(deps, company)));
      }
    }
  }
}
