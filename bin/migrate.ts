import { join } from 'node:path'
import { readConfig } from '../src/server/config.ts'
import { migrate } from '../src/server/db/migrate.ts'
import { startPostgres } from '../src/server/db/postgres.ts'

// Applies the missing migrations to the configured database and starts nothing else.
try {
  const applied = await migrateOurs()
  process.stdout.write(`${applied.length === 0 ? 'No migrations to apply.' : applied.join('\n')}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function migrateOurs(): Promise<string[]> {
  const { database, dataDir } = readConfig()
  if (database) return migrate(database)
  await using postgres = await startPostgres({ dir: join(dataDir, 'pg') })
  return await migrate({ socketDir: postgres.socketDir, database: 'vidimus' })
}
