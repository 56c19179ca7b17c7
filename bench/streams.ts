import { randomUUID } from 'node:crypto'
import { Connection, requestText } from './connection.ts'
import { runAlternately } from './load.ts'
import {
  type ChildProgram,
  memoryOf,
  startClientProcess,
  startPeerProcess,
  startService
} from './processes.ts'
import { companyHost, openServiceInternals, type ServiceInternals } from './service-internals.ts'
import { type BenchOptions, quantile, type ReportRow } from './table.ts'

// the default limit
const streamsPerPerson = 5

/**
 * How long it takes to deliver one event to each person at the same moment, from the commit to the
 * arrival on each stream. The peer is a `node:http` server that receives the same events by POST.
 * The memory is measured with all streams open.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const rows: ReportRow[] = []
  for (const count of options.quick ? [200, 1000] : [1000, 10_000]) {
    options.say(`opening twice ${count.toLocaleString('en')} streams`)
    rows.push(...(await measureWith(count, options)))
  }
  return rows
}

async function measureWith(count: number, options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  const people = await internals.addPeople(count / streamsPerPerson)
  await using peer = await startPeerProcess('streams', {})
  const { port } = await peer.request<{ port: number }>({})
  const posting = await Connection.open(port)

  const streamsOf = (authorization: (person: { id: string; token: string }) => string) =>
    people.flatMap(person => {
      const headers = { host: `api.${companyHost}`, authorization: authorization(person) }
      return Array(streamsPerPerson).fill(requestText('GET', '/process/sse', headers))
    })
  await using ourClient = await startClientProcess('listen', {
    port: service.port,
    requests: streamsOf(({ token }) => `Bearer ${token}`)
  })
  await using itsClient = await startClientProcess('listen', {
    port,
    requests: streamsOf(({ id }) => id)
  })

  const ids = people.map(({ id }) => id)
  const figures = await runAlternately(
    options,
    () => burst(ourClient, count, () => commitEvents(internals, ids)),
    () => burst(itsClient, count, () => postEvents(posting, ids))
  )
  posting.close()
  const streams = `${count.toLocaleString('en')} streams`
  return [
    {
      what: `${streams}, p99 of delivery`,
      ours: figures.ours.p99Ms,
      peer: figures.peer.p99Ms,
      unit: 'ms',
      target: { ratioAtMost: 2 },
      note: `one event for each of ${ids.length.toLocaleString('en')} people at once, on ${streamsPerPerson} streams each`
    },
    {
      what: `${streams}, memory`,
      ours: memoryOf(service.pid()),
      peer: memoryOf(peer.pid),
      unit: 'MB',
      target: { ratioAtMost: 2 }
    }
  ]
}

// `tell` returns the time at which it sent the events; returns the 99th percentile of their
// delivery
async function burst(client: ChildProgram, count: number, tell: () => Promise<number>) {
  const heard = client.request<number[]>({ events: count })
  const told = await tell()
  const times = (await heard).map(at => at - told)
  return { p99Ms: quantile(times, 0.99) }
}

async function postEvents(connection: Connection, ids: string[]): Promise<number> {
  const events = ids.map((id, at) => {
    const request = { ...requestOf(randomUUID()), seq: at + 1 }
    return [id, `id: ${at + 1}\ndata: ${JSON.stringify(request)}\n\n`]
  })
  const text = requestText('POST', '/', { host: companyHost }, events)
  const told = now()
  await connection.request(text)
  return told
}

async function commitEvents(
  { owner, company_id }: ServiceInternals,
  ids: string[]
): Promise<number> {
  const client = await owner.connect()
  try {
    await client.query('begin')
    const requests = ids.map(() => randomUUID())
    const payloads = requests.map(id => JSON.stringify(requestOf(id)))
    await client.query(
      `with head as (
        update log_head set event_seq = event_seq + $5 where company_id = $1
        returning event_seq - $5 as before
      ), told as (
        select before + ordinality as seq, user_id, id, payload
        from head, unnest($2::uuid[], $3::uuid[], $4::jsonb[]) with ordinality as t (user_id, id, payload)
      ), made as (
        insert into request (company_id, id, user_id, kind, state, seq, created_at, facts)
        select $1, id, user_id, 'deposit', 'done', seq, now(), payload from told
      )
      insert into event (company_id, seq, user_id, request_id, payload, created_at)
      select $1, seq, user_id, id, payload || jsonb_build_object('seq', seq), now() from told`,
      [company_id, ids, requests, payloads, ids.length]
    )
    const hints = ids.map(id => `bench events ${company_id} ${id}`)
    await client.query("select pg_notify('vidimus', hint) from unnest($1::text[]) hint", [hints])
    const told = now()
    await client.query('commit')
    return told
  } finally {
    client.release()
  }
}

function requestOf(id: string) {
  return {
    id,
    kind: 'deposit',
    created: new Date().toISOString(),
    state: 'done',
    name: 'Contract 2026.pdf',
    size: 184_320,
    media_type: 'application/pdf',
    category_id: randomUUID(),
    deposit_id: 'aaaaaaaaaaaaaaaaaaaaaa',
    leaf_hash: 'a'.repeat(64),
    rung: 'recorded'
  }
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
