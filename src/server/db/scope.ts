import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type KyselyProps,
  type QueryResult,
  Transaction
} from 'kysely'
import type pg from 'pg'
import { adapter, compiler, dialect, driver } from './dialect.ts'
import { type Db, poolOf, sharesOf } from './open.ts'
import type { Prepared } from './prepared-statements.ts'
import type { Database } from './schema.ts'
import type { Sharer, Wish } from './shares.ts'
import { statementName } from './statement-names.ts'

export type { Leaver, Wish } from './shares.ts'

declare const brand: unique symbol
/** Id of a tenant. A request's only one comes from the resolver. */
export type CompanyId = string & { readonly [brand]: 'CompanyId' }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function companyId(text: string): CompanyId {
  const id = parseCompanyId(text)
  if (id === undefined) throw new Error('a company id is a UUID')
  return id
}

/** As `companyId`, for a text that may well be none. */
export function parseCompanyId(text: string): CompanyId | undefined {
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as CompanyId) : undefined // checked by the pattern
}

/**
 * Runs `run` in one transaction that sees the rows of `company` alone. A serialization failure, a
 * deadlock or a connection found dead starts it again, up to three times, so it must do nothing
 * outside the database; what has to follow goes to `tx.afterCommit`. `wish` says what is read for long,
 * and whose going ends the wait for a connection.
 */
export function inCompany<T>(
  db: Db,
  company: CompanyId,
  run: (tx: Tx) => Promise<T>,
  wish?: Wish
): Promise<T> {
  const id = companyId(company)
  return inTransaction(db, id, beginIn(id), unit => new Tx(unit, id), run, wish)
}

/**
 * One query without parameters is one message, and the policies see the setting from the next statement
 * on; set within a statement it would come too late for that statement's own tables.
 */
function beginIn(id: CompanyId): string {
  return `begin; set local app.company_id = '${id}'`
}

/**
 * As `inCompany` for one statement: begin, statement and commit are sent together and cost one round
 * trip. A second statement is refused.
 */
export function inCompanyOnce<T>(
  db: Db,
  company: CompanyId,
  run: (tx: Tx) => Promise<T>,
  wish?: Wish
): Promise<T> {
  const id = companyId(company)
  const wrap = (unit: Unit) => new Tx(unit, id)
  return inTransaction(db, id, beginIn(id), wrap, run, { ...wish, isSingle: true })
}

/** As `inCompany` with no company: the platform's own tables and the two functions across tenants. */
export function inPlatform<T>(db: Db, run: (tx: PlatformTx) => Promise<T>): Promise<T> {
  return inTransaction(db, platform, 'begin', unit => new PlatformTx(unit), run)
}

/** The platform shares the connections with the companies as one of them. */
const platform: Sharer = 'platform'

/** A statement written by hand. Its name is kept per connection: one name, one text, everywhere. */
export interface Statement {
  name: string
  text: string
  values: unknown[]
}

/**
 * Builds queries as Kysely does, and runs statements by `raw` and `run`. These two send at the moment
 * of the call, so statements that are sent side by side run in the order of the calls; when a query of
 * Kysely is sent is Kysely's own affair, so where the order matters it is awaited, or goes by `run`.
 */
class UnitTx extends Transaction<Database> {
  readonly #unit: Unit

  constructor(unit: Unit) {
    super(propsOf(unit))
    this.#unit = unit
  }

