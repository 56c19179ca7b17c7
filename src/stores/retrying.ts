import { AppError, type ErrorCode } from '../contract/errors.ts'
import { retryDelay } from '../core/retry-delay.ts'

/** Errors after which the same call may well succeed: nothing was decided. */
const passing: ReadonlySet<ErrorCode> = new Set([
  'offline',
  'unexpected_answer',
  'internal',
  'unavailable',
  'rate_limited',
  'upload_offset',
  'upload_busy',
  'idempotency_in_flight'
])

export function isPassing(error: AppError): boolean {
  return passing.has(error.code)
}

export interface Retrying {
  /** Tries until it succeeds, fails for good or has used up its tries; `progress` starts the count anew. */
  run: <Result>(step: Step<Result>, options: RetryOptions) => Promise<Result>
  /** Ends all pauses: the network is back. */
  hurry: () => void
}

type Step<Result> = (progress: () => void) => Promise<Result>

interface RetryOptions {
  signal: AbortSignal
  onPause?: () => void
}

export function createRetrying(given: {
  after: (ms: number, run: () => void) => () => void
  random: () => number
}): Retrying {
  const pauses = new Set<() => void>()

  function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        callOff()
        pauses.delete(end)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const callOff = given.after(ms, end)
      pauses.add(end)
      signal.addEventListener('abort', end, { once: true })
    })
  }

  return {
    async run(step, { signal, onPause }) {
      let failures = 0
      for (;;) {
        try {
          return await step(() => {
            failures = 0
          })
        } catch (error) {
          if (signal.aborted || !(error instanceof AppError) || !isPassing(error)) throw error
          failures += 1
          const delay = retryDelay(failures, given.random())
          if (delay === undefined) throw error
          onPause?.()
          await pause(Math.max(delay, (error.retryAfter ?? 0) * 1000), signal)
          if (signal.aborted) throw error
        }
      }
    },
    hurry() {
      for (const end of [...pauses]) end()
    }
  }
}
