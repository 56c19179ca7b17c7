import { fillDemo } from '../domain/demo/demo.ts'
import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/**
 * Returns the job that creates the documents of the demonstration after the first start, so that
 * the start does not wait for them.
 */
export function fillDemoJob(deps: Deps): Job {
  let isComplete = false
  return {
    name: 'fill-demo',
    everyMs: 5000,
    async run(stopping) {
      if (!isComplete) isComplete = await fillDemo(deps, stopping)
    }
  }
}
