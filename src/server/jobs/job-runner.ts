import { isTemporaryDatabaseError } from '../domain/database-errors.ts'
import type { CompanyId, Log } from '../domain/deps.ts'

/**
 * A background task. It runs when the process starts, then every `everyMs` milliseconds, and when
 * an event wakes it (`wake`).
 */
export interface Job {
  name: string
  everyMs: number
  /**
   * Maximum number of runs of the job at the same time, so that a long one does not delay short
   * ones; 1 by default.
   */
  parallel?: number
  /**
   * Subscribes to the event that announces new work. The event must call the given function, which
   * starts a run of the job. Returns the function that ends the subscription.
   */
  wake?: (run: () => void) => () => void
  /**
   * Does the work of one run. `stopping()` returns true when the run must end. `scheduled` is true
   * if the start or the interval caused the run, and false if `wake` did.
   */
  run(stopping: () => boolean, scheduled: boolean): Promise<void>
}

/**
 * Runs each job now, at its interval and when an event wakes it. Disposing stops the jobs and waits
 * for those that are running.
 */
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

/**
 * Logs the error that ended a run of a job, or its work for one company. A busy or unreachable
 * database is only logged as a warning, because the job soon runs again.
 */
export function logJobError(
  log: Log,
  facts: { job: string; company?: CompanyId },
  err: unknown
): void {
  if (isTemporaryDatabaseError(err))
    log.warn({ ...facts, err }, 'job postponed: the database is busy or cannot be reached')
  else log.error({ ...facts, err }, facts.company ? 'job failed for a company' : 'job failed')
}
