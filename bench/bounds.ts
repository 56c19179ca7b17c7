import { getCompany, listCompanies } from '../src/contract/companies.ts'
import { endpoints } from '../src/contract/index.ts'
import { type Endpoint, pathParameters } from '../src/contract/kit/endpoint.ts'
import { errorCodes } from '../src/contract/kit/errors.ts'
import { getOwnAccount } from '../src/contract/users.ts'
import { signUpAt } from '../tests/helpers/client.ts'
import { Connection, requestText } from './connection.ts'
import { runLoad } from './load.ts'
import type { FloodOptions } from './peers/flood.ts'
import { type Service, startClientProcess, startService } from './processes.ts'
import { type BenchOptions, quantile, type ReportRow } from './table.ts'

/**
 * What a company that has created as much as it may costs a quiet neighbor, and operators who read
 * 1,000 of them. The lists come from the contract, and each code `too_many_…` needs an entry in
 * `fills`, so a new noun is measured too.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService({ DEMO: 'true', DEV: 'true' })
  const quiet = await signUpAt(service.port, 'demo.localhost')
  const operator = await signUpAt(service.port, 'localhost')
  const { id } = (await operator.call(getOwnAccount, {})).company
  await service.query(`update "user" set permissions = '{admin,operator}' where id = $1`, [
    operator.id
  ])
  const seconds = quick ? 2 : 10
  const ownAccountRequest = requestText('GET', '/user', {
    host: 'api.demo.localhost',
    authorization: `Bearer ${quiet.token()}`
  })
  const neighbor = async () => {
    const connection = await Connection.open(service.port)
    const work = () => connection.requestWithRetry(ownAccountRequest)
    const figures = await runLoad({ callers: 1, seconds, signal, work })
    connection.close()
    return figures
  }
  const neighborBeside = async (setup: FloodOptions) => {
    await using flood = await startClientProcess('flood', setup)
    await neighbor() // when this returns, the flood has begun
    const { p99Ms } = await neighbor()
    const { done } = await flood.request<{ done: number }>({})
    return { p99Ms, answers: Math.round(done / (2 * seconds)) }
  }
  await neighbor()
  const idle = await neighbor()

  const companies = quick ? 50 : 1000
  await service.query(
    `insert into company (id, name, created_at)
     select gen_random_uuid(), 'Company ' || n, now() from generate_series(1, $1::int) n`,
    [companies - 1]
  )
  for (const [code, sql] of Object.entries(await fillsOf(service))) {
    signal.throwIfAborted()
    if (sql !== undefined) await service.query(sql)
    say(`${companies} companies: ${code}`)
  }
  // this trigger looks at each pair by itself, which takes minutes
  const trigger = 'trigger keep_default_group_public'
  await service.query(`alter table group_category disable ${trigger}`)
  await service.query(
    `insert into group_category (company_id, group_id, category_id)
     select g.company_id, g.id, c.id from "group" g join category c using (company_id)
      where g.company_id = $1 on conflict do nothing`,
    [id]
  )
  await service.query(`alter table group_category enable ${trigger}`)
  await service.query('vacuum analyze')

  const lists = listsOf(id)
  say(`${lists.length} lists of a company`)
  const headers = { host: 'api.localhost', authorization: `Bearer ${operator.token()}` }
  const requests = lists.map(({ endpoint: { path } }) =>
    requestText('GET', path.replace('{id}', id), headers)
  )
  const beside = await neighborBeside({ port: service.port, requests })

  const rounds = quick ? 5 : 10 * runs
  const timed = async (what: string, atMost: number, run: () => Promise<unknown>) => {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted()
      const from = performance.now()
      await run()
      times.push(performance.now() - from)
    }
    return { what, ours: quantile(times, 0.95), unit: 'ms', target: { atMost } }
  }
  const bytes = async (run: () => Promise<unknown>) => JSON.stringify(await run()).length / 1000
  const page = () => operator.call(listCompanies, { limit: 200 })
  const rows: ReportRow[] = [
    {
      what: 'GET /user of a neighbor, p99, beside a company at its bounds',
      ours: beside.p99Ms,
      peer: idle.p99Ms,
      unit: 'ms',
      target: { ratioAtMost: 3 },
      note: `it got about ${beside.answers} answers a second`
    },
    await timed(`page of 200 of ${companies} companies at their bounds, p95`, 300, page),
    {
      what: 'page of 200 companies, size',
      ours: await bytes(page),
      unit: 'kB',
      target: { atMost: 200 }
    },
    await timed('one company at its bounds, p95', 20, () => operator.call(getCompany, { id }))
  ]
  for (const { name, endpoint, input } of lists) {
    rows.push(await timed(`${name} at the bounds, p95`, 300, () => operator.call(endpoint, input)))
  }
  return rows
}

function listsOf(id: string): { name: string; endpoint: Endpoint; input: object }[] {
  return Object.entries(endpoints as Record<string, Endpoint>).flatMap(([name, endpoint]) => {
    const { method, access, path } = endpoint
    const parameters = pathParameters(path)
    const isOfCompany = parameters.every(parameter => parameter === 'id')
    if (method !== 'GET' || access !== 'admin' || !isOfCompany) return []
    if (parameters.length > 0 && !path.startsWith('/company/')) return []
    const input = parameters.length > 0 ? { id } : {}
    return endpoint.input.safeParse(input).success ? [{ name, endpoint, input }] : []
  })
}

// undefined for bounds that other benchmarks fill
async function fillsOf({ query }: Service): Promise<Record<string, string | undefined>> {
  const [look] = await query<{ theme: string }>('select theme::text from domain limit 1')
  const theme = `'${(look?.theme ?? '{}').replaceAll("'", "''")}'::jsonb`
  const own = (table: string, bound: number) => `
    company c, lateral (select count(*)::int as count from ${table} where company_id = c.id) had,
    generate_series(had.count + 1, ${bound}) n`
  const fills: Record<string, string | undefined> = {
    too_many_claims: undefined,
    too_many_domains: `
      insert into domain (company_id, id, host, name, title, public, locale, theme, created_at, verified_at)
      select c.id, gen_random_uuid(), 'h' || n || '.' || substr(c.id::text, 25) || '.example.com', c.name,
             c.name, false, 'en', ${theme}, now(), case when n > 20 then now() end
        from ${own('domain', 100)}`,
    too_many_groups: `
      insert into "group" (company_id, id, name, is_default, features, max_requests, created_at)
      select c.id, gen_random_uuid(), 'Group ' || n, false, '{deposit}', 100, now()
        from ${own('"group"', 1000)}`,
    too_many_categories: `
      insert into category (company_id, id, names, visibility, is_default, created_at)
      select c.id, gen_random_uuid(), jsonb_build_object('en', 'Kind ' || n, 'fr', 'Sorte ' || n),
             'public', false, now()
        from ${own('category', 500)}`,
    too_many_keys: `
      with keys as (
        select c.id as company_id, gen_random_uuid() as id, n,
               (select g.id from "group" g where g.company_id = c.id limit 1) as group_id
          from ${own('api_key', 100)}
      ), accounts as (
        insert into "user" (company_id, id, email, username, tokens_valid_after, created_at, deleted_at)
        select company_id, id, id || '@key.invalid', 'Key ' || n, now(), now(), now() from keys
      )
      insert into api_key (company_id, id, user_id, group_id, created_by, name, scopes, hash, hint,
        created_at, expires_at)
      select company_id, id, id, group_id, id, 'Key ' || n, '{verify}', sha256(id::text::bytea),
             'vdm_', now(), now() + interval '1 year' from keys`,
    too_many_imports: undefined,
    too_many_kept_imports: undefined,
    too_many_import_bytes: undefined,
    too_many_people: undefined
  }
  const codes = Object.keys(errorCodes).filter(
    code => code.startsWith('too_many_') && code !== 'too_many_items'
  )
  const missing = codes.filter(code => !(code in fills))
  if (missing.length > 0) throw new Error(`bench/bounds.ts does not fill ${missing.join(', ')}`)
  return fills
}
