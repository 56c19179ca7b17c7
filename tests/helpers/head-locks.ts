import pg from 'pg'

/**
 * How many statements of this process have locked the head (the newest entry) of a log. There is
 * one count for each kind of log.
 */
export const logHeadLockCounts = { audit: 0, log: 0 }

type LogHeadStatement = keyof typeof logHeadLockCounts

const texts: Record<LogHeadStatement, RegExp> = {
  audit: /insert into audit_head/,
  log: /update log_head set/
}

const plainRead =
  /^select (?![\s\S]*(?:\bfor (?:no key update|update|key share|share)\b|erase_audit_values))/

/**
 * The statements that a transaction may send after it has locked the head of a log. None of them
 * waits for rows that other transactions have locked.
 */
const allowed: Record<LogHeadStatement, RegExp[]> = {
  audit: [/^select set_config\('app\.company_id'/, texts.audit, texts.log],
  // the answer that is kept for a repetition is in a row that the call has made itself, and a migration
  // is noted in a row of its own
  log: [/^\s*update "?idempotency\b/, /^insert into public\.schema_migration/, plainRead]
}

/**
 * From now on, makes a transaction fail if it sends a statement that is not allowed after it has
 * locked the head of a log.
 */
export function guardLogHeadLocks(): void {
  if (isGuarded) return
  isGuarded = true
  const latest = new WeakMap<pg.Client, LogHeadStatement | undefined>()
  const { prototype } = pg.Client
  const query = prototype.query as (this: pg.Client, ...all: unknown[]) => unknown // as: one of many
  prototype.query = function (this: pg.Client, ...all: unknown[]) {
    const [statement] = all
    const text = typeof statement === 'string' ? statement : String(Object(statement).text)
    if (text.startsWith('begin')) latest.set(this, undefined)
    if (text === 'commit' || text === 'rollback') latest.delete(this)
    const before = latest.get(this)
    if (before && !allowed[before].some(each => each.test(text))) {
      throw new Error(`sent after the ${before}: ${text}`)
    }
    for (const lock of Object.keys(texts) as LogHeadStatement[]) {
      // what tests write themselves runs in no transaction
      if (!latest.has(this) || !texts[lock].test(text)) continue
      logHeadLockCounts[lock]++
      latest.set(this, lock)
    }
    return query.apply(this, all)
  } as typeof prototype.query // as: one of many
}

let isGuarded = false
