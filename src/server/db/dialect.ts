import {
  type Dialect,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler
} from 'kysely'

/** Kysely as a builder of statements: nothing is ever run through it. */
export const adapter = new PostgresAdapter()
export const compiler = new PostgresQueryCompiler()
export const driver = new DummyDriver()
export const dialect: Dialect = {
  createAdapter: () => adapter,
  createDriver: () => driver,
  createIntrospector: db => new PostgresIntrospector(db),
  createQueryCompiler: () => compiler
}
