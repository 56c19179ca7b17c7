import { availableParallelism } from 'node:os'
import pg from 'pg'
import { createPresentCompanies, type PresentCompanies } from '../../core/present-companies.ts'
import { type DatabaseLocation, requestLogin, unreachable } from './connection-config.ts'
import { Shares } from './shares.ts'

/** The request pool, opaque: queries run through `inCompany` and `inPlatform` and no other way. */
export interface Db {
  /** Which companies are at work, as far as it is noted here: they share the connections. */
  readonly present: PresentCompanies
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = DatabaseLocation & {
  /** Told when a connection is lost, which is not a failure of any call. */
  onError?: (error: Error) => void
}

/** All of them serve one company that is alone. */
const poolSize = 16
/** For companies that hold no connection yet, however busy the others are. */
const reserve = 4
/** Searches, exports and other long reads hold no more than these, of all companies together. */
const heavySize = 4
/** What the cores serve at a time; more would only take turns on them. */
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
    // a statement may be sent before the one ahead of it is answered
    pipeline: true,
    connectionTimeoutMillis: acquireMillis,
    statement_timeout: statementMillis,
    lock_timeout: lockMillis,
    idle_in_transaction_session_timeout: idleInTransactionMillis,
    types: { getTypeParser }
  })
  // An error event that nobody listens to ends the process: the pool's is for idle connections, the
  // client's for those in use.
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
    throw unreachable(options, error)
  }
  return db
}

/** For this folder only. */
export function poolOf(db: Db): pg.Pool {
  return openedAs(db).pool
}

/** Likewise: who may use the pool's connections, and when. */
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
