import { AppError } from '../../contract/errors.ts'

/** Runs work of one key a few at a time; throws `unavailable` where too much of it waits already. */
export type Lines = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Keeps what one key asks for from taking the place of all others. */
export function createLines({ atOnce, waiting }: { atOnce: number; waiting: number }): Lines {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    const line = lines.get(key) ?? { running: 0, waiting: [] }
    lines.set(key, line)
    if (line.running < atOnce) line.running++
    else if (line.waiting.length < waiting) {
      // whoever ends hands its place over
      await new Promise<void>(resolve => line.waiting.push(resolve))
    } else throw new AppError('unavailable', 'Too much of this is under way', { retryAfter: 2 })
    try {
      return await work()
    } finally {
      const next = line.waiting.shift()
      if (next) next()
      else if (--line.running === 0) lines.delete(key)
    }
  }
}
