import type { CompiledQuery } from 'kysely'
import { type StatementBuilder, statementBuilder } from './query-executor.ts'
import { statementName } from './statement-names.ts'

/** A statement that is built once and then run with other values each time: `tx.run(prepared, values)`. */
export interface Prepared<Values extends object, Row> {
  bind(values: Values): { name: string | undefined; text: string; values: unknown[] }
  /** Carries the type of a row; never set. */
  readonly row?: Row
}

/** A query of Kysely or an `sql` text. */
interface Buildable<Row> {
  compile(builder: StatementBuilder): CompiledQuery<Row>
}

/**
 * Returns a statement that `build` builds once, at its first use. Building takes about as long as
 * PostgreSQL takes to run the statement, so frequent calls prepare theirs. `build` gets a placeholder for
 * each value: it may pass it on as a parameter and throws where it reads it.
 */
export function prepare<Values extends object, Row>(
  build: (db: StatementBuilder, values: Values) => Buildable<Row>
): Prepared<Values, Row> {
  let built: { name: string | undefined; text: string; parameters: readonly unknown[] } | undefined
  const buildOnce = () => {
    const placeholders = new Proxy({}, { get: (_target, name) => new Placeholder(String(name)) })
    // as: a builder passes its values on and never looks at them
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

/** Stands for a value while a statement is built. */
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
