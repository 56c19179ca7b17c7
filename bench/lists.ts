import { getCompany } from '../src/contract/companies.ts'
import { listUsers } from '../src/contract/members.ts'
import { getAttention, getUsageByDay } from '../src/contract/overview.ts'
import { getOwnAccount } from '../src/contract/users.ts'
import { type Client, signUpAt } from '../tests/helpers/client.ts'
import { makeServiceProcess, type ServiceProcess } from '../tests/helpers/service.ts'
import { type BenchOptions, quantile, type ReportRow } from './table.ts'

/**
 * The list of people in a company of 100,000 and in one of 100, searches that must read every
 * person, and the overview of the large company. Half of its people have not accepted their
 * invitation, and each of the last 400 days has usage.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  const [many, few] = quick ? [2000, 100] : [100_000, 100]
  await using service = await makeServiceProcess()
  await service.start()
  const large = await fill(service, await signUpAt(service.port, 'localhost'), many)
  const small = await fill(service, await signUpAt(service.port, 'demo.localhost'), few)
  await service.query('vacuum analyze')
  say(`${many} people in one company, ${few} in the other`)
  return await measurePages({ large, small, rounds: quick ? 20 : 60 * runs, signal })
}

interface Companies {
  large: Company
  small: Company
  rounds: number
  signal: AbortSignal
}

const sorts = ['name', '-created', 'email', '-last_seen'] as const
type Sort = (typeof sorts)[number]

async function measurePages({ large, small, rounds, signal }: Companies): Promise<ReportRow[]> {
  const rows: ReportRow[] = []
  for (const sort of sorts) {
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
      target: { ratioAtMost: 1.5 }
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
    rows.push({ what: `search of people, ${what}, p95`, ours, unit: 'ms', target: { atMost: 100 } })
  }
  const filters = {
    'a rare state': { state: 'disabled' },
    'a rare state by last use': { state: 'disabled', sort: '-last_seen' },
    'those who wait': { state: 'waiting' },
    administrators: { permission: 'admin' },
    'a small group': { group: large.groups?.small },
    'a state in a group of everybody': { state: 'disabled', group: large.groups?.everyone }
  } as const
  for (const [what, filter] of Object.entries(filters)) {
    signal.throwIfAborted()
    const times: number[] = []
    for (let round = 0; round < rounds / 3; round++) {
      times.push(await timeOf(() => large.person.call(listUsers, { id: large.id, ...filter })))
    }
    const ours = quantile(times, 0.95)
    rows.push({
      what: `people filtered by ${what}, p95`,
      ours,
      unit: 'ms',
      target: { atMost: 100 }
    })
  }
  const { person, id } = large
  const overview = {
    'what needs attention': () => person.call(getAttention, { id }),
    'the company with its counts': () => person.call(getCompany, { id }),
    'usage of 400 days': () => person.call(getUsageByDay, { id, from: dayBefore(399) })
  }
  for (const [what, call] of Object.entries(overview)) {
    signal.throwIfAborted()
    const times: number[] = []
    for (let round = 0; round < rounds / 3; round++) times.push(await timeOf(call))
    const ours = quantile(times, 0.95)
    rows.push({ what: `overview: ${what}, p95`, ours, unit: 'ms', target: { atMost: 200 } })
  }
  return rows
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
}

type Company = Awaited<ReturnType<typeof fill>>

// `page` reads a page in the middle of the list
async function fill({ query }: ServiceProcess, person: Client, count: number) {
  const { company } = await person.call(getOwnAccount, {})
  const { id } = company
  await query(
    `with made as (
       insert into "user" (company_id, id, email, username, tokens_valid_after, created_at,
         invited_at, activated_at, last_seen_at, disabled)
       select $1, gen_random_uuid(), 'p' || n || '@example.com',
              (array['Élodie', 'Zoë', 'Jean', 'Maria', 'Olu'])[1 + n % 5] || ' ' ||
              (array['Durand', 'Ångström', 'Martin'])[1 + n % 3],
              now(), now() - n * interval '1 minute', now() - n * interval '1 minute',
              case n % 2 when 0 then now() end, now() - n % 1000 * interval '1 hour',
              case when n % 5000 = 7 then '{"reason": "left", "since": "2026-01-01T00:00:00Z"}'::jsonb end
         from generate_series(1, $2::int) n returning company_id, id
     )
     insert into group_user (company_id, group_id, user_id)
     select made.company_id, g.id, made.id from made join "group" g using (company_id)`,
    [id, count]
  )
  await query(
    `insert into usage_day (company_id, group_id, day, deposits, verifications, bytes)
     select company_id, id, (now() at time zone 'utc')::date - n, n, n, n * 1000
       from "group", generate_series(0, 399) n where company_id = $1
     on conflict do nothing`,
    [id]
  )
  await query(
    `insert into signup (company_id, id, email, username, locale, key_id, kdf, pub_enc, kek_id,
       created_at, expires_at)
     select $1, gen_random_uuid(), 'w' || n || '@example.com', 'Walt ' || n, 'en', gen_random_uuid(),
            'a1', '', 'none', now() - n * interval '1 minute', now() + interval '1 day'
       from generate_series(1, $2::int / 50) n`,
    [id, count]
  )
  const groups = await query<{ everyone: string; small: string }>(
    `with made as (
       insert into "group" (company_id, id, name, created_at)
       values ($1, gen_random_uuid(), 'Twenty', now()) returning company_id, id
     ), members as (
       insert into group_user (company_id, group_id, user_id)
       select u.company_id, made.id, u.id from made join "user" u using (company_id) limit 20
     )
     select made.id as small, g.id as everyone from made join "group" g using (company_id)
      where g.is_default`,
    [id]
  )
  await query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  const rows = await query<{ id: string }>(
    'select id from "user" where company_id = $1 order by random() limit 1000',
    [id]
  )
  const page = (sort: Sort, round: number) =>
    person.call(listUsers, { id, sort, cursor: rows[round % rows.length]?.id, limit: 20 })
  return { id, person, page, groups: groups[0] }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}
