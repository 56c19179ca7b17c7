import { PipelinedTransaction } from '../../src/server/db/pipelined-transaction.ts'

/** How often each statement that locks a head was sent in this process. */
export const headLocks = { audit: 0, publish: 0, append: 0 }

type HeadLock = keyof typeof headLocks

const texts: Record<HeadLock, RegExp> = {
  audit: /insert into audit_head/,
  publish: /update log_head set event_seq/,
  append: /insert into log_leaf/
}

const plainRead = /^select (?!.* for (?:no key update|update|key share|share))/

/** What may still be sent once a head is locked: nothing that waits for a row of somebody else. */
const allowed: Record<HeadLock, RegExp[]> = {
  audit: [/^set local app\.company_id/, texts.audit, texts.publish, texts.append],
  // the answer that is kept for a repetition is in a row that the call has made itself
  publish: [/^\s*update "?idempotency\b/, plainRead, texts.publish, texts.append],
  append: [texts.append]
}

/**
 * Makes every transaction of the process fail that sends another statement once it has locked a
 * head. It stands at the only place through which statements are sent.
 */
export function guardHeads(): void {
  if (isGuarded) return
  isGuarded = true
  const latest = new WeakMap<PipelinedTransaction, HeadLock>()
  const { prototype } = PipelinedTransaction
  const send = prototype.send
  prototype.send = function (statement) {
    const before = latest.get(this)
    if (before && !allowed[before].some(text => text.test(statement.text))) {
      throw new Error(`sent after the ${before}: ${statement.text}`)
    }
    for (const lock of Object.keys(texts) as HeadLock[]) {
      if (!texts[lock].test(statement.text)) continue
      headLocks[lock]++
      latest.set(this, lock)
    }
    return send.call(this, statement) as never // as: the caller's type of row is lost on the way
  }
}

let isGuarded = false
