import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Db, openDatabase, poolOf } from '../../src/server/db/open.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    database: { socketDir: string; template: string }
  }
}

/**
 * Creates a new database with the current schema. `owner` bypasses row level security, so that
 * tests can check all rows.
 */
export async function makeDb() {
  const { socketDir, template } = inject('database')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  server ??= openServer(socketDir)
  // the other strategy writes each page to the write-ahead log, which takes five times as long
  await server.query(`create database ${name} template ${template} strategy file_copy`)
  const db = await openDatabase({ socketDir, database: name })
  const owner = new pg.Pool({ ...socketConnectionConfig(socketDir, name, 'postgres'), max: 4 })
  owner.on('error', () => undefined)
  return {
    db,
    owner,
    name,
    socketDir,
    async [Symbol.asyncDispose]() {
      await Promise.all([db.close(), owner.end()])
      await server?.query(`drop database ${name} with (force)`)
    }
  }
}

interface Statement {
  text: string
  values: unknown[]
}

/**
 * Returns the statements matching `wanted` that the product sends to its database while `run` runs.
 */
export async function statementsOf(
  db: Db,
  wanted: RegExp,
  run: () => Promise<unknown>
): Promise<Statement[]> {
  const seen: Statement[] = []
  const listen = (client: pg.PoolClient) => {
    if (Object.hasOwn(client, 'query')) return
    const query = client.query.bind(client) as (config: unknown) => unknown // as: one of its overloads
    const heard = (config: string | pg.QueryConfig) => {
      if (typeof config !== 'string' && wanted.test(config.text)) {
        seen.push({ text: config.text, values: config.values ?? [] })
      }
      return query(config)
    }
    client.query = heard as typeof client.query // as: the scope sends texts and configs only
    undo.push(() => Reflect.deleteProperty(client, 'query'))
  }
  const undo: (() => void)[] = []
  poolOf(db).on('acquire', listen)
  try {
    await run()
  } finally {
    poolOf(db).off('acquire', listen)
    for (const each of undo) each()
  }
  return seen
}

/** The connection on which this process creates and drops databases. */
let server: pg.Pool | undefined

function openServer(socketDir: string): pg.Pool {
  const pool = new pg.Pool({
    ...socketConnectionConfig(socketDir, 'postgres', 'postgres'),
    max: 1,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true
  })
  pool.on('error', () => undefined) // the server may end before this process
  return pool
}
