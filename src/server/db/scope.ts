import { setTimeout as sleep } from 'node:timers/promises'
import { Transaction } from 'kysely'
import {
  type ConnectionConsumer,
  type ConnectionRequestOptions,
  type ConnectionSlot,
  consumerForNoCompany
} from './connection-allocator.ts'
import { connectionAllocatorOf, type Db, poolOf } from './open.ts'
import {
  type LogHeadLock,
  type PipelinedTransaction,
  runTransaction,
  sqlStateOf,
  TransactionNotBegun
} from './pipelined-transaction.ts'
import type { PreparedStatement } from './prepared-statements.ts'
import { kyselyTransactionProps } from './query-executor.ts'
import type { Database } from './schema.ts'

export type { ConnectionRequestOptions, WaitingClient } from './connection-allocator.ts'

declare const brand: unique symbol
/** The id of a company. The type checker does not accept other strings in its place. */
export type CompanyId = string & { readonly [brand]: 'CompanyId' }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Parses a company id. Throws if `text` is not a UUID. */
export function toCompanyId(text: string): CompanyId {
  const id = parseCompanyId(text)
  if (id === undefined) throw new Error('a company id is a UUID')
  return id
}

/** Parses a company id. Returns undefined if `text` is not a UUID. */
export function parseCompanyId(text: string): CompanyId | undefined {
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as CompanyId) : undefined // as: the pattern has checked it
}

/**
 * Runs `run` in a transaction that sees only the rows of `company`. After a serialization failure,
 * a deadlock or a dead connection it starts again, up to three times. So `run` must have no effect
 * outside the database; such effects belong in `tx.afterCommit`.
 */
export function inCompany<T>(
  db: Db,
  company: CompanyId,
  run: (tx: Tx) => Promise<T>,
  options?: ConnectionRequestOptions
): Promise<T> {
  const id = toCompanyId(company)
  return inTransaction(db, id, beginIn(id), (sent, slot) => new Tx(sent, id, slot), run, options)
}

/**
 * Returns the SQL that begins a transaction and sets its company. PostgreSQL receives both commands
 * in one message. Row-level security reads the setting when a statement starts. So from the next
 * statement on it hides the rows of other companies, and a statement that changed the setting would
 * not itself see them.
 */
function beginIn(id: CompanyId): string {
  return `begin; ${scopeTo(id)}`
}

function scopeTo(id: CompanyId): string {
  return `set local app.company_id = '${toCompanyId(id)}'`
}

/**
 * Runs `run` in a transaction that sees only the rows of `company`, and in which `run` may run only
 * one statement. Sends begin, statement and commit together, in one round trip. Throws for a second
 * statement. Starts again after the same failures as `inCompany`.
 */
export function runSingleStatementInCompany<T>(
  db: Db,
  company: CompanyId,
  run: (tx: Tx) => Promise<T>,
  options?: ConnectionRequestOptions
): Promise<T> {
  const id = toCompanyId(company)
  const open = (sent: PipelinedTransaction, slot: ConnectionSlot) => new Tx(sent, id, slot)
  return inTransaction(db, id, beginIn(id), open, run, { ...options, isSingle: true })
}

/**
 * Runs `run` in a transaction that belongs to no company. The transaction sees only the tables
 * whose rows belong to no company, and may call the database functions that read across companies.
 */
export function inNoCompany<T>(db: Db, run: (tx: TxWithoutCompany) => Promise<T>): Promise<T> {
  return inTransaction(db, consumerForNoCompany, 'begin', sent => new TxWithoutCompany(sent), run)
}

/**
 * A hand-written SQL statement. PostgreSQL prepares it under its name, so each name must always
 * have the same SQL.
 */
export interface NamedStatement {
  name: string
  text: string
  values: unknown[]
}

/**
 * A Kysely transaction that can also run hand-written statements (`raw`) and prepared ones (`run`).
 * Every statement is sent at the moment of its call, so statements run in the order of the calls,
 * awaited or not.
 */
class BaseTx extends Transaction<Database> {
  protected readonly sent: PipelinedTransaction

