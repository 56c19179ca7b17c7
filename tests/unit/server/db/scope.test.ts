import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { poolOf } from '../../../../src/server/db/open.ts'
import {
  type CompanyId,
  inCompany,
  inNoCompany,
  type Tx,
  toCompanyId
} from '../../../../src/server/db/scope.ts'
import { makeDb } from '../../../helpers/database.ts'

let made: Awaited<ReturnType<typeof makeDb>>
let acme: CompanyId
let globex: CompanyId

beforeAll(async () => {
  made = await makeDb()
})
afterAll(() => made[Symbol.asyncDispose]())
beforeEach(async () => {
  acme = toCompanyId(randomUUID())
  globex = toCompanyId(randomUUID())
  for (const id of [acme, globex]) {
    await inCompany(made.db, id, tx => insertCompany(tx, id))
  }
})

test('sees the rows of one company and none of another', async () => {
  expect(await inCompany(made.db, acme, idsOf)).toEqual([acme])
  expect(await inCompany(made.db, globex, idsOf)).toEqual([globex])
  expect(await inNoCompany(made.db, idsOf)).toEqual([])
})

test('writes nothing into another company', async () => {
  const stranger = toCompanyId(randomUUID())
  await expect(inCompany(made.db, acme, tx => insertCompany(tx, stranger))).rejects.toMatchObject({
    code: '42501'
  })
  const renamed = await inCompany(made.db, acme, tx =>
    tx.updateTable('company').set({ name: 'Mine' }).where('id', '=', globex).executeTakeFirst()
  )
  expect(renamed.numUpdatedRows).toBe(0n)
})

test('a connection shows no company after it served one', async () => {
  await using fresh = await makeDb()
  const state = (tx: { raw: Tx['raw'] }) =>
    tx.raw<{ pid: number; company: string | null }>({
      text: "select pg_backend_pid() as pid, current_setting('app.company_id', true) as company",
      values: []
    })
  const [before] = await inNoCompany(fresh.db, state)
  const [during] = await inCompany(fresh.db, acme, state)
  const [after] = await inNoCompany(fresh.db, state)
  // never set reads null, set once reads '' from then on: the policies have to take both
  expect([before?.company, during?.company, after?.company]).toEqual([null, acme, ''])
  expect(new Set([before?.pid, during?.pid, after?.pid]).size).toBe(1)
  expect(await inNoCompany(fresh.db, idsOf)).toEqual([])
})

test('finds hosts and companies through the two functions across tenants', async () => {
  const found = await inNoCompany(made.db, tx =>
    tx.raw<{ id: string }>({ text: 'select list_companies() as id', values: [] })
  )
  expect(found.map(row => row.id)).toEqual(expect.arrayContaining([acme, globex]))
})

test('refuses a company id that is no UUID', async () => {
  const forged = "x', true); drop table company; --" as CompanyId
  expect(() => toCompanyId('acme')).toThrow('a company id is a UUID')
  expect(() => inCompany(made.db, forged, idsOf)).toThrow('a company id is a UUID')
  expect(toCompanyId(acme.toUpperCase())).toBe(acme)
})

