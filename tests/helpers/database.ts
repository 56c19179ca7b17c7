import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { openDatabase } from '../../src/server/db/open.ts'
import { connectionTo } from '../../src/server/db/postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    database: { socketDir: string; template: string }
  }
}

/** A freshly migrated database of its own. `owner` sees every row, so tests can look behind `db`. */
export async function makeDb() {
  const { socketDir, template } = inject('database')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await asOwner(socketDir, `create database ${name} template ${template}`)
  const db = await openDatabase({ socketDir, database: name })
  const owner = new pg.Pool({ ...connectionTo(socketDir, name, 'postgres'), max: 4 })
  owner.on('error', () => undefined)
  return {
    db,
    owner,
    name,
    socketDir,
    async [Symbol.asyncDispose]() {
      await Promise.all([db.close(), owner.end()])
      await asOwner(socketDir, `drop database ${name} with (force)`)
    }
  }
}

async function asOwner(socketDir: string, statement: string) {
  const client = new pg.Client(connectionTo(socketDir, 'postgres', 'postgres'))
  await client.connect()
  await client.query(statement)
  await client.end()
}
