import { AppError } from '../../contract/errors.ts'

/** Runs a few tasks of one key at a time. Throws `unavailable` where too many wait already. */
export type ConcurrencyLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Limits the tasks of each key, so that one key cannot delay the others. */
export function limitConcurrency({
  atOnce,
  waiting
}: {
  atOnce: number
  waiting: number
}): ConcurrencyLimit {
  const queues = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    const queue = queues.get(key) ?? { running: 0, waiting: [] }
    queues.set(key, queue)
    if (queue.running < atOnce) queue.running++
    else if (queue.waiting.length < waiting) {
      // a task that ends passes its place on
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
