import type { Log } from '../domain/deps.ts'

export interface Job {
  name: string
  everyMs: number
  /** Runs at the same time, so that a long run does not delay short ones; 1 by default. */
  parallel?: number
  /** Registers what starts a run early. Returns the function that unregisters it. */
  wake?: (run: () => void) => () => void
  /** `scheduled` is true where the interval started the run. */
  run(stopping: () => boolean, scheduled: boolean): Promise<void>
}

/** Runs jobs at their intervals and when woken. Disposing waits for running jobs. */
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
      .catch((error: unknown) => log.error({ job: job.name, err: error }, 'job failed'))
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
