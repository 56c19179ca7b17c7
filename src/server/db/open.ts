import { availableParallelism } from 'node:os'
import pg from 'pg'
import { type ActiveCompanies, createActiveCompanies } from '../../core/active-companies.ts'
import { type DatabaseLocation, requestLogin, unreachableError } from './connection-config.ts'
import { ConnectionShares } from './connection-shares.ts'
import { niceSteps } from './postgres.ts'
import { lowerPriority } from './process-priority.ts'

/** The database. All queries run through `inCompany` and `inPlatform`. */
export interface Db {
  /**
   * Tells which companies have called this process within the last second. They share the
   * connections.
   */
  readonly present: ActiveCompanies
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = DatabaseLocation & {
  /**
   * Whether the service runs the database server itself. The server's processes then get a lower
   * priority than the service, and those that answer long reads an even lower one.
   */
  isEmbedded?: boolean
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

/**
 * By how much the nice values of the server's processes that answer long reads are higher than the
 * one of the service. With more, a long read could end in a timeout on a busy machine.
 */
const heavyNiceSteps = 10

interface Opened {
  pool: pg.Pool
  /**
   * The connections of long reads: a pool of their own if the database is embedded, because the
   * priority of a process can only be lowered, otherwise the same as `pool`.
   */
  heavyPool: pg.Pool
  shares: ConnectionShares
}

const opened = new WeakMap<Db, Opened>()

/**
 * Opens the connections that serve HTTP requests, in the database role to which row-level security
 * applies.
 */
export async function openDatabase(options: OpenOptions): Promise<Db> {
  const { isEmbedded = false, onError = () => undefined } = options
  const settings: pg.PoolConfig = {
    ...requestLogin(options),
    // statements are sent without waiting for earlier answers: see pipelined-transaction.ts
    pipeline: true,
    connectionTimeoutMillis: acquireMillis,
    statement_timeout: statementMillis,
    lock_timeout: lockMillis,
    idle_in_transaction_session_timeout: idleInTransactionMillis,
    types: { getTypeParser }
  }
  const openPool = (max: number, steps: number) => {
    const pool = new pg.Pool({ ...settings, max })
    // An error event without a listener would end the process. The pool emits errors of idle
    // connections, and each client emits the errors of its connection while it is in use.
    pool.on('error', onError)
    pool.on('connect', client => {
      client.on('error', onError)
      if (isEmbedded) lowerPriority(processOf(client), steps).catch(onError)
    })
    return pool
  }
  const pool = openPool(poolSize + reserve, niceSteps)
  const heavyPool = isEmbedded ? openPool(heavySize, heavyNiceSteps) : pool
  let closing: Promise<unknown> | undefined
  const close = async () => {
    closing ??= Promise.all([...new Set([pool, heavyPool])].map(each => each.end()))
    await closing
  }
  const present = createActiveCompanies(() => performance.now())
  const db: Db = { present, close, [Symbol.asyncDispose]: close }
  const waitMs = acquireMillis
  opened.set(db, {
    pool,
    heavyPool,
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

/** Returns the pool of the connections of long reads or of all others. Only for this folder. */
export function poolOf(db: Db, { isHeavy = false } = {}): pg.Pool {
  const { pool, heavyPool } = openedAs(db)
  return isHeavy ? heavyPool : pool
}

/**
 * Returns the object that divides the pool's connections between companies. Only for modules of
 * this folder.
 */
export function connectionSharesOf(db: Db): ConnectionShares {
  return openedAs(db).shares
}

function openedAs(db: Db): Opened {
  const found = opened.get(db)
  if (!found) throw new Error('this database was not opened by openDatabase')
  return found
}

/** Returns the id of the server's process that serves a connection. */
function processOf(client: pg.PoolClient): number {
  return (client as pg.PoolClient & { processID: number }).processID // as: pg does not declare it
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
