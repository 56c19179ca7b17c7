import {
  checkFilesAndDeleteOrphans,
  deleteFilesOfRemovedCompanies
} from '../domain/deposits/file-checks.ts'
import type { Deps } from '../domain/deps.ts'
import { forEachCompany } from './each-company.ts'
import type { Job } from './job-runner.ts'

// in a day one document in a hundred
const rehashAnHour = 0.01 / 24

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
