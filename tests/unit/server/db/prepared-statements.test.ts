import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareStatement } from '../../../../src/server/db/prepared-statements.ts'
import { type CompanyId, inCompany, toCompanyId } from '../../../../src/server/db/scope.ts'
import { makeDb } from '../../../helpers/database.ts'

let made: Awaited<ReturnType<typeof makeDb>>
beforeAll(async () => {
  made = await makeDb()
})
afterAll(() => made[Symbol.asyncDispose]())

interface Company {
  id: CompanyId
  name: string
}

test('is built once and runs with the values of each call', async () => {
  let built = 0
  const insertCompany = prepareStatement((db, { id, name }: Company) => {
    built++
    return db
      .insertInto('company')
      .values({ id, name, created_at: new Date(0) })
      .returning('name')
  })
  for (const name of ['Acme', 'Globex']) {
    const id = toCompanyId(randomUUID())
    expect(await inCompany(made.db, id, tx => tx.run(insertCompany, { id, name }))).toEqual([
      { name }
    ])
  }
  expect(built).toBe(1)
})

test('takes a value wherever one stands, more than once too, and null', async () => {
  const echo = prepareStatement(
    (_db, { text }: { text: string | null }) =>
      sql<{ twice: string | null }>`select concat(${text}::text, ${text}::text) as twice`
  )
  const id = toCompanyId(randomUUID())
  const run = (text: string | null) => inCompany(made.db, id, tx => tx.run(echo, { text }))
  expect(await run('ab')).toEqual([{ twice: 'abab' }])
  expect(await run(null)).toEqual([{ twice: '' }])
})

test.each([
  ['writes it into a text', ({ name }: Company) => `%${name}%`],
  ['writes it as JSON', ({ name }: Company) => JSON.stringify({ name })]
])('refuses a builder that reads a value: %s', (_how, spoil) => {
  const spoilt = prepareStatement((db, values: Company) =>
    db.selectFrom('company').select('id').where('name', '=', spoil(values))
  )
  expect(() => spoilt.bind({ id: toCompanyId(randomUUID()), name: 'Acme' })).toThrow(
    'a prepared statement cannot read the value of name'
  )
})
