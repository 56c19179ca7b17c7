import type pg from 'pg'

/**
 * One transaction on one connection. It does not wait for the answer to one statement before it
 * sends the next.
 *
 * **What is sent when.** The pool opens its connections with the option `pipeline` of pg, so
 * `client.query` writes a statement to the socket before it returns.
 * - `send` writes one statement. Before the first one it writes `begin`, without waiting for the
 *   answer.
 * - `finish` writes `commit` or `rollback`, after the callback of the transaction has ended. If the
 *   transaction is for a single statement, `send` writes `commit` right behind that statement.
 * - `sendLast` keeps back a statement that locks a row which many transactions share. `finish`
 *   writes these statements right before the commit, in the order of `lockOrder`.
 * - Everything written in one turn of the event loop is sent in one packet.
 *
 * **Why the order holds.** PostgreSQL runs the statements of a connection in the order in which
 * they arrive, and `send` writes synchronously. `Tx.raw`, `Tx.run` and Kysely (through
 * `query-executor.ts`) call `send` before they return their promise.
 * `tests/unit/server/db/statement-order.test.ts` reads the order from the socket.
 *
 * **How failures are handled.**
 * - A failed `begin` means that the connection was dead: `begun` throws `TransactionNotBegun`, and
 *   the transaction may be started again.
 * - After a failed statement PostgreSQL refuses those behind it and turns the commit into a
 *   rollback. `causeOf` returns the first failure, and `finish` returns what PostgreSQL did.
 * - Sending a statement after the end throws: the caller did not await the statement, and the
 *   connection may already serve another company.
 */
export class PipelinedTransaction {
  readonly afterCommit: (() => void)[] = []
  /**
   * The promise of the last statement, if `finish` may send the commit before the answer to this
   * statement arrives. Otherwise undefined.
   */
  sentWithCommit: Promise<unknown> | undefined
  #last: DeferredStatements[] = []
  /**
   * The promises of the statements that were passed to `sendLast`. Each is added when its statement
   * is sent.
   */
  readonly #sentLast: Promise<unknown>[] = []
  readonly #locked = new Set<LogHeadLock>()
  readonly #client: pg.PoolClient
  readonly #begin: string
  readonly #isSingle: boolean
  #begun: Promise<pg.QueryResult> | undefined
  #firstFailure: { error: unknown } | undefined
  #hasEnded = false
  #end: Promise<pg.QueryResult> | undefined

  constructor(client: pg.PoolClient, { begin, isSingle = false }: TransactionOptions) {
    this.#client = client
    this.#begin = begin
    this.#isSingle = isSingle
  }

  /** Writes a statement to the socket immediately and returns a promise of its result. */
  async send<Row extends object>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    if (this.#hasEnded) throw new Error('this transaction has ended')
    this.#collectWrites()
    if (!this.#begun) {
      this.#begun = this.#client.query(this.#begin)
      this.#begun.catch(() => undefined) // begun() throws it
    }
    const result = this.#client.query<Row>(statement)
    result.catch((error: unknown) => {
      this.#firstFailure ??= { error }
    })
    if (this.#isSingle) {
      this.#end = this.#writeEnd('commit')
      this.#end.catch(() => undefined) // finish() throws it
    }
    return result
  }

  /**
   * Allows `finish` to write the commit without waiting for the answer to `statement`, which must
   * be the last statement of the transaction.
   */
  sendWithCommit(statement: Promise<unknown>): void {
    this.sentWithCommit = statement
    statement.catch(() => undefined) // runTransaction() throws it
  }

