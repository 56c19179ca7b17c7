import { AppError } from '../../contract/errors.ts'

/** Runs work of one key a few at a time; throws `unavailable` where too much of it waits already. */
export type ConcurrencyLimit = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Keeps what one key asks for from taking the place of all others. */
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
      // whoever ends hands its place over
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
