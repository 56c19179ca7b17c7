import { PipelinedTransaction } from '../../src/server/db/pipelined-transaction.ts'

/**
 * How many statements of this process have locked the head (the newest entry) of a log. There is
 * one count for each kind of log.
 */
export const logHeadLockCounts = { audit: 0, publish: 0, append: 0 }

type LogHeadStatement = keyof typeof logHeadLockCounts

const texts: Record<LogHeadStatement, RegExp> = {
  audit: /insert into audit_head/,
  publish: /update log_head set event_seq/,
  append: /insert into log_leaf/
}

const plainRead = /^select (?!.* for (?:no key update|update|key share|share))/

/**
 * The statements that a transaction may send after it has locked the head of a log. None of them
 * waits for rows that other transactions have locked.
 */
const allowed: Record<LogHeadStatement, RegExp[]> = {
  audit: [/^set local app\.company_id/, texts.audit, texts.publish, texts.append],
  // the answer that is kept for a repetition is in a row that the call has made itself
  publish: [/^\s*update "?idempotency\b/, plainRead, texts.publish, texts.append],
  append: [texts.append]
}

/**
 * From now on, makes a transaction fail if it sends a statement that is not allowed after it has
 * locked the head of a log.
 */
export function guardLogHeadLocks(): void {
  if (isGuarded) return
  isGuarded = true
  const latest = new WeakMap<PipelinedTransaction, LogHeadStatement>()
  const { prototype } = PipelinedTransaction
  const send = prototype.send
  prototype.send = function (statement) {
    const before = latest.get(this)
    if (before && !allowed[before].some(text => text.test(statement.text))) {
      throw new Error(`sent after the ${before}: ${statement.text}`)
    }
    for (const lock of Object.keys(texts) as LogHeadStatement[]) {
      if (!texts[lock].test(statement.text)) continue
      logHeadLockCounts[lock]++
      latest.set(this, lock)
    }
    return send.call(this, statement) as never // as: the caller's type of row is lost on the way
  }
}

let isGuarded = false
