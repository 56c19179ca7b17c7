import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../../src/server/db/migrate.ts'
import { startPostgres } from '../../../src/server/db/postgres.ts'
import { systemBinaries } from '../../../src/server/db/postgres-binaries.ts'
import { makeScratchFolder } from '../scratch-folder.ts'

const template = 'vidimus_template'
const systemFolder = process.env.POSTGRES_BIN

/**
 * Starts one database server for the whole run. It has one migrated database, which every test file
 * copies. Also gives the tests one folder for all their temporary files.
 */
export async function setup(project: TestProject) {
  const folder = makeScratchFolder()
  // of the test processes, too, which start later
  process.env.TMPDIR = folder
  const postgres = await startPostgres({
    dir: join(folder, 'pg'),
    // a PostgreSQL of the system instead of the bundled one: /usr/lib/postgresql/15/bin
    ...(systemFolder && { binaries: () => systemBinaries(systemFolder) }),
    settings: {
      // no data outlives the run, so none has to be written to disk
      fsync: 'off',
      full_page_writes: 'off',
      synchronous_commit: 'off',
      max_wal_size: '256MB'
    }
  })
  await migrate({ socketDir: postgres.socketDir, database: template })
  project.provide('database', { socketDir: postgres.socketDir, template })
  return async () => {
    await postgres.stop({ evenIfShared: true })
    await rm(folder, { recursive: true, force: true })
  }
}
