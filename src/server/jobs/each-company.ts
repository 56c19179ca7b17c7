import { listCompanyIds } from '../domain/companies/companies.ts'
import type { CompanyId, Deps, Log, Signal } from '../domain/deps.ts'
import { type Job, logError } from './job-runner.ts'

/**
 * Runs `work` for one company after the other, until `stopping()` returns true. An error is logged
 * and does not affect the other companies.
 */
export async function forEachCompany(
  deps: Pick<Deps, 'db' | 'log'>,
  { job, stopping }: { job: string; stopping: () => boolean },
  work: (company: CompanyId) => Promise<unknown>
): Promise<void> {
  for (const company of await listCompanyIds(deps)) {
    if (stopping()) return
    await runAndLogFailure(deps.log, { job, company }, () => work(company))
  }
}

interface WaitingWork {
  name: string
  /** The most companies that the job works for at the same time. */
  parallel: number
  /** Sent with the id of a company when there is work for it. */
  signal: Signal
  /** Does one piece of work for a company. Returns false if there was none. */
  workOnNext: (company: CompanyId, stopping: () => boolean) => Promise<boolean>
}

/**
 * Returns a job that does all work for a company as soon as `signal` is sent with its id. Every few
 * seconds the job also looks at every company, for work that a crash has left.
 */
export function createCompanyJob(
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
        await runAndLogFailure(deps.log, { job: name, company }, async () => {
          while (!stopping() && (await workOnNext(company, stopping)));
        })
      }
    }
  }
}

/** Runs `work`. If it throws, logs the error together with `facts`. */
export async function runAndLogFailure(
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
