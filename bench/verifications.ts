import { randomBytes } from 'node:crypto'
import { Connection, jsonOf, requestText } from './connection.ts'
import {
  type LoadFigures,
  processorTimeNote,
  runAlternately,
  runLoad,
  withProcessorTime
} from './load.ts'
import { processorSecondsOf, startPeerProcess, startService } from './processes.ts'
import { companyHost, openServiceInternals, type ServiceInternals } from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

const callers = 16
// fingerprints per call: one, and the most that a signed-out person may verify
const batchSizes = [1, 20]
const knownPerSize = 10_000

/**
 * `POST /verify` without a session among many deposits; half of the fingerprints are known. The
 * peer runs only the SQL statement of the call, with the same role and policies, but without a
 * transaction.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  const { socketDir, company_id } = internals
  await using peer = await startPeerProcess('statements', {
    socketDir,
    callers,
    company: company_id
  })
  const oursSpent = () => processorSecondsOf(service.pid(), service)
  const itsSpent = () => processorSecondsOf(peer.pid, service)
  const seconds = options.quick ? 1 : 2
  const rows: ReportRow[] = []
  const known: Buffer[] = []
  let filled = 0
  for (const size of options.quick ? [1000, 10_000] : [10_000, 1_000_000]) {
    options.say(`filling in ${(size - filled).toLocaleString('en')} deposits`)
    known.push(...(await fill(internals, filled, size, options.signal)))
    filled = size
    // only now, because the service closes a connection that was idle for 75 seconds
    const connections = await Promise.all(
      Array.from({ length: callers }, () => Connection.open(service.port))
    )
    for (const batchSize of batchSizes) {
      const batches = Array.from({ length: 2000 }, () => pick(known, batchSize))
      const requests = batches.map(batch =>
        requestText('POST', '/verify', { host: `api.${companyHost}` }, { items: itemsOf(batch) })
      )
      const call = { path: '/verify', body: { items: itemsOf(batches[0] ?? []) } }
      const statement = (await internals.statementsOf(call)).find(({ text }) =>
        text.includes('"lookup_tag"')
      )
      const question = {
        seconds,
        callers,
        statement,
        batches: await Promise.all(batches.map(batch => internals.tagsOf(batch)))
      }
      let next = 0
      const work = async (caller: number) => {
        await connections[caller]?.requestWithRetry(requests[next++ % requests.length] ?? '')
      }
      await requireKnown(connections[0], requests, batches, known)
      const figures = await runAlternately(
        options,
        () =>
          withProcessorTime(oursSpent, () =>
            runLoad({ callers, seconds, signal: options.signal, work })
          ),
        () => withProcessorTime(itsSpent, () => peer.request<LoadFigures>(question))
      )
      const each = batchSize === 1 ? 'one at a time' : `${batchSize} at a time`
      rows.push({
        what: `look-ups in ${size.toLocaleString('en')}, ${each}`,
        ours: figures.ours.perSecond * batchSize,
        peer: figures.peer.perSecond * batchSize,
        unit: '/s',
        target: { ratio: 0.5 },
        note: `${processorTimeNote(figures)}, for ${batchSize === 1 ? 'one' : `all ${batchSize}`}`
      })
    }
    for (const connection of connections) connection.close()
  }
  return rows
}

function pick(known: Buffer[], count: number): Buffer[] {
  return Array.from({ length: count }, (_, at) => {
    const one = known[Math.floor(Math.random() * known.length)]
    return at % 2 === Math.floor(Math.random() * 2) && one ? one : randomBytes(32)
  })
}

function itemsOf(digests: Buffer[]) {
  return digests.map(digest => ({ sha256: digest.toString('hex') }))
}

// throws unless each call finds exactly its known fingerprints
async function requireKnown(
  connection: Connection | undefined,
  requests: string[],
  batches: Buffer[][],
  known: Buffer[]
): Promise<void> {
  const all = new Set(known.map(digest => digest.toString('hex')))
  for (const [at, batch] of batches.slice(0, 20).entries()) {
    const answer = await connection?.requestWithRetry(requests[at] ?? '')
    if (!answer) throw new Error('there is no connection')
    // as: the type of the response in the contract
    const { items } = jsonOf(answer) as { items: { verdict: string }[] }
    for (const [index, digest] of batch.entries()) {
      const expected = all.has(digest.toString('hex')) ? 'authentic' : 'not_found'
      if (items[index]?.verdict !== expected) throw new Error(`a look-up was not ${expected}`)
    }
  }
}

// only the columns that a look-up reads; the known deposits are at equal distances in the table
async function fill(
  { owner, company_id, tagsOf }: ServiceInternals,
  from: number,
  to: number,
  signal: AbortSignal
): Promise<Buffer[]> {
  const known = Array.from({ length: Math.min(knownPerSize, to - from) }, () => randomBytes(32))
  const tags = await tagsOf(known)
  const step = Math.floor((to - from) / known.length)
  const client = await owner.connect()
  try {
    // deposits lack the columns that a look-up does not read, so constraints must be off
    await client.query('set session_replication_role = replica')
    await client.query('create temp table fill (seq bigint, id text, tag bytea, hash bytea)')
    const chunk = 100_000
    for (let start = from; start < to; start += chunk) {
      signal.throwIfAborted()
      const end = Math.min(start + chunk, to)
      await client.query('truncate fill')
      await client.query(
        `insert into fill
         select i, translate(encode(substr(sha256(('id ' || i)::bytea), 1, 16), 'base64'), '+/=', '-_'),
                coalesce(known.tag, sha256(('tag ' || i)::bytea)), sha256(('hash ' || i)::bytea)
         from generate_series($1::int + 1, $2::int) i
         left join (
           select $3::int + ordinality * $4::int as i, tag from unnest($5::bytea[]) with ordinality as t (tag)
         ) known using (i)`,
        [start, end, from, step, tags]
      )
      await client.query(
        `insert into deposit (company_id, id, request_id, user_id, category_id, visibility, recorded_at)
         select $1, id, gen_random_uuid(), $1, $1, 'public', now() from fill`,
        [company_id]
      )
      await client.query(
        `insert into log_leaf (company_id, log_no, idx, leaf_id, leaf, hash)
         select $1, 0, seq, id, repeat('leaf', 100), hash from fill`,
        [company_id]
      )
      await client.query(
        `insert into lookup_tag (company_id, scheme, key_version, tag, record_ref, user_id, which)
         select $1, 1, 1, tag, id, $1, 'original' from fill`,
        [company_id]
      )
    }
    await client.query('drop table fill')
    await client.query('reset session_replication_role')
    await client.query('vacuum analyze deposit, log_leaf, lookup_tag')
    await client.query('checkpoint')
  } finally {
    client.release()
  }
  return known
}
