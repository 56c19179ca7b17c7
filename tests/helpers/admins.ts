import { resolve } from 'node:path'
import pg from 'pg'
import { connectionTo } from '../../src/server/db/postgres.ts'
import { findPostmaster } from '../../src/server/db/postmaster.ts'

/**
 * Gives a person of the service under test the permission `admin`, which no screen grants yet.
 * Returns the id of the company.
 */
export async function makeAdmin(email: string): Promise<string> {
  const [company] = await ask<{ company_id: string }>(
    `update "user" set permissions = '{admin}' where email = $1 returning company_id`,
    [email]
  )
  if (!company) throw new Error(`nobody has the e-mail ${email}`)
  return company.company_id
}

/** Returns the id of the group that new people of a company join. */
export async function defaultGroupOf(company: string): Promise<string> {
  const [group] = await ask<{ id: string }>(
    'select id from "group" where company_id = $1 and is_default',
    [company]
  )
  return group?.id ?? ''
}

/** Runs a statement as the owner of the database of the service under test. */
async function ask<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
  const found = await findPostmaster(resolve('.cache/e2e-data/pg'))
  if (!('socketDir' in found)) throw new Error('the database is not running')
  const client = new pg.Client(connectionTo(found.socketDir, 'vidimus', 'postgres'))
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}
