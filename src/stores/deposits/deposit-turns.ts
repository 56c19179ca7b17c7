const places = {
  prepare: 2,
  // the fingerprints of small files are computed in groups
  prepareSmall: 32,
  send: 2,
  // two calls of at most fifty files run at the same time
  sendInBatch: 100
}
type Step = keyof typeof places

export type Turn = ReturnType<ReturnType<typeof createDepositTurns>['createTurn']>

export function createDepositTurns() {
  const waiting = new Map<() => void, Step>()
  const taken: typeof places = { prepare: 0, prepareSmall: 0, send: 0, sendInBatch: 0 }
  const files = new Map<string, Promise<void>>()
  let isSuspended = false

  function isFree(step: Step): boolean {
    return !isSuspended && taken[step] < places[step]
  }

  function startNext(): void {
    for (const [start, step] of waiting) {
      if (!isFree(step)) continue
      waiting.delete(start)
      taken[step] += 1
      start()
    }
  }

  function wait(step: Step, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      waiting.set(resolve, step)
      const leave = () => waiting.delete(resolve) && reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  return {
    /** It has at most one place at a time. */
    createTurn() {
      let held: Step | undefined
      return {
        async take<Result>(step: Step, signal: AbortSignal, run: () => Promise<Result>) {
          if (isFree(step)) taken[step] += 1
          else await wait(step, signal)
          held = step
          signal.throwIfAborted()
          return run()
        },
        giveBack(): void {
          if (!held) return
          taken[held] -= 1
          held = undefined
          startNext()
        }
      }
    },

    /** Returns the function that lets the next deposit of the same file go. */
    async takeFile(original: string): Promise<() => void> {
      while (files.has(original)) await files.get(original)
      const { promise, resolve } = Promise.withResolvers<void>()
      files.set(original, promise)
      return () => {
        if (files.get(original) === promise) files.delete(original)
        resolve()
      }
    },

    isSuspended: () => isSuspended,
    setSuspended(is: boolean): void {
      isSuspended = is
      startNext()
    }
  }
}
