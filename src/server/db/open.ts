import {
  Kysely,
  type KyselyProps,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient
} from 'kysely'
import pg from 'pg'
import {
  appRoleConnectionConfig,
  type DatabaseLocation,
  explainConnectionError,
  ownerConnectionConfig
} from './connection-config.ts'
import { postgresNiceDifference } from './postgres.ts'
import { lowerPriority } from './process-priority.ts'
import type { Database } from './schema.ts'

/** Modules of other folders query it through the functions of `scope.ts`. */
export interface Db {
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type OpenOptions = DatabaseLocation & {
  /** Whether the service itself runs PostgreSQL, whose processes then get a lower priority. */
  isEmbedded?: boolean
  /** How many calls use the database at the same time; 16 by default. */
  calls?: number
  /** For commands of operators that change what the service may not. */
  asOwner?: boolean
  onError?: (error: Error) => void
}

/** Besides those for calls. */
const needed = {
  /** the reserve of `http/gate.ts` */
  reserve: 4,
  longReads: 4,
  /** `collectAttentionOfAllCompanies` checks four companies at once in one place */
  attention: 3,
  settledUploads: 4,
  mails: 4,
  /** two run at once, and each shows its progress by a second connection */
  imports: 4,
  logs: 4,
  /** certificates, readiness, the served hosts and the jobs that run now and then */
  other: 1
}
// So whoever has a place has a connection at once. Two processes fit PostgreSQL's default of 100.
const besideCalls = Object.values(needed).reduce((sum, count) => sum + count)
const defaultCalls = 16
// each connection keeps its prepared statements in memory until it is closed
const maxNames = 500
const names = new Map<string, string>()
const acquireMillis = 5_000
const statementMillis = 5_000
const lockMillis = 2_000
const idleInTransactionMillis = 10_000

const opened = new WeakMap<Db, DatabaseOfPool>()

/** Row-level security applies to the role of these connections, unless they are the owner's. */
export async function openDatabase(options: OpenOptions): Promise<Db> {
  const { isEmbedded = false, asOwner = false, onError = () => undefined } = options
  const pool = new pg.Pool({
    ...(asOwner ? ownerConnectionConfig(options) : appRoleConnectionConfig(options)),
    max: (options.calls ?? defaultCalls) + besideCalls,
    connectionTimeoutMillis: acquireMillis,
    statement_timeout: statementMillis,
    lock_timeout: lockMillis,
    idle_in_transaction_session_timeout: idleInTransactionMillis,
    types: { getTypeParser }
  })
  // An error event without a listener would end the process. The pool emits errors of idle
  // connections, and each client emits the errors of its connection while it is in use.
  pool.on('error', onError)
  pool.on('connect', client => {
    client.on('error', onError)
    if (isEmbedded) lowerPriority(processOf(client), postgresNiceDifference).catch(onError)
  })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= pool.end())
  const db: Db = { close, [Symbol.asyncDispose]: close }
  opened.set(db, queryPool(pool))
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
  kysely: KyselyProps
}

function queryPool(pool: pg.Pool): DatabaseOfPool {
  const dialect = new PostgresDialect({ pool: nameStatements(pool) })
  const config = { dialect }
  const executor = new Kysely<Database>(config).getExecutor()
  return { pool, kysely: { config, dialect, driver: dialect.createDriver(), executor } }
}

export function kyselyOf(db: Db): KyselyProps {
  return openedAs(db).kysely
}

/** Only modules of this folder may call this function. */
export function poolOf(db: Db): pg.Pool {
  return openedAs(db).pool
}

function openedAs(db: Db): DatabaseOfPool {
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

// PostgreSQL prepares a statement that has a name, so each connection parses and plans it once
function nameStatements(pool: pg.Pool): PostgresPool {
  // one object per connection, because Kysely recognizes its connections by it
  const named = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect()
      const known = named.get(client) ?? nameStatementsOf(client)
      named.set(client, known)
      return known
    }
  }
}

function nameStatementsOf(client: pg.PoolClient): PostgresPoolClient {
  const query = (text: string, values: readonly unknown[]) =>
    client.query({ name: values.length > 0 ? nameOf(text) : undefined, text, values: [...values] })
  // as: streams of rows, which take a cursor here, are not used
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: isBroken => client.release(isBroken)
  }
}

function nameOf(text: string): string | undefined {
  const name = names.get(text) ?? (names.size < maxNames ? `k${names.size}` : undefined)
  if (name !== undefined) names.set(text, name)
  return name
}
