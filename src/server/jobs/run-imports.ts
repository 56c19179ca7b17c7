import { userImportRowHandlers } from '../domain/accounts/user-import-row-handlers.ts'
import type { Deps } from '../domain/deps.ts'
import { workOnNextImport } from '../domain/imports/import-work.ts'
import { createSignaledJob } from './each-company.ts'
import type { Job } from './job-runner.ts'

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
