import {
  type CompiledQuery,
  DefaultQueryExecutor,
  type Dialect,
  DummyDriver,
  Kysely,
  type KyselyProps,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult
} from 'kysely'
import type { PipelinedTransaction } from './pipelined-transaction.ts'
import type { Database } from './schema.ts'
import { statementName } from './statement-names.ts'

const adapter = new PostgresAdapter()
const compiler = new PostgresQueryCompiler()
const driver = new DummyDriver()
const dialect: Dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: db => new PostgresIntrospector(db),
  createQueryCompiler: () => compiler
}

/** Builds statements and cannot run them. */
export type StatementBuilder = Kysely<Database>
export const statementBuilder: StatementBuilder = new Kysely<Database>({ dialect })

/**
 * Returns the constructor arguments of a Kysely transaction that builds queries and lets
 * `transaction` send them.
 */
export function executorProps(transaction: PipelinedTransaction): KyselyProps {
  return { config: { dialect }, dialect, driver, executor: new PipelinedExecutor(transaction) }
}

/** Sends a query at the moment of the call. Kysely's own executor first waits for a connection. */
class PipelinedExecutor extends DefaultQueryExecutor {
  readonly #transaction: PipelinedTransaction

  constructor(transaction: PipelinedTransaction) {
    super(compiler, adapter, { provideConnection: refuseConnection })
    this.#transaction = transaction
  }

  override async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = parameters.length > 0 ? statementName(sql) : undefined
    const statement = { name, text: sql, values: [...parameters] }
    const { command, rowCount, rows } = await this.#transaction.send<Row & object>(statement)
    return writes.includes(command) ? { numAffectedRows: BigInt(rowCount ?? 0), rows } : { rows }
  }
}

const writes = ['INSERT', 'UPDATE', 'DELETE', 'MERGE']

/**
 * Refuses a connection to Kysely, which requests one only for streams. A stream would keep the
 * transaction open while it is read.
 */
async function refuseConnection(): Promise<never> {
  throw new Error('streams of rows are not supported: read in pages')
}
