import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Calls `work` again and again until it succeeds, for at most so many minutes. Then throws its last
 * error.
 */
export async function retryFor<T>(minutes: number, work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + minutes * 60_000; ; await sleep(100)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > until) throw error
    }
  }
}
