import { AppError } from '../../../contract/kit/errors.ts'
import type { Log } from '../../domain/deps.ts'

const reportEveryMs = 60_000

/**
 * The returned function calls `report` at the first event, then at most once a minute, with the
 * number of events since the previous report and the facts of the latest.
 */
export function createLogThrottle<Fact>(
  report: (count: number, last: Fact) => void
): (fact: Fact) => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  let count = 0
  return fact => {
    const now = performance.now()
    count++
    if (now - reportedAt < reportEveryMs) return
    reportedAt = now
    report(count, fact)
    count = 0
  }
}

/**
 * Tells whether an error is a refusal for the moment. An overload refuses many calls, so the log
 * reports their number.
 */
export function createRefusalNote(log: Pick<Log, 'warn'>): (error: unknown) => boolean {
  const note = createLogThrottle((refused, reason: string) => {
    log.warn({ reason, refused }, 'calls were refused for the moment: clients may try again')
  })
  return error => {
    if (!(error instanceof AppError) || error.status < 500 || error.cause !== undefined)
      return false
    note(error.message)
    return true
  }
}