test('undoes everything when the callback throws, and runs nothing after it', async () => {
  const woken: string[] = []
  const failing = inCompany(made.db, acme, async tx => {
    tx.afterCommit(() => woken.push('never'))
    await rename(tx, 'Gone')
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect(woken).toEqual([])
  expect(await inCompany(made.db, acme, nameOfCompany)).toBe('Acme')
})

test('runs what follows a commit once, when the commit can be seen', async () => {
  const seen: Promise<unknown>[] = []
  const answer = await inCompany(made.db, acme, async tx => {
    tx.afterCommit(() => seen.push(inCompany(made.db, acme, nameOfCompany)))
    await rename(tx, 'Renamed')
    return 'answer'
  })
  expect(answer).toBe('answer')
  expect(await Promise.all(seen)).toEqual(['Renamed'])
})

test('does not pass off as committed what a swallowed failure has undone', async () => {
  const woken: string[] = []
  const swallowing = inCompany(made.db, acme, async tx => {
    tx.afterCommit(() => woken.push('never'))
    await rename(tx, 'Gone')
    await sql`select 1 / 0`.execute(tx).catch(() => undefined)
  })
  await expect(swallowing).rejects.toThrow('rolled back instead of committed')
  expect(woken).toEqual([])
  expect(await inCompany(made.db, acme, nameOfCompany)).toBe('Acme')
})

test('starts a deadlocked transaction again', async () => {
  const groups = [randomUUID(), randomUUID()]
  await inCompany(made.db, acme, async tx => {
    for (const id of groups) {
      const row = { company_id: acme, id, name: `Group ${id}`, created_at: new Date() }
      await tx.insertInto('group').values(row).execute()
    }
  })
  let attempts = 0
  let held = 0
  let woken = 0
  const bothHold = Promise.withResolvers<void>()
  const renameBoth = (order: string[], name: string) =>
    inCompany(made.db, acme, async tx => {
      attempts++
      tx.afterCommit(() => woken++)
      for (const id of order) {
        await tx
          .updateTable('group')
          .set({ name: `${name} ${id}` })
          .where('id', '=', id)
          .execute()
        held++
        if (held === 2) bothHold.resolve()
        await bothHold.promise
      }
    })
  await Promise.all([renameBoth(groups, 'A'), renameBoth(groups.toReversed(), 'B')])
  // the one that starts again may overtake the other and meet it once more
  expect(attempts).toBeGreaterThanOrEqual(3)
  expect(woken).toBe(2)
})

test.each([
  ['40001', 4],
  ['40P01', 4],
  ['23505', 1],
  ['55P03', 1]
])('tries a transaction that fails with %s %i times in all', async (code, times) => {
  let attempts = 0
  const failing = inCompany(made.db, acme, async tx => {
    attempts++
    await sql`do ${sql.raw(`$$ begin raise exception using errcode = '${code}'; end $$`)}`.execute(
      tx
    )
  })
  await expect(failing).rejects.toMatchObject({ code })
  expect(attempts).toBe(times)
})

test('refuses statements through a transaction that has ended', async () => {
  let leaked: Tx | undefined
  await inCompany(made.db, acme, async tx => {
    leaked = tx
  })
  await expect(async () => leaked && idsOf(leaked)).rejects.toThrow(/already committed/)
})

test('prepares a statement once per connection', async () => {
  await using fresh = await makeDb()
  for (const id of [acme, globex, acme]) {
    await inCompany(fresh.db, id, tx =>
      tx.selectFrom('company').select('name').where('id', '=', id).execute()
    )
  }
  const prepared = await inNoCompany(fresh.db, tx =>
    sql<{
      statement: string
    }>`select statement from pg_prepared_statements order by prepare_time`.execute(tx)
  )
  expect(prepared.rows).toEqual([{ statement: 'select "name" from "company" where "id" = $1' }])
})

test('reads bigint as a number, and refuses one that does not fit', async () => {
  const read = (text: string) =>
    inNoCompany(made.db, tx => sql<{ n: number }>`select ${sql.raw(text)}::bigint as n`.execute(tx))
  expect((await read('9007199254740991')).rows).toEqual([{ n: 9007199254740991 }])
  await expect(read('9007199254740992')).rejects.toThrow('does not fit a number')
  expect((await read('1')).rows).toEqual([{ n: 1 }])
})

test('waits for a connection once, for five seconds', async () => {
  await using fresh = await makeDb()
  const isOver = Promise.withResolvers<void>()
  const { max } = poolOf(fresh.db).options
  let begun = 0
  const holders = Array.from({ length: max }, () =>
    inCompany(fresh.db, acme, async () => {
      begun++
      await isOver.promise
    })
  )
  await expect.poll(() => begun).toBe(max)
  const from = performance.now()
  await expect(inCompany(fresh.db, globex, idsOf)).rejects.toThrow('timeout exceeded')
  expect(performance.now() - from).toBeLessThan(8_000)
  isOver.resolve()
  await Promise.all(holders)
})

test('survives the loss of its connections', async () => {
  const lost = inCompany(made.db, acme, async tx => {
    // of this database only: other tests share the server
    await made.owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where usename = 'vidimus_app' and datname = current_database()`
    )
    await rename(tx, 'Gone')
  })
  await expect(lost).rejects.toThrow()
  // an idle connection that has not heard of its end yet may be handed out once more
  const name = () => inCompany(made.db, acme, nameOfCompany).catch(() => undefined)
  await expect.poll(name).toBe('Acme')
})

test('bounds statements, waits for locks and idle transactions', async () => {
  const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  const settings = await inNoCompany(made.db, tx =>
    sql<{
      setting: string
    }>`select setting from pg_settings where name = any(${names}) order by name`.execute(tx)
  )
  expect(settings.rows.map(row => row.setting)).toEqual(['10000', '2000', '5000'])
})

function insertCompany(tx: Tx, id: string) {
  const row = { id, name: 'Acme', created_at: new Date(), disabled: null }
  return tx.insertInto('company').values(row).execute()
}

async function idsOf(tx: Pick<Tx, 'selectFrom'>) {
  const rows = await tx.selectFrom('company').select('id').execute()
  return rows.map(row => row.id)
}

async function nameOfCompany(tx: Tx) {
  return (await tx.selectFrom('company').select('name').executeTakeFirstOrThrow()).name
}

function rename(tx: Tx, name: string) {
  return tx.updateTable('company').set({ name }).execute()
}
