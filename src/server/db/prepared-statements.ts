import { type CompiledQuery, Kysely } from 'kysely'
import { dialect } from './dialect.ts'
import type { Database } from './schema.ts'
import { statementName } from './statement-names.ts'

/** A statement that is built once and run with other values each time: `tx.run(prepared, values)`. */
export interface Prepared<Values extends object, Row> {
  bind(values: Values): { name: string | undefined; text: string; values: unknown[] }
  /** Says what a row is; never there. */
  readonly row?: Row
}

/** What stands for a value while the statement is built. */
class Slot {
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  of(values: object): unknown {
    return Reflect.get(values, this.#name)
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`a prepared statement cannot look at ${this.#name}`)
  }

  toJSON(): never {
    return this[Symbol.toPrimitive]()
  }
}

/** What builds statements; it runs none. */
export type Builder = Kysely<Database>

/** A query of Kysely, or an `sql` text. */
interface Built<Row> {
  compile(builder: Builder): CompiledQuery<Row>
}

/**
 * For calls that are made often: building a statement takes as long as PostgreSQL takes to run it.
 * `build` may put each value where a value stands, and must not look at it.
 */
export function prepare<Values extends object, Row>(
  build: (db: Builder, values: Values) => Built<Row>
): Prepared<Values, Row> {
  let made: { name: string | undefined; text: string; parameters: readonly unknown[] } | undefined
  const make = () => {
    const slots = new Proxy({}, { get: (_none, name) => new Slot(String(name)) })
    // as: what a slot is not, no builder asks
    const { sql, parameters } = build(builder, slots as Values).compile(builder)
    made = { name: statementName(sql), text: sql, parameters }
    return made
  }
  return {
    bind(values) {
      const { name, text, parameters } = made ?? make()
      const bound = parameters.map(each => (each instanceof Slot ? each.of(values) : each))
      return { name, text, values: bound }
    }
  }
}

const builder: Builder = new Kysely<Database>({ dialect })
