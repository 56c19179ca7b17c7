import { listCompanyIds } from '../domain/companies/companies.ts'
import type { CompanyId, Deps, Log, Signal } from '../domain/deps.ts'
import { type Job, logError } from './job-runner.ts'

/**
 * Runs `work` for one company after the other until `stopping()` returns true. Logs an error and
 * continues with the next company.
 */
export async function eachCompany(
  deps: Pick<Deps, 'db' | 'log'>,
  { job, stopping }: { job: string; stopping: () => boolean },
  work: (company: CompanyId) => Promise<unknown>
): Promise<void> {
  for (const company of await listCompanyIds(deps)) {
    if (stopping()) return
    await logFailure(deps.log, { job, company }, () => work(company))
  }
}

interface WaitingWork {
  name: string
  /** How many companies are worked for at the same time. */
  parallel: number
  /** Tells the company for which there is work. */
  signal: Signal
  /** Does one piece of work for a company. Returns false if there was none. */
  workOnNext: (company: CompanyId, stopping: () => boolean) => Promise<boolean>
}

/**
 * Returns a job that does all the work of the companies for which a signal has come. It also looks
 * at every company every few seconds, for work left by a crash.
 */
export function signalledJob(
  deps: Pick<Deps, 'db' | 'log'>,
  { name, parallel, signal, workOnNext }: WaitingWork
): Job {
  const waiting = new Set<CompanyId>()
  return {
    name,
    everyMs: 5000,
    parallel,
    wake: run =>
      signal.on(company => {
        waiting.add(company)
        run()
      }),
    async run(stopping, scheduled) {
      if (scheduled) for (const company of await listCompanyIds(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        await logFailure(deps.log, { job: name, company }, async () => {
          while (!stopping() && (await workOnNext(company, stopping)));
        })
      }
    }
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
    logError(log, facts, error)
  }
}
