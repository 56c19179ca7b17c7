import { setTimeout as sleep } from 'node:timers/promises'
import {
  CompiledQuery,
  type Dialect,
  type Driver,
  type KyselyProps,
  sql,
  Transaction,
  TransactionBuilder
} from 'kysely'
import { type Db, kyselyOf } from './open.ts'
import type { Database } from './schema.ts'

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
 * Runs `run` in a transaction that sees only the rows of `company`, and commits when it returns. A
 * statement runs when it is awaited. After a serialization failure, a deadlock or a connection that
 * had died before it was used, the transaction starts again, up to three times. So `run` must have no effect outside the
 * database; such effects belong in `tx.afterCommit`.
 */
export function inCompany<T>(db: Db, company: CompanyId, run: (tx: Tx) => Promise<T>): Promise<T> {
  const id = toCompanyId(company)
  // row-level security reads the setting
  const begin = `begin; select set_config('app.company_id', '${id}', true)`
  return inTransaction(db, begin, async props => {
    const tx = new Tx(props, id)
    const result = await run(tx)
    await tx.writeAuditEntries()
    return { result, effects: tx.effects }
  })
}

/**
 * Runs `run` in a transaction that belongs to no company. The transaction sees only the tables
 * whose rows belong to no company, and may call the database functions that read across companies.
 */
export function inNoCompany<T>(db: Db, run: (tx: TxWithoutCompany) => Promise<T>): Promise<T> {
  return inTransaction(db, 'begin', async props => {
    const tx = new TxWithoutCompany(props)
    return { result: await run(tx), effects: tx.effects }
  })
}

/** A hand-written SQL statement, with `$1` for the first of `values`. */
export interface Statement {
  text: string
  values: unknown[]
}

/** A Kysely transaction that can also run hand-written statements. */
class BaseTx extends Transaction<Database> {
  /** What `afterCommit` registered. */
  readonly effects: (() => void)[] = []

  /** Runs a hand-written statement and returns its rows. */
  async raw<Row extends object>({ text, values }: Statement): Promise<Row[]> {
    return (await this.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
  }

  /** Registers a function that runs once, after this transaction has committed. */
  afterCommit(run: () => void): void {
    this.effects.push(run)
  }
}

/** A transaction within one company. */
export class Tx extends BaseTx {
  readonly companyId: CompanyId
  readonly #auditEntries: { company: CompanyId; statement: Statement }[] = []
  #mayAudit = true

  constructor(props: KyselyProps, company: CompanyId) {
    super(props)
    this.companyId = company
  }

  /**
   * Adds an entry to the audit log of `company`. The statement runs at the end, because it locks a
   * row that all changes of the company need.
   */
  addAuditEntry(company: CompanyId, statement: Statement): void {
    if (!this.#mayAudit) throw new Error('the audit head is locked before the log head')
    this.#auditEntries.push({ company, statement })
  }

  /**
   * Writes the entries that `addAuditEntry` has collected, and allows no further ones. Called by
   * `finishWithLogs`, and otherwise before the commit. Locks the heads of several audit logs in the
   * order of their companies, so that no two transactions wait for each other.
   */
  async writeAuditEntries(): Promise<void> {
    this.#mayAudit = false
    const entries = this.#auditEntries
      .splice(0)
      .toSorted((a, b) => (a.company < b.company ? -1 : 1))
    let current = this.companyId
    for (const { company, statement } of entries) {
      if (company !== current) await this.#setCompany(company)
      current = company
      await this.raw(statement)
    }
    if (current !== this.companyId) await this.#setCompany(this.companyId)
  }

  async #setCompany(company: CompanyId): Promise<void> {
    await sql`select set_config('app.company_id', ${company}, true)`.execute(this)
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

async function inTransaction<T>(
  db: Db,
  begin: string,
  run: (props: KyselyProps) => Promise<{ result: T; effects: readonly (() => void)[] }>
): Promise<T> {
  const kysely = kyselyOf(db)
  const props = { ...kysely, driver: driverThatBeginsWith(begin, kysely.dialect) }
  for (let retries = 0; ; retries++) {
    let hasBegun = false
    try {
      const { result, effects } = await new TransactionBuilder(props).execute(transaction => {
        hasBegun = true
        return run({ ...props, executor: transaction.getExecutor() })
      })
      for (const effect of effects) effect()
      return result
    } catch (error) {
      // a connection of the pool may have died before it was used
      const mayRepeat = hasBegun ? retryable.includes(sqlStateOf(error)) : !isPoolTimeout(error)
      if (!mayRepeat || retries === maxRetries) throw error
    }
    await sleep(retryMillis * 2 ** retries * (0.5 + Math.random()))
  }
}

/** Whether the pool had no free connection for 5 seconds. `pg` gives this error no code. */
function isPoolTimeout(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying')
}

/** Makes a driver whose transactions begin with `begin`: several statements in one round trip. */
function driverThatBeginsWith(begin: string, dialect: Dialect): Driver {
  const driver = dialect.createDriver()
  driver.beginTransaction = async connection => {
    try {
      await connection.executeQuery(CompiledQuery.raw(begin))
    } catch (error) {
      // the first statement may have begun it; a connection that cannot roll back is closed
      await driver.rollbackTransaction(connection).catch(() => undefined)
      throw error
    }
  }
  return driver
}

/**
 * Returns the `code` of an error, which is the SQLSTATE if PostgreSQL reported the error. Returns
 * an empty string if the error has no code.
 */
function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
