import { AppError } from '../../contract/kit/errors.ts'

/**
 * Runs `work` and returns its result. While the maximum number of tasks with the same `key` is
 * running, `work` waits for its turn. Throws `unavailable` if too many tasks with this key are
 * already waiting.
 */
export type ConcurrencyLimiter = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Returns a function that runs at most `atOnce` tasks with the same key at the same time. Up to
 * `waiting` more tasks with this key wait for their turn. Any further task fails with
 * `unavailable`.
 */
export function limitConcurrency({
  atOnce,
  waiting
}: {
  atOnce: number
  waiting: number
}): ConcurrencyLimiter {
  const queues = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < atOnce) queue.running++
    else if (queue.waiting.length < waiting) {
      // a task that ends wakes the next one
      await new Promise<void>(resolve => queue.waiting.push(resolve))
    } else throw new AppError('unavailable', 'Too much of this is under way', { retryAfter: 2 })
    try {
      return await work()
    } finally {
      const next = queue.waiting.shift()
      if (next) next()
      else if (--queue.running === 0) queues.delete(key)
    }
  }
}
