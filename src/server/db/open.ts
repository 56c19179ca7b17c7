import { availableParallelism } from 'node:os'
import pg from 'pg'
import { createPresentCompanies, type PresentCompanies } from '../../core/present-companies.ts'
import { type DatabaseLocation, requestLogin, unreachableError } from './connection-config.ts'
import { ConnectionShares } from './connection-shares.ts'

/** The database. All queries run through `inCompany` and `inPlatform`. */
export interface Db {
  /**
   * Tells which companies have called this process within the last second. They share the
   * connections.
   */
  readonly present: PresentCompanies
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = DatabaseLocation & {
  /** Called when a connection is lost, whether it is idle or in use. */
  onError?: (error: Error) => void
}

/**
 * The number of all connections except those of `reserve`. One company may hold all of them while
 * no other is active.
 */
const poolSize = 16
/** The number of additional connections that only companies without a connection can get. */
const reserve = 4
/**
 * The most connections that the searches, exports and other long reads of all companies hold
 * together.
 */
const heavySize = 4
/**
 * The most connections of one company while others are active, for short transactions and for long
 * reads: as many as the machine has cores.
 */
const whenContended = {
  usual: Math.min(availableParallelism(), poolSize),
  heavy: Math.min(availableParallelism(), heavySize)
}
const acquireMillis = 5_000
const statementMillis = 5_000
const lockMillis = 2_000
const idleInTransactionMillis = 10_000

const pools = new WeakMap<Db, { pool: pg.Pool; shares: ConnectionShares }>()

/**
 * Opens the pool of connections that serves HTTP requests, in the database role to which row-level
 * security applies.
 */
export async function openDatabase(options: OpenOptions): Promise<Db> {
  const { onError = () => undefined } = options
  const pool = new pg.Pool({
    ...requestLogin(options),
    max: poolSize + reserve,
    // statements are sent without waiting for earlier answers: see pipelined-transaction.ts
    pipeline: true,
    connectionTimeoutMillis: acquireMillis,
    statement_timeout: statementMillis,
    lock_timeout: lockMillis,
    idle_in_transaction_session_timeout: idleInTransactionMillis,
    types: { getTypeParser }
  })
  // An error event without a listener would end the process. The pool emits errors of idle
  // connections, and each client emits the errors of its connection while it is in use.
  pool.on('error', onError)
  pool.on('connect', client => client.on('error', onError))
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= pool.end()
    return closing
  }
  const present = createPresentCompanies(() => performance.now())
  const db: Db = { present, close, [Symbol.asyncDispose]: close }
  const waitMs = acquireMillis
  pools.set(db, {
    pool,
    shares: new ConnectionShares({
      size: poolSize,
      reserve,
      heavy: heavySize,
      whenContended,
      present,
      waitMs
    })
  })
  try {
    await pool.query('select 1')
  } catch (error) {
    await close()
    throw unreachableError(options, error)
  }
  return db
}

/** Returns the connection pool. Only for modules of this folder. */
export function poolOf(db: Db): pg.Pool {
  return openedAs(db).pool
}

/**
 * Returns the object that divides the pool's connections between companies. Only for modules of
 * this folder.
 */
export function connectionSharesOf(db: Db): ConnectionShares {
  return openedAs(db).shares
}

function openedAs(db: Db): { pool: pg.Pool; shares: ConnectionShares } {
  const found = pools.get(db)
  if (!found) throw new Error('this database was not opened by openDatabase')
  return found
}

const int8 = 20

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === int8 ? safeInteger : pg.types.getTypeParser(oid, format)
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number`)
  return value
}
