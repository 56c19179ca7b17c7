import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Calls `work` again and again until it succeeds, for at most a minute. Then throws its last error.
 */
export async function retryForAMinute<T>(work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + 60_000; ; await sleep(100)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > until) throw error
    }
  }
}
