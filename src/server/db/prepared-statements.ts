import type { CompiledQuery } from 'kysely'
import { type StatementBuilder, statementBuilder } from './query-executor.ts'
import { statementName } from './statement-names.ts'

/**
 * A statement whose SQL is built once and then run with different values:
 * `tx.run(prepared, values)`
 */
export interface Prepared<Values extends object, Row> {
  bind(values: Values): { name: string | undefined; text: string; values: unknown[] }
  /** The type of a row, for the type checker only. Never set at run time. */
  readonly row?: Row
}

/** A Kysely query or an `sql` text, which a builder can compile to SQL. */
interface Buildable<Row> {
  compile(builder: StatementBuilder): CompiledQuery<Row>
}

/**
 * Returns a statement whose SQL is created by `build` at the first use. Building SQL takes about as
 * long as running it, so the statements of frequent calls are prepared. `build` gets a placeholder
 * for each value. It may pass placeholders on as parameters; reading one throws.
 */
export function prepare<Values extends object, Row>(
  build: (db: StatementBuilder, values: Values) => Buildable<Row>
): Prepared<Values, Row> {
  let built: { name: string | undefined; text: string; parameters: readonly unknown[] } | undefined
  const buildOnce = () => {
    const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) })
    // as: a builder passes its values on and never reads them
    const query = build(statementBuilder, placeholders as Values).compile(statementBuilder)
    built = { name: statementName(query.sql), text: query.sql, parameters: query.parameters }
    return built
  }
  return {
    bind(values) {
      const { name, text, parameters } = built ?? buildOnce()
      const bound = parameters.map(each =>
        each instanceof Placeholder ? each.valueIn(values) : each
      )
      return { name, text, values: bound }
    }
  }
}

/** Takes the place of a value while the SQL of a statement is built. */
class Placeholder {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  valueIn(values: object): unknown {
    return Reflect.get(values, this.#name)
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`a prepared statement cannot read the value of ${this.#name}`)
  }

  toJSON(): never {
    return this[Symbol.toPrimitive]()
  }
}
