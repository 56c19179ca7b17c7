import { setTimeout as sleep } from 'node:timers/promises'
import { Transaction } from 'kysely'
import {
  type ConnectionOptions,
  type ConnectionShare,
  type ConnectionUser,
  platform
} from './connection-shares.ts'
import { type Db, poolOf, sharesOf } from './open.ts'
import {
  errorState,
  NotBegun,
  type PipelinedTransaction,
  runTransaction
} from './pipelined-transaction.ts'
import type { Prepared } from './prepared-statements.ts'
import { executorProps } from './query-executor.ts'
import type { Database } from './schema.ts'

export type { ConnectionOptions, WaitingClient } from './connection-shares.ts'

declare const brand: unique symbol
/** The id of a tenant. A request has exactly one, which its host name decides. */
export type CompanyId = string & { readonly [brand]: 'CompanyId' }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Parses a company id. Throws where `text` is not a UUID. */
export function companyId(text: string): CompanyId {
  const id = parseCompanyId(text)
  if (id === undefined) throw new Error('a company id is a UUID')
  return id
}

/** Parses a company id. Returns undefined where `text` is not a UUID. */
export function parseCompanyId(text: string): CompanyId | undefined {
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as CompanyId) : undefined // checked by the pattern
}

/**
 * Runs `run` in one transaction that sees only the rows of `company`. A serialization failure, a
 * deadlock or a dead connection starts it again, up to three times. So `run` must have no effect
 * outside the database; effects go to `tx.afterCommit`. `options` marks long reads, and names the caller
 * whose disconnect ends the wait for a connection.
 */
export function inCompany<T>(
  db: Db,
  company: CompanyId,
  run: (tx: Tx) => Promise<T>,
  options?: ConnectionOptions
): Promise<T> {
  const id = companyId(company)
  return inTransaction(db, id, beginIn(id), (sent, share) => new Tx(sent, id, share), run, options)
}

/**
 * Returns the SQL that begins a transaction and sets its company. Both commands are sent in one
 * message. The policies read the setting when a statement starts, so no later statement could set
 * it for itself.
 */
function beginIn(id: CompanyId): string {
  return `begin; set local app.company_id = '${id}'`
}

/**
 * Runs one statement as `inCompany` does. Begin, statement and commit are sent together and cost one
 * round trip. A second statement throws.
 */
export function inCompanyOnce<T>(
  db: Db,
  company: CompanyId,
  run: (tx: Tx) => Promise<T>,
  options?: ConnectionOptions
): Promise<T> {
  const id = companyId(company)
  const open = (sent: PipelinedTransaction, share: ConnectionShare) => new Tx(sent, id, share)
  return inTransaction(db, id, beginIn(id), open, run, { ...options, isSingle: true })
}

/** Runs `run` without a company: it sees the platform's own tables and the functions across tenants. */
export function inPlatform<T>(db: Db, run: (tx: PlatformTx) => Promise<T>): Promise<T> {
  return inTransaction(db, platform, 'begin', sent => new PlatformTx(sent), run)
}

/** A statement written by hand. PostgreSQL prepares it under its name, so one name stands for one text. */
export interface Statement {
  name: string
  text: string
  values: unknown[]
}

/**
 * A Kysely transaction that can also run hand-written (`raw`) and prepared (`run`) statements. All three
 * send at the moment of the call, so statements run in the order of the calls, awaited or not.
 */
class BaseTx extends Transaction<Database> {
  readonly #sent: PipelinedTransaction

  constructor(sent: PipelinedTransaction) {
    super(executorProps(sent))
    this.#sent = sent
  }

  /** Runs a hand-written statement and returns its rows. */
  async raw<Row extends object>(statement: Statement): Promise<Row[]> {
    return (await this.#sent.send<Row>(statement)).rows
  }

  /** Runs a prepared statement and returns its rows. */
  async run<Values extends object, Row extends object>(
    prepared: Prepared<Values, Row>,
    values: Values
  ): Promise<Row[]> {
    return (await this.#sent.send<Row>(prepared.bind(values))).rows
  }

  /**
   * Sends the commit right after the last statement, without waiting for its answer. If the
   * statement fails, the transaction is rolled back and throws its error.
   */
  sendWithCommit(statement: Promise<unknown>): void {
    this.#sent.sendWithCommit(statement)
  }

  /** Calls `act` once, after this transaction has committed. */
  afterCommit(act: () => void) {
    this.#sent.afterCommit.push(act)
  }
}

/** A transaction within one company. */
export class Tx extends BaseTx {
  readonly companyId: CompanyId
  /** Whether other companies are at work too. Long reads then use smaller pages. */
  readonly isBesideOthers: boolean

  constructor(
    sent: PipelinedTransaction,
    company: CompanyId,
    { isBesideOthers }: Pick<ConnectionShare, 'isBesideOthers'>
  ) {
    super(sent)
    this.companyId = company
    this.isBesideOthers = isBesideOthers
  }
}

/** A transaction without a company. Row-level security hides every row of a company from it. */
export class PlatformTx extends BaseTx {
  readonly companyId = undefined
}

const maxRetries = 3
const retryMillis = 20
// serialization_failure, deadlock_detected
const retryable = ['40001', '40P01']

async function inTransaction<X, T>(
  db: Db,
  user: ConnectionUser,
  begin: string,
  open: (sent: PipelinedTransaction, share: ConnectionShare) => X,
  run: (tx: X) => Promise<T>,
  how: ConnectionOptions & { isSingle?: boolean } = {}
): Promise<T> {
  const shares = sharesOf(db)
  for (let retries = 0; ; retries++) {
    try {
      const taken = shares.take(user, how)
      // a free connection is used in this turn of the event loop
      const share = taken instanceof Promise ? await taken : taken
      try {
        return await runTransaction(poolOf(db), { begin, isSingle: how.isSingle }, sent =>
          run(open(sent, share))
        )
      } finally {
        share.giveBack()
      }
    } catch (error) {
      const cause = error instanceof NotBegun ? error.cause : error
      if (retries === maxRetries) throw cause
      if (!(error instanceof NotBegun) && !retryable.includes(errorState(error))) throw error
    }
    await sleep(retryMillis * 2 ** retries * (0.5 + Math.random()))
  }
}