  /**
   * Keeps back the statements of `kept`, and sends them at the end of the transaction. Throws if
   * the transaction has already taken a lock that comes after `kept.lock` in `lockOrder`.
   */
  sendLast(kept: DeferredStatements): void {
    if (this.#hasEnded || this.#isSingle) throw new Error('this transaction has ended')
    const later = lockOrder.slice(lockOrder.indexOf(kept.lock) + 1)
    const sent = later.find(lock => this.#locked.has(lock))
    if (sent) throw new Error(`the ${kept.lock} is locked before the ${sent}`)
    this.#last.push(kept)
  }

  /**
   * Sends the statements that `sendLast` has kept back and whose locks come before `lock` in
   * `lockOrder`. The caller must send the statement that takes `lock` right afterwards.
   */
  prepareLock(lock: LogHeadLock): void {
    this.#sendKept(lockOrder.slice(0, lockOrder.indexOf(lock)))
    this.#locked.add(lock)
  }

  #sendKept(locks: readonly LogHeadLock[]): void {
    for (const lock of locks) {
      const kept = this.#last.filter(each => each.lock === lock)
      // rows are locked in a fixed order, so that two transactions cannot wait for each other
      for (const { statements } of kept.toSorted((a, b) => a.row.localeCompare(b.row))) {
        this.#sentLast.push(...statements.map(statement => this.send(statement)))
      }
    }
    this.#last = this.#last.filter(each => !locks.includes(each.lock))
    for (const sent of this.#sentLast) sent.catch(() => undefined) // lastAnswered() throws it
  }

  /**
   * Waits for the answers to the statements that were passed to `sendLast` and have been sent
   * since. If some of them fail, throws the error of the first one.
   */
  async lastAnswered(): Promise<void> {
    await Promise.all(this.#sentLast)
  }

  /**
   * Waits until PostgreSQL has begun the transaction. Throws `TransactionNotBegun` when the
   * connection was dead.
   */
  async begun(): Promise<void> {
    await this.#begun?.catch(cause => {
      throw new TransactionNotBegun('a connection of the pool was lost before it was used', {
        cause
      })
    })
  }

  /**
   * Returns the error of the first failed statement if `thrown` only says that an earlier statement
   * failed. Otherwise returns `thrown`.
   */
  causeOf(thrown: unknown): unknown {
    const isConsequence = sqlStateOf(thrown) === failedTransaction
    return isConsequence && this.#firstFailure ? this.#firstFailure.error : thrown
  }

  /** Ends the transaction and returns what PostgreSQL actually did: `COMMIT` or `ROLLBACK`. */
  async finish(how: 'commit' | 'rollback'): Promise<string> {
    if (how === 'commit') this.#sendKept(lockOrder)
    if (!this.#begun) {
      this.#hasEnded = true
      return how.toUpperCase()
    }
    this.#end ??= this.#writeEnd(how)
    return (await this.#end).command
  }

  #writeEnd(how: 'commit' | 'rollback'): Promise<pg.QueryResult> {
    this.#hasEnded = true
    this.#collectWrites()
    return this.#client.query(how)
  }

  /**
   * Collects what is written to the socket in this turn of the event loop, and sends it as one
   * packet.
   */
  #collectWrites(): void {
    const { stream } = this.#client.connection
    stream.cork()
    process.nextTick(() => stream.uncork())
  }
}

/**
 * The order in which a transaction locks two rows that almost all transactions of a company need:
 * the head of its audit log and the head of its evidence log. A head is the row with the position
 * at which the log continues. Both are locked at the end of the transaction, to keep the locks
 * short. docs/architecture.md has the order of all locks.
 */
const lockOrder = ['audit head', 'log head'] as const
/**
 * A lock on the head of a company's audit log or evidence log. The head is the row that holds the
 * position at which the log continues. A transaction takes these locks last.
 */
export type LogHeadLock = (typeof lockOrder)[number]

/**
 * Statements to run at the end of a transaction: one statement that locks a row, and the statements
 * that must run directly before and after it.
 */
export interface DeferredStatements {
  lock: LogHeadLock
  /**
   * The id of the company whose log head is locked. A transaction that locks the heads of several
   * companies locks them in the order of these ids, so that two transactions cannot deadlock.
   */
  row: string
  statements: pg.QueryConfig[]
}

interface TransactionOptions {
  begin: string
  /**
   * Whether the transaction has only one statement. The commit is then written directly after it.
   */
  isSingle?: boolean | undefined
}

/**
 * Thrown when a connection died while it was idle, so that no statement of the transaction has run.
 */
export class TransactionNotBegun extends Error {}

/**
 * PostgreSQL's code `in_failed_sql_transaction`: an earlier statement of the transaction has
 * failed.
 */
const failedTransaction = '25P02'

/**
 * Runs `run` in one transaction on a connection of the pool. Commits when it returns and rolls back
 * when it throws.
 */
export async function runTransaction<T>(
  pool: pg.Pool,
  options: TransactionOptions,
  run: (transaction: PipelinedTransaction) => Promise<T>
): Promise<T> {
  const client = await pool.connect()
  const transaction = new PipelinedTransaction(client, options)
  // the pool must not reuse a connection whose transaction may still be open
  let isReusable = false
  let result: T
  try {
    try {
      result = await run(transaction)
      await transaction.begun()
    } catch (thrown) {
      const error = transaction.causeOf(thrown)
      await transaction.begun()
      isReusable = await transaction.finish('rollback').then(
        () => true,
        () => false
      )
      await transaction.sentWithCommit // throws its own error if it failed first
      throw error
    }
    const command = await transaction.finish('commit')
    isReusable = true
    await transaction.sentWithCommit
    await transaction.lastAnswered().catch((error: unknown) => {
      throw transaction.causeOf(error)
    })
    // `run` caught the error of a failed statement and continued
    if (command !== 'COMMIT') throw new Error('a failed statement has undone this transaction')
  } finally {
    client.release(!isReusable)
  }
  for (const effect of transaction.afterCommit) effect()
  return result
}

/**
 * Returns the `code` of an error, which is the SQLSTATE if PostgreSQL reported the error. Returns
 * an empty string if the error has no code.
 */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
