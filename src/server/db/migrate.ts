import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import {
  appDatabaseRole,
  appLogsInAsOwner,
  type DatabaseLocation,
  explainConnectionError,
  ownerConnectionConfig
} from './connection-config.ts'

export type MigrateOptions = DatabaseLocation & {
  directory?: string
}

// owns the functions that read across companies; nobody logs in with it
const resolverRole = 'vidimus_resolver'
const leastMajor = 15
const ownMigrations = join(import.meta.dirname, 'migrations')

/**
 * A migration cannot be reverted. If several processes start together, one migrates and the others
 * wait.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { directory = ownMigrations } = options
  const migrations = await readMigrations(directory)
  if ('socketDir' in options) await createDatabase(options)
  await using session = await connect(options)
  const { client } = session
  if ('url' in options) await refuseOldServer(client)
  if ((await pending(client, migrations)).length === 0) return []
  await using _lock = await lockDatabaseSetup(options)
  if ('url' in options) await prepareRoles(client)
  const applied: string[] = []
  // checked again under the lock, because another process may have applied them in the meantime
  for (const migration of await pending(client, migrations)) {
    await apply(client, migration)
    applied.push(migration.name)
  }
  if ('url' in options) await client.query(`revoke create on schema public from ${resolverRole}`)
  return applied
}

interface Migration {
  name: string
  sql: string
  sha256: string
}

async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter(name => name.endsWith('.sql')).sort()
  const numbers = new Set(names.map(name => name.slice(0, 4)))
  const misnamed = names.find(name => !/^\d{4}-[a-z0-9-]+\.sql$/.test(name))
  if (misnamed) throw new Error(`${misnamed} is not named like 0001-verb-noun.sql.`)
  if (numbers.size < names.length) throw new Error(`Two migrations in ${directory} share a number.`)
  return Promise.all(
    names.map(async name => {
      // line endings are normalized, so that a checkout on Windows has the same checksum
      const sql = (await readFile(join(directory, name), 'utf8')).replaceAll('\r\n', '\n')
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') }
    })
  )
}

async function pending(client: pg.Client, migrations: Migration[]): Promise<Migration[]> {
  const { rows: found } = await client.query("select to_regclass('public.schema_migration') as t")
  if (found[0].t === null) return migrations
  const { rows } = await client.query<{ name: string; sha256: string }>(
    'select name, sha256 from public.schema_migration order by name'
  )
  for (const [index, { name, sha256 }] of rows.entries()) {
    const known = migrations[index]
    if (known?.name === name && known.sha256 === sha256) continue
    throw new Error(
      known?.name === name
        ? `Migration ${name} was edited after it had been applied: restore it and add a new file.`
        : known && migrations.some(migration => migration.name === name)
          ? `Migration ${known.name} is numbered below ${name}, which has been applied: give it the next number.`
          : `The database has migration ${name}, which this version does not know: start a version that does.`
    )
  }
  return migrations.slice(rows.length)
}

// serialization_failure, deadlock_detected
const lostToOthers = ['40001', '40P01']
const maxAttempts = 5

async function apply(client: pg.Client, migration: Migration) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyOnce(client, migration)
    } catch (cause) {
      // the service runs on meanwhile, and its calls can lock the same rows in another order
      if (attempt < maxAttempts && lostToOthers.includes(Object(cause).code)) continue
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`Migration ${migration.name} failed: ${reason}.`, { cause })
    }
  }
}

async function applyOnce(client: pg.Client, { name, sql, sha256 }: Migration) {
  try {
    await client.query('begin')
    await client.query(sql)
    await client.query(
      'insert into public.schema_migration (name, sha256, applied_at) values ($1, $2, now())',
      [name, sha256]
    )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Lets one process at a time apply migrations or create keys. It is a lock on a row of a separate
 * connection, because not every database server has advisory locks.
 */
export async function lockDatabaseSetup(location: DatabaseLocation): Promise<AsyncDisposable> {
  const session = await connect(location)
  const { client } = session
  try {
    await client.query("select set_config('client_min_messages', 'warning', false)")
    await createRaced(client, [
      `create table if not exists public.schema_migration
         (name text primary key, sha256 text not null, applied_at timestamptz not null)`,
      'create table if not exists public.schema_lock (only_row boolean primary key check (only_row))',
      'insert into public.schema_lock values (true) on conflict do nothing'
    ])
    await client.query('begin')
    await client.query('select 1 from public.schema_lock for update')
  } catch (error) {
    await client.end()
    throw error
  }
  return session
}

async function createDatabase({ socketDir, database }: { socketDir: string; database: string }) {
  await using session = await connect({ socketDir, database: 'postgres' })
  const { client } = session
  const { rows } = await client.query<{ database: boolean }>(
    'select exists (select from pg_database where datname = $1) as database',
    [database]
  )
  await createRoles(client)
  if (!rows[0]?.database) {
    await createRaced(client, [`create database ${client.escapeIdentifier(database)}`])
  }
}

async function createRoles(client: pg.Client) {
  const { rows } = await client.query<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any($1)',
    [[appDatabaseRole, resolverRole]]
  )
  const bound = 'nosuperuser nobypassrls nocreaterole nocreatedb noreplication'
  const wanted = { [appDatabaseRole]: 'login', [resolverRole]: 'nologin' }
  for (const [role, login] of Object.entries(wanted)) {
    if (rows.some(({ rolname }) => rolname === role)) continue
    await createRaced(client, [`create role ${role} ${login} ${bound}`])
  }
}

async function prepareRoles(client: pg.Client) {
  try {
    await createRoles(client)
    await client.query(`grant ${appDatabaseRole}, ${resolverRole} to current_user`)
    await client.query(`grant create on schema public to ${resolverRole}`)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(
      `The login that migrates the database cannot create and grant the roles ${appDatabaseRole} and ${resolverRole} (${reason}): give the login of DATABASE_OWNER_URL, or of DATABASE_URL without it, CREATEROLE and the ownership of the database.`,
      { cause }
    )
  }
}

async function refuseOldServer(client: pg.Client) {
  const { rows } = await client.query<{ major: number }>(
    "select current_setting('server_version_num')::int / 10000 as major"
  )
  const major = rows[0]?.major ?? 0
  if (major >= leastMajor) return
  throw new Error(
    `DATABASE_URL leads to PostgreSQL ${major}: Vidimus needs ${leastMajor} or newer.`
  )
}

// unique_violation, duplicate_database, duplicate_table, duplicate_object
const lostRace = ['23505', '42P04', '42P07', '42710']

async function createRaced(client: pg.Client, statements: string[]) {
  for (const statement of statements) {
    try {
      await client.query(statement)
    } catch (error) {
      const code = error instanceof pg.DatabaseError ? (error.code ?? '') : ''
      if (!lostRace.includes(code)) throw error
    }
  }
}

async function connect(location: DatabaseLocation) {
  const client = new pg.Client(ownerConnectionConfig(location))
  // without a listener, losing the server would end this process; the running query fails anyway
  client.on('error', () => undefined)
  await client.connect().catch(cause => {
    const setting = appLogsInAsOwner(location) ? 'DATABASE_URL' : 'DATABASE_OWNER_URL'
    throw explainConnectionError(location, cause, setting)
  })
  return { client, [Symbol.asyncDispose]: () => client.end() }
}
