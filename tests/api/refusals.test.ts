import { randomUUID } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { appLogsInAsOwner } from '../../src/server/db/connection-config.ts'
import { migrate } from '../../src/server/db/migrate.ts'
import { openDatabase } from '../../src/server/db/open.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { inCompany, inNoCompany, toCompanyId } from '../../src/server/db/scope.ts'
import { findDatabaseFaults } from '../../src/server/db/security-checks.ts'
import { makeDb } from '../helpers/database.ts'
import { listenLocally } from '../helpers/servers/listen.ts'
import { runCount, testTimeout } from '../helpers/soak.ts'

// B-06

const rounds = runCount(60, 100_000)
// The test server saves its syncs, which is a fault of its own.
const ofTests = /^The database setting/

let database: Awaited<ReturnType<typeof makeDb>>
beforeEach(async () => {
  database = await makeDb()
})
afterEach(() => database[Symbol.asyncDispose]())

const faults = async () =>
  (await findDatabaseFaults(database.db)).filter(each => !ofTests.test(each))

describe('a start on a database', () => {
  test('is not refused for what the migrations made', async () => {
    expect(await faults()).toEqual([])
  })

  test('is refused where settings may lose what was acknowledged', async () => {
    expect((await findDatabaseFaults(database.db)).sort()).toEqual([
      'The database setting fsync is off.',
      'The database setting full_page_writes is off.',
      'The database setting synchronous_commit is off.'
    ])
  })

  test.each([
    [
      'no forced row security',
      'alter table request no force row level security',
      /^Table request holds rows/
    ],
    ['no row security', 'alter table deposit disable row level security', /^Table deposit holds/],
    ['no policy', 'drop policy tenant on upload', /^Table upload holds/],
    ['companies without row security', 'alter table company disable row level security', /company/],
    [
      'a new table of companies',
      'create table later (company_id uuid, n int)',
      /^Table later holds rows/
    ],
    [
      'a definer function',
      `create function anything() returns int language sql security definer as 'select 1'`,
      /^Function anything\(\) runs with its owner/
    ],
    [
      'a definer function in another schema',
      `create schema aside; create function aside.anything() returns int language sql security definer as 'select 1'`,
      /^Function aside\.anything\(\)/
    ],
    [
      'a table that the request role owns',
      'create table own (n int); grant create on schema public to vidimus_app; alter table own owner to vidimus_app',
      /^The request role owns own/
    ]
  ])('is refused for %s', async (_what, statement, sentence) => {
    await database.owner.query(statement)
    expect(await faults()).toEqual([expect.stringMatching(sentence)])
  })

  test('is refused in a role that is no vidimus_app, and in one above the rules', async () => {
    const { socketDir, name } = database
    const found = async (user: string) => {
      const url = `postgres:///${name}?host=${socketDir}&user=${user}`
      await using db = await openDatabase({ url, ownerUrl: url })
      return await findDatabaseFaults(db)
    }
    expect(await found('postgres')).toEqual(
      expect.arrayContaining([
        'The request role postgres is a superuser or bypasses row-level security.',
        expect.stringMatching(/^Requests run as postgres/),
        expect.stringMatching(/^The request role owns/)
      ])
    )
  })

  test.each([
    [`update schema_migration set sha256 = 'x' where name like '0001%'`, /was edited after/],
    [`insert into schema_migration values ('9999-later.sql', 'x', now())`, /does not know/],
    [`delete from schema_migration where name like '0001%'`, /numbered below|give it the next/]
  ])('is refused where the schema is another version: %s', async (statement, sentence) => {
    await database.owner.query(statement)
    const { socketDir, name } = database
    await expect(migrate({ socketDir, database: name })).rejects.toThrow(sentence)
  })
})

