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
export type CompanyId = string & { readonly [brand]: 'CompanyId' }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function toCompanyId(text: string): CompanyId {
  const id = parseCompanyId(text)
  if (id === undefined) throw new Error('a company id is a UUID')
  return id
}

export function parseCompanyId(text: string): CompanyId | undefined {
  const lower = text.toLowerCase()
  return uuid.test(lower) ? (lower as CompanyId) : undefined // as: the pattern has checked it
}

/**
 * Sees only the rows of `company`, and commits when `run` returns. After a deadlock, a
 * serialization failure or a connection that was dead before its use, `run` is called again, so its
 * effects outside the database belong in `tx.afterCommit`.
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
 * Sees only the tables whose rows belong to no company, and may call the functions that read across
 * companies.
 */
export function inNoCompany<T>(db: Db, run: (tx: TxWithoutCompany) => Promise<T>): Promise<T> {
  return inTransaction(db, 'begin', async props => {
    const tx = new TxWithoutCompany(props)
    return { result: await run(tx), effects: tx.effects }
  })
}

/**
 * Commits by itself, so a lock that it takes ends without waiting for this process. Sees what
 * `inNoCompany` sees. Is repeated after a lost connection, and may then have run twice, unless
 * `mayRunTwice` is false.
 */
export async function inOneStatement<Row extends object>(
  db: Db,
  { text, values }: Statement,
  { mayRunTwice = true }: { mayRunTwice?: boolean } = {}
): Promise<Row[]> {
  const query = CompiledQuery.raw(text, values)
  const { rows } = await repeatedAfterFailures(onBegin => {
    if (!mayRunTwice) onBegin()
    return kyselyOf(db).executor.executeQuery<Row>(query)
  })
  return rows
}

export interface Statement {
  text: string
  values: unknown[]
}

class BaseTx extends Transaction<Database> {
  readonly effects: (() => void)[] = []

  async raw<Row extends object>({ text, values }: Statement): Promise<Row[]> {
    return (await this.executeQuery<Row>(CompiledQuery.raw(text, values))).rows
  }

  afterCommit(run: () => void): void {
    this.effects.push(run)
  }
}

export class Tx extends BaseTx {
  readonly companyId: CompanyId
  readonly #auditEntries: { company: CompanyId; statement: Statement }[] = []
  #mayAudit = true

  constructor(props: KyselyProps, company: CompanyId) {
    super(props)
    this.companyId = company
  }

  /** Runs at the end, because it locks a row that all changes of the company need. */
  addAuditEntry(company: CompanyId, statement: Statement): void {
    if (!this.#mayAudit) throw new Error('the audit head is locked before the log head')
    this.#auditEntries.push({ company, statement })
  }

  /**
   * Called by `finishWithLogs`, and otherwise before the commit. The order of the companies keeps
   * two transactions from waiting for each other.
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
  const { result, effects } = await repeatedAfterFailures(onBegin =>
    new TransactionBuilder(props).execute(transaction => {
      onBegin()
      return run({ ...props, executor: transaction.getExecutor() })
    })
  )
  for (const effect of effects) effect()
  return result
}

// once `run` has begun its work, only after failures that leave no trace
async function repeatedAfterFailures<T>(run: (onBegin: () => void) => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries++) {
    let hasBegun = false
    try {
      return await run(() => {
        hasBegun = true
      })
    } catch (error) {
      // a connection of the pool may have died before it was used
      const mayRepeat = hasBegun ? retryable.includes(sqlStateOf(error)) : !isTimeout(error)
      if (!mayRepeat || retries === maxRetries) throw error
    }
    await sleep(retryMillis * 2 ** retries * (0.5 + Math.random()))
  }
}

// lock_not_available, query_canceled
const timeouts = ['55P03', '57014']

// `pg` gives the error of its pool no code
function isTimeout(error: unknown): boolean {
  if (timeouts.includes(sqlStateOf(error))) return true
  return error instanceof Error && error.message.startsWith('timeout exceeded when trying')
}

// several statements in one round trip
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

function sqlStateOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
