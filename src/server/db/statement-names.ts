import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type pg from 'pg'

// each connection keeps its prepared statements in memory until it is closed
const maxNames = 500
const names = new Map<string, string>()

/** PostgreSQL prepares a statement that has a name, so each connection parses and plans it once. */
export function nameStatements(pool: pg.Pool): PostgresPool {
  // one object per connection, because Kysely recognizes its connections by it
  const named = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect()
      const known = named.get(client) ?? nameStatementsOf(client)
      named.set(client, known)
      return known
    }
  }
}

function nameStatementsOf(client: pg.PoolClient): PostgresPoolClient {
  const query = (text: string, values: readonly unknown[]) =>
    client.query({ name: values.length > 0 ? nameOf(text) : undefined, text, values: [...values] })
  // as: streams of rows, which take a cursor here, are not used
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: isBroken => client.release(isBroken)
  }
}

function nameOf(text: string): string | undefined {
  const name = names.get(text) ?? (names.size < maxNames ? `k${names.size}` : undefined)
  if (name !== undefined) names.set(text, name)
  return name
}
