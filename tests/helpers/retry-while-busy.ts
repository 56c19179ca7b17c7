import { setTimeout } from 'node:timers/promises'
import { AppError } from '../../src/contract/kit/errors.ts'

/**
 * Runs `work` until the server does not refuse it with `unavailable`, as it does on a busy machine.
 */
export async function retryWhileBusy<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'unavailable') throw error
      await setTimeout(500)
    }
  }
}
