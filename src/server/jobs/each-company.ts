import { listCompanyIds } from '../domain/companies/companies.ts'
import type { CompanyId, Deps, Log, ServiceSignal } from '../domain/deps.ts'
import { type Job, logJobError } from './job-runner.ts'

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
  /**
   * Maximum number of pieces of work that are done at the same time, for all companies together.
   */
  parallel: number
  /** Sent with the id of a company when there is work for it. */
  signal: ServiceSignal
  /**
   * Does one piece of work for a company. Returns false if there was no work or if the work failed.
   * May call `onFound` as soon as it has found a piece of work. Another run of the job may then
   * begin the company's next piece at the same time.
   */
  workOnNext: (
    company: CompanyId,
    context: { stopping: () => boolean; onFound: () => void }
  ) => Promise<boolean>
}

/**
 * Returns a job that works for a company as soon as `signal` is sent with its id, until the company
 * has no more work. Companies take turns, one piece of work each. Every few seconds the job also
 * looks at every company, for work that a crash has left undone.
 */
export function createSignaledJob(
  deps: Pick<Deps, 'db' | 'log'>,
  { name, parallel, signal, workOnNext }: WaitingWork
): Job {
  const waiting = new Set<CompanyId>()
  let startAnother = () => {}
  return {
    name,
    everyMs: 5000,
    parallel,
    wake: run => {
      startAnother = run
      return signal.on(company => {
        waiting.add(company)
        run()
      })
    },
    async run(stopping, scheduled) {
      if (scheduled) for (const company of await listCompanyIds(deps)) waiting.add(company)
      for (const company of waiting) {
        waiting.delete(company)
        if (stopping()) return
        let isStarted = false
        const onFound = () => {
          isStarted = true
          waiting.add(company)
          startAnother()
        }
        await runAndLogFailure(deps.log, { job: name, company }, async () => {
          if (await workOnNext(company, { stopping, onFound })) waiting.add(company)
          else if (isStarted) waiting.delete(company)
        })
      }
    }
  }
}

/** Runs `work`. If it throws, logs the error together with `facts`. */
export async function runAndLogFailure(
  log: Log,
  facts: { job: string; company?: CompanyId },
  work: () => Promise<unknown>
): Promise<void> {
  try {
    await work()
  } catch (error) {
    logJobError(log, facts, error)
  }
}
