import { fillDemo } from '../domain/demo/demo.ts'
import type { Deps } from '../domain/deps.ts'
import type { Job } from './job-runner.ts'

/** After the start, which does not wait for the documents. */
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
