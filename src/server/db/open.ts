import { availableParallelism } from 'node:os'
import { Kysely, type KyselyProps, PostgresDialect } from 'kysely'
import pg from 'pg'
import {
  type CompanyActivityTracker,
  createCompanyActivityTracker
} from '../../core/active-companies.ts'
import { ConnectionAllocator } from './connection-allocator.ts'
import {
  appRoleConnectionConfig,
  type DatabaseLocation,
  explainConnectionError
} from './connection-config.ts'
import { postgresNiceDifference } from './postgres.ts'
import { lowerPriority } from './process-priority.ts'
import type { Database } from './schema.ts'
import { nameStatements } from './statement-names.ts'

/** The database. Modules of other folders query it through the functions of `scope.ts`. */
export interface Db {
  /**
   * The companies with an HTTP request to this process within the last second. Only these companies
   * count as active when connections are shared out.
   */
  readonly present: CompanyActivityTracker
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = DatabaseLocation & {
  /**
   * Whether the service itself runs PostgreSQL. If so, the PostgreSQL processes get a lower
   * priority than the service. PostgreSQL processes that serve long reads get the lowest priority.
   */
  isEmbedded?: boolean
  /** Called when a connection is lost, whether it is idle or in use. */
  onError?: (error: Error) => void
}

const poolSize = 16
const reserve = 4
const heavySize = 4
/**
 * Maximum number of connections that a company may hold while other companies are active, for short
 * transactions (`usual`) and for long reads (`heavy`). Each number is the number of processor
 * cores, but at most `poolSize` or `heavySize`.
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
 * Difference in nice value between the PostgreSQL processes of long reads and this process. If it
 * were larger, a long read could end in a timeout on a busy machine.
 */
const longReadNiceDifference = 10

interface Opened {
  usual: DatabaseOfPool
  /**
   * The connections for long reads. For an embedded database they are a separate pool, because
   * PostgreSQL processes of lower priority serve it. Otherwise the same object as `usual`.
   */
  heavy: DatabaseOfPool
  allocator: ConnectionAllocator
}

const opened = new WeakMap<Db, Opened>()

/**
 * Opens the connections that serve HTTP requests. Their database role is subject to row-level
 * security.
 */
export async function openDatabase(options: OpenOptions): Promise<Db> {
  const { isEmbedded = false, onError = () => undefined } = options
  const settings: pg.PoolConfig = {
    ...appRoleConnectionConfig(options),
    connectionTimeoutMillis: acquireMillis,
    statement_timeout: statementMillis,
    lock_timeout: lockMillis,
    idle_in_transaction_session_timeout: idleInTransactionMillis,
    types: { getTypeParser }
  }
  const openPool = (max: number, niceDifference: number) => {
    const pool = new pg.Pool({ ...settings, max })
    // An error event without a listener would end the process. The pool emits errors of idle
    // connections, and each client emits the errors of its connection while it is in use.
    pool.on('error', onError)
    pool.on('connect', client => {
      client.on('error', onError)
      if (isEmbedded) lowerPriority(processOf(client), niceDifference).catch(onError)
    })
    return pool
  }
  const pool = openPool(poolSize + reserve, postgresNiceDifference)
  const heavyPool = isEmbedded ? openPool(heavySize, longReadNiceDifference) : pool
  let closing: Promise<unknown> | undefined
  const close = async () => {
    closing ??= Promise.all([...new Set([pool, heavyPool])].map(each => each.end()))
    await closing
  }
  const present = createCompanyActivityTracker(() => performance.now())
  const db: Db = { present, close, [Symbol.asyncDispose]: close }
  const waitMs = acquireMillis
  const usual = queryPool(pool)
  opened.set(db, {
    usual,
    heavy: heavyPool === pool ? usual : queryPool(heavyPool),
    allocator: new ConnectionAllocator({
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
    throw explainConnectionError(options, error)
  }
  return db
}

interface DatabaseOfPool {
  pool: pg.Pool
  /** Kysely on this pool, as its transactions take it. */
  kysely: KyselyProps
}

function queryPool(pool: pg.Pool): DatabaseOfPool {
  const dialect = new PostgresDialect({ pool: nameStatements(pool) })
  const config = { dialect }
  const executor = new Kysely<Database>(config).getExecutor()
  return { pool, kysely: { config, dialect, driver: dialect.createDriver(), executor } }
}

/**
 * Returns the connections for short transactions or, with `isHeavy`, those for long reads. Only
 * modules of this folder may call this function.
 */
export function kyselyOf(db: Db, { isHeavy = false } = {}): KyselyProps {
  const { usual, heavy } = openedAs(db)
  return (isHeavy ? heavy : usual).kysely
}

/**
 * Returns the pool of connections for short transactions. Only modules of this folder may call this
 * function.
 */
export function poolOf(db: Db): pg.Pool {
  return openedAs(db).usual.pool
}

/**
 * Returns the allocator that gives the pool's connections to transactions. Only modules of this
 * folder may call this function.
 */
export function connectionAllocatorOf(db: Db): ConnectionAllocator {
  return openedAs(db).allocator
}

function openedAs(db: Db): Opened {
  const found = opened.get(db)
  if (!found) throw new Error('this database was not opened by openDatabase')
  return found
}

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
