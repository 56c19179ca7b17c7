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

/** A Kysely instance that builds SQL and cannot run it. */
export type StatementBuilder = Kysely<Database>
/** The Kysely instance that builds the SQL of prepared statements. It cannot run SQL. */
export const statementBuilder: StatementBuilder = new Kysely<Database>({ dialect })

/**
 * Returns the arguments with which to construct a Kysely transaction that sends its queries through
 * `transaction`.
 */
export function kyselyTransactionProps(transaction: PipelinedTransaction): KyselyProps {
  return { config: { dialect }, dialect, driver, executor: new PipelinedExecutor(transaction) }
}

/**
 * Sends each of Kysely's queries to PostgreSQL immediately. Kysely's own executor would first wait
 * for a connection.
 */
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
 * Always throws. Kysely requests a connection only for streamed results, and a stream would keep
 * the transaction open for as long as somebody reads it.
 */
async function refuseConnection(): Promise<never> {
  throw new Error('streams of rows are not supported: read in pages')
}
