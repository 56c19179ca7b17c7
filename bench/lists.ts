import pg from 'pg'
import { listGroups } from '../src/contract/groups.ts'
import { listUsers } from '../src/contract/members.ts'
import { getUser } from '../src/contract/users.ts'
import { connectionTo } from '../src/server/db/postgres.ts'
import { type Client, signUpAt } from '../tests/helpers/client.ts'
import { makeServiceProcess } from '../tests/helpers/service.ts'
import { type Options, quantile, type Row } from './table.ts'

/**
 * Measures the pages of a company's people, in a company of 100,000 and in one of 100, and searches
 * that read every person because few or none match. Both companies are in one service, and their
 * pages are asked for in turn, over a new connection each.
 */
export async function measure({ runs, quick, say, signal }: Options): Promise<Row[]> {
  const [many, few] = quick ? [2000, 100] : [100_000, 100]
  await using service = await makeServiceProcess()
  await service.start()
  const sql = new pg.Client(connectionTo(await service.socketDir(), 'vidimus', 'postgres'))
  await sql.connect()
  try {
    const large = await fill(sql, await signUpAt(service.port, 'localhost'), many)
    const small = await fill(sql, await signUpAt(service.port, 'demo.localhost'), few)
    await sql.query('vacuum analyze')
    say(`${many} people in one company, ${few} in the other`)
    return await measurePages({ large, small, rounds: quick ? 20 : 60 * runs, signal })
  } finally {
    await sql.end()
  }
}

interface Companies {
  large: Company
  small: Company
  rounds: number
  signal: AbortSignal
}

async function measurePages({ large, small, rounds, signal }: Companies): Promise<Row[]> {
  const rows: Row[] = []
  for (const sort of ['name', '-created', 'email'] as const) {
    signal.throwIfAborted()
    const times: Record<'ours' | 'peer', number[]> = { ours: [], peer: [] }
    for (let round = 0; round < rounds; round++) {
      times.ours.push(await timeOf(() => large.page(sort, round)))
      times.peer.push(await timeOf(() => small.page(sort, round)))
    }
    rows.push({
      what: `page of people by ${sort}, p95`,
      ours: quantile(times.ours, 0.95),
      peer: quantile(times.peer, 0.95),
      unit: 'ms',
      aim: { ratioAtMost: 1.5 }
    })
  }
  const searches = { 'one match': 'p4711@', 'no match': 'nobody', 'two words': 'durand p99' }
  for (const [what, q] of Object.entries(searches)) {
    signal.throwIfAborted()
    const times: number[] = []
    for (let round = 0; round < rounds / 3; round++) {
      times.push(await timeOf(() => large.person.call(listUsers, { id: large.id, q })))
    }
    const ours = quantile(times, 0.95)
    rows.push({ what: `search of people, ${what}, p95`, ours, unit: 'ms', aim: { atMost: 100 } })
  }
  const groups: number[] = []
  for (let round = 0; round < rounds / 3; round++) {
    groups.push(await timeOf(() => large.person.call(listGroups, { id: large.id })))
  }
  rows.push({
    what: 'page of groups, one of everybody, p95',
    ours: quantile(groups, 0.95),
    unit: 'ms'
  })
  return rows
}

type Company = Awaited<ReturnType<typeof fill>>

/** Fills a company with people. Returns its administrator and how they read a page in the middle. */
async function fill(sql: pg.Client, person: Client, count: number) {
  const { company } = await person.call(getUser, {})
  const { id } = company
  await sql.query(
    `with made as (
       insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
       select $1, gen_random_uuid(), 'p' || n || '@example.com',
              (array['Élodie', 'Zoë', 'Jean', 'Maria', 'Olu'])[1 + n % 5] || ' ' ||
              (array['Durand', 'Ångström', 'Martin'])[1 + n % 3],
              now(), now() - n * interval '1 minute'
         from generate_series(1, $2::int) n returning company_id, id
     )
     insert into group_user (company_id, group_id, user_id)
     select made.company_id, g.id, made.id from made join "group" g using (company_id)`,
    [id, count]
  )
  await sql.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  const { rows } = await sql.query(
    'select id from "user" where company_id = $1 order by random() limit 1000',
    [id]
  )
  const page = (sort: 'name' | '-created' | 'email', round: number) =>
    person.call(listUsers, { id, sort, cursor: rows[round % rows.length].id, limit: 20 })
  return { id, person, page }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}
