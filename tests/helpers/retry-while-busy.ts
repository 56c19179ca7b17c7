import { setTimeout } from 'node:timers/promises'
import { AppError } from '../../src/contract/kit/errors.ts'

/**
 * Runs `work`, and repeats it as long as it fails with `unavailable`, the error of a busy server.
 * Returns the result. Throws any other error.
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
