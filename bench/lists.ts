import { listGroups } from '../src/contract/groups.ts'
import { listUsers } from '../src/contract/members.ts'
import { makeApp, type TestApp, type TestPerson } from '../tests/helpers/app.ts'
import { makeAdmins } from '../tests/helpers/matrix.ts'
import { type Options, quantile, type Row } from './table.ts'

const host = { small: 'beta.localhost', large: 'acme.localhost' }

/**
 * Measures the pages of a company's people, in a company of 100,000 and in one of 100, and searches
 * that read every person because few or none match. The API runs in this process and is called
 * without a socket, so the times are those of the server and the database.
 */
export async function measure({ runs, quick, say, signal }: Options): Promise<Row[]> {
  const [many, few] = quick ? [2000, 100] : [100_000, 100]
  await using app = await makeApp()
  const large = await administratorOf(app, host.large, many)
  const small = await administratorOf(app, host.small, few)
  await app.owner.query('vacuum analyze')
  say(`${many} people in one company, ${few} in the other`)
  const rounds = quick ? 20 : 60 * runs
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

/** Fills a company with people. Returns an administrator and how they read a page in the middle. */
async function administratorOf(app: TestApp, name: string, count: number) {
  const id = app.companies[name] ?? ''
  const person: TestPerson = await app.signUp(name)
  await app.owner.query(
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
  await makeAdmins(app.owner)
  const { rows } = await app.owner.query(
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
