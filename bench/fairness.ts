import { signUpAt } from '../tests/helpers/client.ts'
import { Connection, requestText } from './connection.ts'
import { type LoadFigures, medians, runLoad } from './load.ts'
import type { FloodOptions } from './peers/flood.ts'
import { startClientProcess, startService } from './processes.ts'
import { companyHost, openServiceInternals } from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

const otherHost = 'demo.localhost'
// requests that the busy company searches and exports
const historyLength = 5000
const people = 10

/**
 * How much one busy company slows another one down: `GET /user` of a quiet company while the busy
 * one floods the service in different ways. The peer is the same call on an idle service. The
 * client of the quiet company has the higher priority on their core.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService({ DEMO: 'true' })
  await using internals = await openServiceInternals(service)
  const { owner } = internals
  await owner.query("update category set store = 'fingerprint'")
  await owner.query('update "group" set max_requests = null, max_storage = null')
  const busy = await internals.addPeople(people)
  const [reader] = busy
  if (!reader) throw new Error('nobody is in a hurry')
  await owner.query(
    `insert into request (company_id, id, user_id, kind, state, seq, created_at, facts, search_name)
     select company_id, gen_random_uuid(), id, 'deposit', 'done', 0, now() - n * interval '1 minute',
            jsonb_build_object('name', 'Contract ' || n || '.pdf', 'size', n), 'contract ' || n || '.pdf'
       from "user", generate_series(1, $2) n where id = $1`,
    [reader.id, options.quick ? historyLength / 10 : historyLength]
  )
  await owner.query('analyze')
  const { rows: categories } = await owner.query(
    'select id from category where company_id = $1 limit 1',
    [internals.company_id]
  )
  const other = await signUpAt(service.port, otherHost)
  const quiet = await Connection.open(service.port)
  const ownAccountRequest = requestText('GET', '/user', {
    host: `api.${otherHost}`,
    authorization: `Bearer ${other.token()}`
  })

  const by = (token: string) => ({ host: `api.${companyHost}`, authorization: `Bearer ${token}` })
  const many = (count: number, request: (token: string) => string) =>
    Array.from({ length: count }, (_, n) => request((busy[n % people] ?? reader).token))
  const deposit = (token: string) =>
    requestText(
      'POST',
      '/deposit',
      { ...by(token), 'idempotency-key': '#'.repeat(32) },
      {
        name: 'Contract 2026.pdf',
        size: 184_320,
        media_type: 'application/pdf',
        original: '#'.repeat(64),
        stored: '#'.repeat(64),
        category: categories[0].id,
        again: true
      }
    )
  const get = (path: string) => requestText('GET', path, by(reader.token))
  const floods: Record<string, Omit<FloodOptions, 'port'>> = {
    '1,000 deposits at once': { requests: many(1000, deposit) },
    '50 searches': { requests: many(50, () => get('/process?q=nothing+like+this')) },
    '50 exports': { requests: many(50, () => get('/process/export')) },
    '5,000 pipelined calls': { requests: [get('/user')], pipelined: 5000 },
    '600 calls that are refused': {
      requests: Array.from({ length: 600 }, () =>
        requestText('GET', '/user', { host: `api.${companyHost}` })
      ),
      isPersistent: true
    },
    '500 stalled readers': { requests: many(500, () => get('/process/export')), stalls: true }
  }

  const seconds = options.quick ? 1 : 4
  const timeOwnAccountRequest = () =>
    runLoad({
      callers: 1,
      seconds,
      signal: options.signal,
      work: () => quiet.requestWithRetry(ownAccountRequest)
    })
  await timeOwnAccountRequest()
  const idle = await repeat(options, timeOwnAccountRequest)
  const rows: ReportRow[] = []
  for (const [what, setup] of Object.entries(floods)) {
    options.say(`beside ${what}`)
    let done = 0
    const beside = await repeat(options, async () => {
      await using helper = await startClientProcess('flood', { port: service.port, ...setup })
      await timeOwnAccountRequest() // when this returns, the flood has begun
      const figures = await timeOwnAccountRequest()
      done = (await helper.request<{ done: number }>({})).done
      return figures
    })
    rows.push({
      what: `GET /user, p99, beside ${what}`,
      ours: beside.p99Ms,
      peer: idle.p99Ms,
      unit: 'ms',
      target: { ratioAtMost: 3 },
      ...(setup.stalls || setup.isPersistent
        ? {}
        : { note: `they got about ${Math.round(done / (2 * seconds))} answers a second` })
    })
  }
  quiet.close()
  return rows
}

async function repeat(
  { runs }: BenchOptions,
  run: () => Promise<LoadFigures>
): Promise<{ p99Ms: number }> {
  const all: { p99Ms: number }[] = []
  for (let n = 0; n < runs; n++) all.push({ p99Ms: (await run()).p99Ms })
  return medians(all)
}
