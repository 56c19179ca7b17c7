import { availableParallelism } from 'node:os'
import pg from 'pg'
import { createPresentCompanies, type PresentCompanies } from '../../core/present-companies.ts'
import { type DatabaseLocation, requestLogin, unreachableError } from './connection-config.ts'
import { Shares } from './connection-shares.ts'

/** The database. Queries run only through `inCompany` and `inPlatform`. */
export interface Db {
  /** The companies that are at work in this process. They share the connections. */
  readonly present: PresentCompanies
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = DatabaseLocation & {
  /** Called when an idle or running connection is lost. */
  onError?: (error: Error) => void
}

/** Connections for everybody. A company that is alone may use all of them. */
const poolSize = 16
/** Further connections, only for companies that hold none. */
const reserve = 4
/** The most connections for searches, exports and other long reads of all companies. */
const heavySize = 4
/** Connections of one company beside others: as many as the cores serve at a time. */
const besideOthers = {
  usual: Math.min(availableParallelism(), poolSize),
  heavy: Math.min(availableParallelism(), heavySize)
}
const acquireMillis = 5_000
const statementMillis = 5_000
const lockMillis = 2_000
const idleInTransactionMillis = 10_000

const pools = new WeakMap<Db, { pool: pg.Pool; shares: Shares }>()

/** Opens the pool that serves requests, as the role that row-level security binds. */
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
  // An error event without a listener ends the process. The pool emits those of idle connections, the
  // client those of connections in use.
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
    shares: new Shares({ size: poolSize, reserve, heavy: heavySize, besideOthers, present, waitMs })
  })
  try {
    await pool.query('select 1')
  } catch (error) {
    await close()
    throw unreachableError(options, error)
  }
  return db
}

/** Returns the pool. For this folder only. */
export function poolOf(db: Db): pg.Pool {
  return openedAs(db).pool
}

/** Returns the shares of the pool. For this folder only. */
export function sharesOf(db: Db): Shares {
  return openedAs(db).shares
}

function openedAs(db: Db): { pool: pg.Pool; shares: Shares } {
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
