import { AppError, type ErrorCode } from '../contract/kit/errors.ts'
import { retryDelayMs } from '../core/retry-delay.ts'

// the server may have processed the failed call, so it is repeated with its idempotency key
const transient: ReadonlySet<ErrorCode> = new Set([
  'offline',
  'unexpected_answer',
  'internal',
  'unavailable',
  'rate_limited',
  'upload_offset',
  'upload_busy',
  'idempotency_in_flight'
])

export function isTransient(error: AppError): boolean {
  return transient.has(error.code)
}

export type CallRetrier = ReturnType<typeof createCallRetrier>

interface RetryOptions {
  signal?: AbortSignal
  onPause?: () => void
}

export function createCallRetrier({
  after,
  random
}: {
  after: (ms: number, run: () => void) => () => void
  random: () => number
}) {
  const pauses = new Set<() => void>()

  function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        cancelTimer()
        pauses.delete(end)
        resolve()
      }
      const cancelTimer = after(ms, end)
      pauses.add(end)
      signal?.addEventListener('abort', end, { once: true })
    })
  }

  return {
    /**
     * Repeats `step` after transient errors, until too many runs in a row have failed. `step` calls
     * `onProgress` to reset their number.
     */
    async run<Result>(
      step: (onProgress: () => void) => Promise<Result>,
      { signal, onPause }: RetryOptions = {}
    ): Promise<Result> {
      let failures = 0
      for (;;) {
        try {
          return await step(() => {
            failures = 0
          })
        } catch (error) {
          if (signal?.aborted || !(error instanceof AppError) || !isTransient(error)) throw error
          failures += 1
          const delay = retryDelayMs(failures, random())
          if (delay === undefined) throw error
          onPause?.()
          await pause(Math.max(delay, (error.retryAfter ?? 0) * 1000), signal)
          if (signal?.aborted) throw error
        }
      }
    },

    /** Called when the network is back. */
    endPauses(): void {
      for (const end of pauses) end()
    }
  }
}
