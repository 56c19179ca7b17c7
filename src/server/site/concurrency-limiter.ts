import { AppError } from '../../contract/kit/errors.ts'

/**
 * Runs `work` as soon as fewer tasks with the same `key` are running than allowed, and returns its
 * result. Throws `unavailable` when too many tasks with this key are already waiting.
 */
export type ConcurrencyLimiter = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Returns a function that runs at most `atOnce` tasks of a key at the same time, while at most
 * `waiting` further tasks of the key wait.
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
