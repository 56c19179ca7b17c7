import type { CompiledQuery } from 'kysely'
import { type StatementBuilder, statementBuilder } from './query-executor.ts'
import { statementName } from './statement-names.ts'

/**
 * A statement whose SQL is built once and then run with different values:
 * `tx.run(prepared, values)`
 */
export interface PreparedStatement<Values extends object, Row> {
  bind(values: Values): { name: string | undefined; text: string; values: unknown[] }
  /** Tells the type checker the type of a row. Never set at run time. */
  readonly row?: Row
}

interface Buildable<Row> {
  compile(builder: StatementBuilder): CompiledQuery<Row>
}

/**
 * Returns a statement that can be run with different values. `build` creates its SQL at the first
 * use; later uses skip this step, which takes about as long as running the statement. `build` gets
 * a placeholder for each value. It may only pass the placeholder on as a parameter; reading a
 * placeholder throws.
 */
export function prepareStatement<Values extends object, Row>(
  build: (db: StatementBuilder, values: Values) => Buildable<Row>
): PreparedStatement<Values, Row> {
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
