import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Db, openDatabase } from '../../../../src/server/db/open.ts'
import { prepareStatement } from '../../../../src/server/db/prepared-statements.ts'
import {
  inCompany,
  runSingleStatementInCompany,
  type Tx,
  toCompanyId
} from '../../../../src/server/db/scope.ts'
import { makeDb } from '../../../helpers/database.ts'
import { recordStatements } from '../../../helpers/wire.ts'

let made: Awaited<ReturnType<typeof makeDb>>
let wire: Awaited<ReturnType<typeof recordStatements>>
let db: Db
const company = toCompanyId(randomUUID())
const begin = `begin; set local app.company_id = '${company}'`

beforeAll(async () => {
  made = await makeDb()
  wire = await recordStatements(made.socketDir)
  db = await openDatabase({ socketDir: wire.socketDir, database: made.name })
})
afterAll(async () => {
  await db.close()
  await wire[Symbol.asyncDispose]()
  await made[Symbol.asyncDispose]()
})
beforeEach(() => {
  wire.statements.length = 0
})

const prepared = prepareStatement((builder, { name }: { name: string }) =>
  builder.selectFrom('company').select('name').where('name', '=', name)
)

type Way = 'raw' | 'run' | 'kysely' | 'sql'

/** The ways to send a statement, each with the SQL text that must arrive at PostgreSQL. */
const ways: Record<Way, { send(tx: Tx): Promise<unknown>; text: string }> = {
  raw: {
    send: (tx: Tx) => tx.raw({ name: 'raw', text: 'select $1::int as raw', values: [1] }),
    text: 'select $1::int as raw'
  },
  run: {
    send: (tx: Tx) => tx.run(prepared, { name: 'Acme' }),
    text: 'select "name" from "company" where "name" = $1'
  },
  kysely: {
    send: (tx: Tx) => tx.selectFrom('company').select('id').executeTakeFirst(),
    text: 'select "id" from "company"'
  },
  sql: {
    send: (tx: Tx) => sql`select ${2}::int as two`.execute(tx),
    text: 'select $1::int as two'
  }
}
const all = Object.keys(ways) as Way[]

test.each(permutations(all))(
  'sends %s, %s, %s, %s in the order of the calls, before PostgreSQL has answered any',
  async (...order) => {
    const texts = order.map(way => ways[way].text)
    const answer = wire.holdAnswers()
    const running = inCompany(db, company, tx => Promise.all(order.map(way => ways[way].send(tx))))
    await expect.poll(() => wire.statements).toEqual([begin, ...texts])
    answer()
    await running
    expect(wire.statements).toEqual([begin, ...texts, 'commit'])
  }
)

test.each(all)(
  'sends begin, the one statement by %s and the commit, before PostgreSQL has answered any',
  async way => {
    const answer = wire.holdAnswers()
    const running = runSingleStatementInCompany(db, company, tx => ways[way].send(tx))
    await expect.poll(() => wire.statements).toEqual([begin, ways[way].text, 'commit'])
    answer()
    await running
  }
)

test('sends the commit behind a statement that was left to it', async () => {
  const last = 'select pg_sleep(0.2)'
  let isAnswered = false
  await inCompany(db, company, async tx => {
    await ways.kysely.send(tx)
    const sleeping = sql.raw(last).execute(tx)
    tx.sendWithCommit(sleeping.then(() => (isAnswered = true)))
    await expect.poll(() => wire.statements.at(-1)).toBe(last)
    expect(isAnswered).toBe(false)
  })
  expect(wire.statements).toEqual([begin, ways.kysely.text, last, 'commit'])
})

const audited = { name: 'audited', text: 'select $1::int as audited', values: [3] }
const logged = { name: 'logged', text: 'select $1::int as logged', values: [4] }

test('sends statements that lock a head right before the commit, the audit before the log', async () => {
  await inCompany(db, company, async tx => {
    tx.sendLast('log head', logged)
    tx.sendLast('audit head', audited)
    tx.sendWithCommit(ways.kysely.send(tx))
  })
  const sent = [ways.kysely.text, audited.text, logged.text]
  expect(wire.statements).toEqual([begin, ...sent, 'commit'])
})

test('sends nothing behind a statement that locks the head of the log', async () => {
  let late: Promise<unknown> | undefined
  await inCompany(db, company, async tx => {
    tx.sendLast('log head', logged)
    await ways.raw.send(tx)
    tx.afterCommit(() => {
      late = ways.raw.send(tx)
      late.catch(() => undefined)
    })
  })
  await expect(late).rejects.toThrow('this transaction has ended')
  expect(wire.statements).toEqual([begin, ways.raw.text, logged.text, 'commit'])
})

test('sends what locks the audit before the statement that locks the log, and refuses it later', async () => {
  const running = inCompany(db, company, async tx => {
    tx.sendLast('audit head', audited)
    tx.prepareLock('log head')
    await ways.raw.send(tx)
    tx.sendLast('audit head', audited)
  })
  await expect(running).rejects.toThrow('the audit head is locked before the log head')
  expect(wire.statements).toEqual([begin, audited.text, ways.raw.text, 'rollback'])
})

test('enters another company for its head and comes back, the heads in the order of the companies', async () => {
  const low = toCompanyId('00000000-0000-4000-8000-000000000001')
  const high = toCompanyId('ffffffff-ffff-4fff-bfff-ffffffffffff')
  await inCompany(db, company, async tx => {
    for (const other of [high, low]) tx.sendLast('audit head', audited, other)
    tx.sendLast('audit head', audited)
    tx.sendLast('log head', logged)
  })
  const back = `set local app.company_id = '${company}'`
  expect(wire.statements).toEqual([
    begin,
    ...[`set local app.company_id = '${low}'`, audited.text, back],
    audited.text,
    ...[`set local app.company_id = '${high}'`, audited.text, back],
    logged.text,
    'commit'
  ])
})

test('undoes a transaction whose last statement fails, and throws its error', async () => {
  const failing = { name: 'failing', text: 'select 1 / $1::int', values: [0] }
  const running = inCompany(db, company, async tx => {
    await ways.raw.send(tx)
    tx.sendLast('log head', failing)
  })
  await expect(running).rejects.toMatchObject({ code: '22012' })
})

test('refuses a statement that locks a head where one statement is all', async () => {
  const running = runSingleStatementInCompany(db, company, async tx =>
    tx.sendLast('log head', logged)
  )
  await expect(running).rejects.toThrow('has ended')
})

test('sends a rollback where the callback throws, and nothing where it sends nothing', async () => {
  const failing = inCompany(db, company, async tx => {
    await ways.raw.send(tx)
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect(wire.statements).toEqual([begin, ways.raw.text, 'rollback'])
  await inCompany(db, company, async () => undefined)
  expect(wire.statements).toHaveLength(3)
})

function permutations<T>(items: T[]): T[][] {
  if (items.length < 2) return [items]
  return items.flatMap((item, at) =>
    permutations(items.toSpliced(at, 1)).map(others => [item, ...others])
  )
}