  constructor(sent: PipelinedTransaction) {
    super(kyselyTransactionProps(sent))
    this.sent = sent
  }

  /** Runs a hand-written statement and returns its rows. */
  async raw<Row extends object>(statement: NamedStatement): Promise<Row[]> {
    return (await this.sent.send<Row>(statement)).rows
  }

  /** Runs a prepared statement and returns its rows. */
  async run<Values extends object, Row extends object>(
    prepared: PreparedStatement<Values, Row>,
    values: Values
  ): Promise<Row[]> {
    return (await this.sent.send<Row>(prepared.bind(values))).rows
  }

  /**
   * Lets the transaction send its commit without waiting for the result of `statement`, which must
   * be its last statement. If `statement` fails, the transaction is rolled back and throws the
   * error of `statement`.
   */
  sendWithCommit(statement: Promise<unknown>): void {
    this.sent.sendWithCommit(statement)
  }

  /** Registers a function that runs once, after this transaction has committed. */
  afterCommit(run: () => void) {
    this.sent.afterCommit.push(run)
  }
}

/** A transaction within one company. */
export class Tx extends BaseTx {
  readonly companyId: CompanyId
  /**
   * Whether other companies were active when the transaction began. A long read then uses smaller
   * pages.
   */
  readonly isContended: boolean

  constructor(
    sent: PipelinedTransaction,
    company: CompanyId,
    { isContended }: Pick<ConnectionSlot, 'isContended'>
  ) {
    super(sent)
    this.companyId = company
    this.isContended = isContended
  }

  /**
   * Sends `statement` only at the end of the transaction, because it locks a row that many
   * transactions need. This row is the head of a log of `company`: it holds the position at which
   * the log continues. `lock` says whether it is the audit log or the evidence log. If the
   * statement fails, the transaction rolls back.
   */
  sendLast(
    lock: LogHeadLock,
    statement: NamedStatement,
    company: CompanyId = this.companyId
  ): void {
    const within = (id: CompanyId): NamedStatement[] =>
      company === this.companyId ? [] : [{ name: '', text: scopeTo(id), values: [] }]
    const statements = [...within(company), statement, ...within(this.companyId)]
    this.sent.sendLast({ lock, row: company, statements })
  }

  /**
   * Sends the statements that `sendLast` has kept back and whose locks must be taken before `lock`.
   * Does not take `lock` itself. The caller must send the statement that takes `lock` right
   * afterwards.
   */
  prepareLock(lock: LogHeadLock): void {
    this.sent.prepareLock(lock)
  }
}

/** A transaction of no company. Row-level security hides the rows of all companies from it. */
export class TxWithoutCompany extends BaseTx {
  readonly companyId = undefined
}

const maxRetries = 3
const retryMillis = 20
// serialization_failure, deadlock_detected
const retryable = ['40001', '40P01']

async function inTransaction<X, T>(
  db: Db,
  consumer: ConnectionConsumer,
  begin: string,
  open: (sent: PipelinedTransaction, slot: ConnectionSlot) => X,
  run: (tx: X) => Promise<T>,
  how: ConnectionRequestOptions & { isSingle?: boolean } = {}
): Promise<T> {
  const allocator = connectionAllocatorOf(db)
  for (let retries = 0; ; retries++) {
    try {
      const taken = allocator.take(consumer, how)
      // no `await` for a free connection, so that it is used in this turn of the event loop
      const slot = taken instanceof Promise ? await taken : taken
      try {
        return await runTransaction(poolOf(db, how), { begin, isSingle: how.isSingle }, sent =>
          run(open(sent, slot))
        )
      } finally {
        slot.release()
      }
    } catch (error) {
      const cause = error instanceof TransactionNotBegun ? error.cause : error
      if (retries === maxRetries) throw cause
      if (!(error instanceof TransactionNotBegun) && !retryable.includes(sqlStateOf(error)))
        throw error
    }
    await sleep(retryMillis * 2 ** retries * (0.5 + Math.random()))
  }
}