describe('an operator’s database', () => {
  test('is migrated by an owner who is no superuser, and serves in the bound role', async () => {
    await using external = await makeExternal()
    expect(appLogsInAsOwner(external.place)).toBe(true)
    expect(await migrate(external.place)).toContain('0001-init.sql')
    expect(await migrate(external.place)).toEqual([])
    await using db = await openDatabase(external.place)
    expect((await findDatabaseFaults(db)).filter(each => !ofTests.test(each))).toEqual([])
    await inNoCompany(db, async tx => {
      const rows = await tx.raw({ text: 'select current_user as who', values: [] })
      expect(rows).toEqual([{ who: 'vidimus_app' }])
    })
  })

  test('keeps owner and requests apart with two logins', async () => {
    await using external = await makeExternal()
    const { socketDir, name, place } = external
    const ownerUrl = place.url
    const both = { url: `postgres:///${name}?host=${socketDir}&user=vidimus_app`, ownerUrl }
    expect(appLogsInAsOwner(both)).toBe(false)
    await migrate(both)
    await using db = await openDatabase(both)
    expect((await findDatabaseFaults(db)).filter(each => !ofTests.test(each))).toEqual([])
  })

  test('that does not answer is refused with a sentence and without its password', async () => {
    const url = `postgres://me:secret@127.0.0.1:1/nowhere`
    const error = await migrate({ url }).catch(each => each)
    expect(error.message).toMatch(/^DATABASE_URL cannot be used: /)
    expect(error.message).not.toContain('secret')
    const owner = await migrate({ url: 'postgres://other@127.0.0.1:1/x', ownerUrl: url }).catch(
      each => each
    )
    expect(owner.message).toMatch(/^DATABASE_OWNER_URL cannot be used: /)
    expect(owner.message).not.toContain('secret')
  })

  test('off this machine is reached over TLS only, unless the address says otherwise', async () => {
    await using external = await makeExternal()
    const port = await overNetwork(external.socketDir)
    // leads to this machine and does not say so
    const url = `postgres://${external.name}@0.0.0.0:${port}/${external.name}`
    await expect(migrate({ url })).rejects.toThrow(
      /^DATABASE_URL cannot be used: The server does not support SSL connections\. Turn TLS on/
    )
    expect(await migrate({ url: `${url}?sslmode=disable` })).toContain('0001-init.sql')
    await using _db = await openDatabase({ url: `${url}?sslmode=disable` })
    await expect(openDatabase({ url })).rejects.toThrow(/does not support SSL/)
    await using _local = await openDatabase({ url: url.replace('0.0.0.0', '127.0.0.1') })
  })

  test('whose owner may make no roles is refused with what to do', async () => {
    await using external = await makeExternal('nocreaterole')
    await expect(migrate(external.place)).rejects.toThrow(/CREATEROLE/)
  })
})

test(
  `a connection never carries a company over, in ${rounds} transactions of which half abort`,
  async () => {
    const companies = Array.from({ length: 5 }, () => toCompanyId(randomUUID()))
    for (const id of companies) {
      await database.owner.query(
        'insert into company (id, name, created_at) values ($1::uuid, $1::text, now())',
        [id]
      )
    }
    let aborted = 0
    const one = async (nr: number) => {
      const company = companies[nr % companies.length] ?? toCompanyId(randomUUID())
      const how = nr % 4
      const work = inCompany(database.db, company, async tx => {
        const rows = await tx.selectFrom('company').select('id').execute()
        expect(rows).toEqual([{ id: company }])
        if (how === 1) throw new Error('given up')
        if (how === 2) await tx.raw({ text: 'select 1 / 0', values: [] })
      })
      if (how === 1 || how === 2) {
        await expect(work).rejects.toThrow(/given up|division by zero/)
        aborted += 1
      } else await work
      // between two companies there is none
      if (how === 3) {
        await inNoCompany(database.db, async tx => {
          expect(await tx.selectFrom('company').select('id').execute()).toEqual([])
        })
      }
    }
    for (let nr = 0; nr < rounds; nr += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => one(nr + index)))
    }
    expect(aborted).toBe(rounds / 2)
  },
  testTimeout(120_000)
)

/**
 * Opens a port that forwards connections to a PostgreSQL server which listens on a socket only.
 * Returns the port.
 */
async function overNetwork(socketDir: string): Promise<number> {
  const server = createServer(client => {
    const onward = connect(join(socketDir, '.s.PGSQL.5432'))
    onward.on('error', () => client.destroy())
    client.on('error', () => onward.destroy())
    client.pipe(onward).pipe(client)
  })
  onTestFinished(() => void server.close())
  return listenLocally(server)
}

/** Creates an empty database. Its owner is a login without the rights of a superuser. */
async function makeExternal(may: 'createrole' | 'nocreaterole' = 'createrole') {
  const { socketDir } = inject('database')
  const name = `external_${randomUUID().replaceAll('-', '')}`
  const superuser = new pg.Client(socketConnectionConfig(socketDir, 'postgres', 'postgres'))
  await superuser.connect()
  await superuser.query(`create role ${name} login ${may}`)
  if (may === 'createrole') {
    // the roles of this server are made already, and since 16 their maker alone may grant them
    await superuser.query(`grant vidimus_app, vidimus_resolver to ${name} with admin option`)
  }
  await superuser.query(`create database ${name} owner ${name}`)
  const url = `postgres:///${name}?host=${socketDir}&user=${name}`
  return {
    place: { url },
    socketDir,
    name,
    async [Symbol.asyncDispose]() {
      await superuser.query(`drop database ${name} with (force)`)
      await superuser.query(`drop role ${name}`).catch(() => undefined)
      await superuser.end()
    }
  }
}
