import type { CompanyActivityTracker } from '../../core/active-companies.ts'

/**
 * Maximum number of HTTP requests of a company that begin in one turn of the event loop if no other
 * company is active.
 */
const beginsAlone = 16
/**
 * Maximum number of HTTP requests of a company that begin in one turn of the event loop if other
 * companies are active.
 */
const beginsWhenContended = 1

export interface RequestScheduler {
  /**
   * Returns a promise that resolves when an HTTP request of `company` may begin. Returns undefined
   * if the request may begin immediately.
   */
  wait(company: string): Promise<void> | undefined
}

/**
 * Decides when HTTP requests begin, so that each company gets a share of every turn of the event
 * loop. If one company sends a thousand requests at the same time, a request of another company
 * waits only for a few of them. Records the company of each request in `activityTracker`.
 */
export function createRequestScheduler(activityTracker: CompanyActivityTracker): RequestScheduler {
  const begun = new Map<string, number>()
  const waiting = new Map<string, (() => void)[]>()
  let isScheduled = false

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(nextTurn)
  }

  function nextTurn(): void {
    isScheduled = false
    begun.clear()
    for (const [company, line] of waiting) {
      for (const begin of line.splice(0, limitOf(company))) {
        count(company)
        begin()
      }
      if (line.length === 0) waiting.delete(company)
    }
    if (waiting.size > 0) schedule()
  }

  function limitOf(company: string): number {
    return activityTracker.hasOthers(company) ? beginsWhenContended : beginsAlone
  }

  function count(company: string): void {
    begun.set(company, (begun.get(company) ?? 0) + 1)
    schedule()
  }

  return {
    wait(company) {
      activityTracker.note(company)
      const line = waiting.get(company)
      if (!line && (begun.get(company) ?? 0) < limitOf(company)) {
        count(company)
        return undefined
      }
      return new Promise(resolve => {
        if (line) line.push(resolve)
        else waiting.set(company, [resolve])
        schedule()
      })
    }
  }
}
