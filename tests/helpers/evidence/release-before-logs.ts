import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { migrate } from '../../../src/server/db/migrate.ts'
import { type Db, openDatabase } from '../../../src/server/db/open.ts'
import { socketConnectionConfig } from '../../../src/server/db/postgres.ts'
import type { TestApp } from '../app.ts'
import { copyRows } from './copied-rows.ts'

const firstOfLogs = '0069-add-logs.sql'
const ours = join(import.meta.dirname, '../../../src/server/db/migrations')

/**
 * Makes the database that the release before the public logs would have with the companies of `app`,
 * whose logs must not have begun: leaves in any physical order, numbered with gaps, and counters that
 * are those of the last leaf, or 0.
 */
export async function makeDatabaseOfReleaseBefore(app: TestApp) {
  const { socketDir } = app.database
  const name = `before_${randomUUID().replaceAll('-', '')}`
  const directory = join(app.folder, 'migrations-before')
  await mkdir(directory)
  const names = (await readdir(ours)).filter(each => each.endsWith('.sql') && each < firstOfLogs)
  await Promise.all(names.map(each => copyFile(join(ours, each), join(directory, each))))
  const place = { socketDir, database: name }
  await migrate({ ...place, directory })
  const owner = new pg.Pool({ ...socketConnectionConfig(socketDir, name, 'postgres'), max: 1 })
  owner.on('error', () => undefined)
  await copyRows(app.owner, owner, rowsOf)
  const opened: Db[] = []
  return {
    owner,
    /** As a process of that release does when it starts. */
    migrateAsBefore: () => migrate({ ...place, directory }),
    migrate: () => migrate(place),
    async open(): Promise<Db> {
      const db = await openDatabase(place)
      opened.push(db)
      return db
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([owner.end(), ...opened.map(db => db.close())])
      await app.owner.query(`drop database ${name} with (force)`)
    }
  }
}

// what is not as it is in the table of today
const rowsOf: Record<string, string> = {
  log_leaf: `
    select jsonb_build_object('company_id', company_id, 'seq', idx * 3 + idx / 100 * 7,
      'record_id', leaf_id, 'leaf', leaf, 'hash', hash)::text as row
      from log_leaf order by md5(leaf_id)`,
  // one that has no deposit since leaves have a counter has 0
  log_head: `
    select (to_jsonb(h) || jsonb_build_object('leaf_seq', case
      when origin like 'beta.%' then 0 else leaf_seq * 3 + leaf_seq / 100 * 7 end))::text as row
      from log_head h`
}
