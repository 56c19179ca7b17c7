import { listCompanies } from '../domain/companies/companies.ts'
import type { CompanyId, Deps, Log } from '../domain/deps.ts'

/**
 * Runs `work` for one company after the other until `stopping()` returns true. Logs an error and
 * continues with the next company.
 */
export async function eachCompany(
  deps: Pick<Deps, 'db' | 'log'>,
  { job, stopping }: { job: string; stopping: () => boolean },
  work: (company: CompanyId) => Promise<unknown>
): Promise<void> {
  for (const company of await listCompanies(deps)) {
    if (stopping()) return
    await logFailure(deps.log, { job, company }, () => work(company))
  }
}

/** Runs `work`. Logs its error together with `facts` instead of throwing it. */
export async function logFailure(
  log: Log,
  facts: { job: string; company: CompanyId },
  work: () => Promise<unknown>
): Promise<void> {
  try {
    await work()
  } catch (error) {
    log.error({ ...facts, err: error }, 'job failed for a company')
  }
}