  /** Runs a hand-written statement and answers its rows. */
  async raw<Row extends object>(statement: Statement): Promise<Row[]> {
    return (await this.#unit.send<Row>(statement)).rows
  }

  /** Runs a statement that is built already and answers its rows. */
  async run<Values extends object, Row extends object>(
    prepared: Prepared<Values, Row>,
    values: Values
  ): Promise<Row[]> {
    return (await this.#unit.send<Row>(prepared.bind(values))).rows
  }

  /**
   * Leaves the answer of a last statement to the commit, which goes out right behind it and does not
   * happen where it fails.
   */
  sendWithCommit(statement: Promise<unknown>): void {
    this.#unit.sendWithCommit(statement)
  }

  /** Calls `act` once, when and only when this transaction has committed. */
  afterCommit(act: () => void) {
    this.#unit.afterCommit.push(act)
  }
}

/** A transaction within one company. */
export class Tx extends UnitTx {
  readonly companyId: CompanyId

  constructor(unit: Unit, company: CompanyId) {
    super(unit)
    this.companyId = company
  }
}

/** A transaction without a company: tenant tables are empty in it. */
export class PlatformTx extends UnitTx {
  readonly companyId = undefined
}

const maxRetries = 3
const retryMillis = 20
// serialization_failure, deadlock_detected
const retryable = ['40001', '40P01']
/** in_failed_sql_transaction */
const abortedState = '25P02'

/** The server went away while the connection lay idle; nothing has been said to it yet. */
class NotBegun extends Error {}

async function inTransaction<X, T>(
  db: Db,
  sharer: Sharer,
  begin: string,
  wrap: (unit: Unit) => X,
  run: (tx: X) => Promise<T>,
  how: Wish & { isSingle?: boolean } = {}
): Promise<T> {
  const shares = sharesOf(db)
  for (let retries = 0; ; retries++) {
    try {
      const taken = shares.take(sharer, how)
      // what is free is not waited for, not even for one turn
      const share = taken instanceof Promise ? await taken : taken
      try {
        return await tryOnce(poolOf(db), begin, wrap, run, how)
      } finally {
        share.giveBack()
      }
    } catch (error) {
      const cause = error instanceof NotBegun ? error.cause : error
      if (retries === maxRetries) throw cause
      if (!(error instanceof NotBegun) && !retryable.includes(sqlState(error))) throw error
    }
    await sleep(retryMillis * 2 ** retries * (0.5 + Math.random()))
  }
}

async function tryOnce<X, T>(
  pool: pg.Pool,
  begin: string,
  wrap: (unit: Unit) => X,
  run: (tx: X) => Promise<T>,
  { isSingle = false }: { isSingle?: boolean }
): Promise<T> {
  const client = await pool.connect()
  const unit = new Unit(client, begin, isSingle)
  // A connection goes back to the pool only with its transaction surely over.
  let reusable = false
  let result: T
  try {
    try {
      result = await run(wrap(unit))
      await unit.begun()
    } catch (thrown) {
      const error = unit.causeOf(thrown)
      await unit.begun()
      reusable = await unit.finish('rollback').then(
        () => true,
        () => false
      )
      await unit.sentWithCommit // may have failed first, and is then the reason
      throw error
    }
    const command = await unit.finish('commit')
    reusable = true
    await unit.sentWithCommit
    // A statement had failed and the caller went on; PostgreSQL then answers commit by rolling back.
    if (command !== 'COMMIT') throw new Error('a failed statement has undone this transaction')
  } finally {
    client.release(!reusable)
  }
  for (const act of unit.afterCommit) act()
  return result
}

/**
 * One transaction on one connection. Its statements run in the order they are given and are sent at once,
 * whether or not those before are answered; none is sent once it has ended.
 */
class Unit implements DatabaseConnection {
  readonly afterCommit: (() => void)[] = []
  sentWithCommit: Promise<unknown> | undefined
  readonly #client: pg.PoolClient
  readonly #begin: string
  readonly #isSingle: boolean
  #begun: Promise<pg.QueryResult> | undefined
  #failed: { error: unknown } | undefined
  #ended = false
  #committed: Promise<pg.QueryResult> | undefined

  constructor(client: pg.PoolClient, begin: string, isSingle: boolean) {
    this.#client = client
    this.#begin = begin
    this.#isSingle = isSingle
  }

  /** Throws where the transaction could not begin, whatever its statements say of that. */
  async begun(): Promise<void> {
    await this.#begun?.catch(cause => {
      throw new NotBegun('a connection of the pool was lost before it was used', { cause })
    })
  }

  async send<Row extends object>(statement: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    // A query that its caller forgot to await must not run in the connection's next transaction,
    // which may be another company's.
    if (this.#ended) throw new Error('this transaction has ended')
    this.#gather()
    if (!this.#begun) {
      // `begin` is not waited for: what follows fails if it does
      this.#begun = this.#client.query(this.#begin)
      this.#begun.catch(() => undefined) // told by begun()
    }
    const result = this.#client.query<Row>(statement)
    result.catch((error: unknown) => {
      this.#failed ??= { error }
    })
    if (this.#isSingle) {
      this.#committed = this.#end('commit')
      this.#committed.catch(() => undefined) // told by finish()
    }
    return result
  }

  /** Of statements sent together the first that fails says why; those behind it, that it has. */
  causeOf(thrown: unknown): unknown {
    return sqlState(thrown) === abortedState && this.#failed ? this.#failed.error : thrown
  }

  sendWithCommit(statement: Promise<unknown>): void {
    this.sentWithCommit = statement
    statement.catch(() => undefined) // told after the commit, which it undoes
  }

  /** Answers what the server did, which after a failed statement is a rollback. */
  async finish(how: 'commit' | 'rollback'): Promise<string> {
    if (!this.#begun) {
      this.#ended = true
      return how.toUpperCase()
    }
    this.#committed ??= this.#end(how)
    return (await this.#committed).command
  }

  #end(how: 'commit' | 'rollback'): Promise<pg.QueryResult> {
    this.#ended = true
    this.#gather()
    return this.#client.query(how)
  }

  /** What is said before the event loop turns leaves in one packet. */
  #gather(): void {
    const { stream } = this.#client.connection
    stream.cork()
    process.nextTick(() => stream.uncork())
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = parameters.length > 0 ? statementName(sql) : undefined
    const result = await this.send<Row & object>({ name, text: sql, values: [...parameters] })
    const { command, rowCount, rows } = result
    return writes.includes(command) ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows }
  }

  streamQuery(): never {
    throw new Error('read in pages: a stream would hold its transaction open')
  }
}

const writes = ['INSERT', 'UPDATE', 'DELETE', 'MERGE']

/** Kysely for one transaction: it builds the statements, `Unit` runs them. */
function propsOf(unit: Unit): KyselyProps {
  const provider = {
    provideConnection: <T>(use: (c: DatabaseConnection) => Promise<T>) => use(unit)
  }
  return {
    config: { dialect },
    dialect,
    driver,
    executor: new DefaultQueryExecutor(compiler, adapter, provider)
  }
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
