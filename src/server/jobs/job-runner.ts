import { isTemporaryDatabaseError } from '../domain/database-errors.ts'
import type { CompanyId, Log } from '../domain/deps.ts'

/** Runs when the process starts, then every `everyMs` milliseconds, and when `wake` does. */
export interface Job {
  name: string
  everyMs: number
  /** So that a long run does not delay short ones; 1 by default. */
  parallel?: number
  /** Subscribes `run` to the event that announces new work. Returns the end of the subscription. */
  wake?: (run: () => void) => () => void
  /** `stopping()` is true when the run must end. `scheduled` is false if `wake` caused the run. */
  run(stopping: () => boolean, scheduled: boolean): Promise<void>
}

/** Disposing stops the jobs and waits for those that are running. */
export function runJobs(jobs: Job[], log: Log): AsyncDisposable {
  const ends = jobs.map(job => runJob(job, log))
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.map(end => end()))
    }
  }
}

function runJob(job: Job, log: Log): () => Promise<void> {
  const runs = new Set<Promise<void>>()
  let stopped = false
  let missed = false
  const start = (scheduled: boolean) => {
    if (stopped) return
    if (runs.size >= (job.parallel ?? 1)) {
      missed = true
      return
    }
    const run = job
      .run(() => stopped, scheduled)
      .catch((error: unknown) => logJobError(log, { job: job.name }, error))
      .finally(() => {
        runs.delete(run)
        if (!missed) return
        missed = false
        start(false)
      })
    runs.add(run)
  }
  const timer = setInterval(() => start(true), job.everyMs)
  const unwake = job.wake?.(() => start(false))
  start(true)
  return async () => {
    stopped = true
    clearInterval(timer)
    unwake?.()
    await Promise.all(runs)
  }
}

/** A busy or unreachable database is a warning, because the job soon runs again. */
export function logJobError(
  log: Log,
  facts: { job: string; company?: CompanyId },
  err: unknown
): void {
  if (isTemporaryDatabaseError(err))
    log.warn({ ...facts, err }, 'job postponed: the database is busy or cannot be reached')
  else log.error({ ...facts, err }, facts.company ? 'job failed for a company' : 'job failed')
}
