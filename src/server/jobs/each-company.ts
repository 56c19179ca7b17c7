import { listCompanyIds } from '../domain/companies/companies.ts'
import type { CompanyId, Deps, Log, ServiceSignal } from '../domain/deps.ts'
import { type Job, logJobError } from './job-runner.ts'

/** An error is logged and does not affect the other companies. */
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
  /** For all companies together. */
  parallel: number
  signal: ServiceSignal
  /**
   * False if there was no work or it failed. `onFound` lets another run begin the company's next
   * piece of work meanwhile.
   */
  workOnNext: (
    company: CompanyId,
    context: { stopping: () => boolean; onFound: () => void }
  ) => Promise<boolean>
}

/**
 * Companies take turns, one piece of work each. Every few seconds the job looks at every company,
 * for work that a crash has left undone.
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
