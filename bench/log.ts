import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDeposit } from '../src/contract/deposits.ts'
import { inclusionSteps } from '../src/core/evidence/tiles.ts'
import { openLogFiles } from '../src/server/adapters/log-files.ts'
import { inCompany, type Tx } from '../src/server/db/scope.ts'
import { createCompany } from '../src/server/domain/companies/new-companies.ts'
import { recordDeposits } from '../src/server/domain/deposits/deposit-records.ts'
import type { CompanyId } from '../src/server/domain/deps.ts'
import { logIdOf, tileReaderOf } from '../src/server/domain/evidence/logs.ts'
import { createReceipt } from '../src/server/domain/evidence/receipts.ts'
import { productTheme } from '../src/server/domain/installation/product-theme.ts'
import { signUpAt } from '../tests/helpers/client.ts'
import { type Depositor, depositRecord } from '../tests/helpers/evidence/many-deposits.ts'
import { documentIn } from './deposits.ts'
import { runAlternately, runLoad } from './load.ts'
import { type Service, startService } from './processes.ts'
import { companyHost, openServiceInternals, type ServiceInternals } from './service-internals.ts'
import { type BenchOptions, quantile, type ReportRow } from './table.ts'

/**
 * The log: how many leaves a second it takes, how long a proof takes, how large a receipt is, and when
 * a deposit is sealed. `--runs 50` seals 10,000 deposits.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  return [
    ...(await measureLeaves(options)),
    ...(await measureProofs(options)),
    ...(await measureSeals(options)),
    ...(await measureDepositsBesideSigning(options))
  ]
}

const callers = 8
const manyCompanies = 50
const inBatch = 50

// The peer is the same transaction of one deposit, in which the rows get their numbers from a sequence
// and not from the head of the log, so that nobody waits for another.
async function measureLeaves(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  await internals.owner.query(
    'create sequence bench_place start 1000000000; grant usage on bench_place to vidimus_app'
  )
  const [hot] = await addDepositors(internals, [internals.company_id])
  if (!hot) throw new Error('nobody deposits')
  const ids: CompanyId[] = []
  for (let n = 0; n < manyCompanies; n++) ids.push(await addCompany(internals, `c${n}.localhost`))
  const many = await addDepositors(internals, ids)

  const seconds = options.quick ? 0.5 : 2
  let turn = 0
  const load = (depositors: Depositor[], count: number, change: (tx: Tx) => void) => async () => {
    const { perSecond } = await runLoad({
      callers,
      seconds,
      signal: options.signal,
      work: () => append(internals, depositors[turn++ % depositors.length] ?? hot, count, change)
    })
    return { perSecond: perSecond * count }
  }
  const asItIs = () => undefined
  const rows: ReportRow[] = []
  const cases = [
    { what: 'leaves of one company, one at a time', of: [hot], count: 1, ratio: 0.45 },
    { what: `leaves of one company, ${inBatch} at a time`, of: [hot], count: inBatch, ratio: 3 },
    { what: `leaves of ${manyCompanies} companies, one at a time`, of: many, count: 1 }
  ]
  for (const { what, of, count, ratio } of cases) {
    const figures = await runAlternately(
      options,
      load(of, count, asItIs),
      load(of, 1, numberBySequence)
    )
    rows.push({
      what: `${what}, and plain inserts`,
      ours: figures.ours.perSecond,
      peer: figures.peer.perSecond,
      unit: '/s',
      ...(ratio !== undefined && { target: { ratio } })
    })
  }
  return rows
}

async function append(
  { deps }: ServiceInternals,
  depositor: Depositor,
  count: number,
  change: (tx: Tx) => void
): Promise<void> {
  const records = Array.from({ length: count }, () => depositRecord(deps, depositor))
  await inCompany(deps.db, depositor.company, tx => {
    change(tx)
    return recordDeposits(tx, deps, records)
  })
}

const takesHead = /update log_head set[\s\S]*?returning event_seq, leaf_seq, log_no/

function numberBySequence(tx: Tx): void {
  const raw = tx.raw.bind(tx)
  tx.raw = ({ text, values }) =>
    raw({
      text: text.replace(
        takesHead,
        `select n as event_seq, n as leaf_seq, 0 as log_no
           from nextval('bench_place') as n where $19::text is not null`
      ),
      values
    })
}

async function addCompany({ deps }: ServiceInternals, host: string): Promise<CompanyId> {
  const domain = { host, name: host, title: host, public: true, theme: productTheme }
  const limits = { max_requests: null, max_requests_interval: null, max_storage: null } as const
  return createCompany(deps, { name: host, domains: [domain], locale: 'en', limits })
}

async function addDepositors(
  { owner }: ServiceInternals,
  companies: readonly CompanyId[]
): Promise<Depositor[]> {
  const { rows } = await owner.query<Depositor>(
    `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
     select id, gen_random_uuid(), id || '@example.com', 'Ada', now(), now() from unnest($1::uuid[]) id
     returning company_id as company, id,
       (select id from category c where c.company_id = "user".company_id limit 1) as category`,
    [companies]
  )
  return rows
}

const proofs = 100

// Hashes are made up, and only those that the proofs read. The files are read again each time.
async function measureProofs(options: BenchOptions): Promise<ReportRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vidimus-proofs-'))
  try {
    const files = openLogFiles(folder)
    const id = logIdOf('bench.example/log')
    const prepare = async (size: number) => {
      const read = tileReaderOf(files, id)
      const indexes = Array.from({ length: proofs }, () => Math.floor(Math.random() * size))
      for (const index of indexes)
        await inclusionSteps(index, size, async (tile, width) => {
          const found = await files.readTile(id, tile)
          if (!found) await files.writeTile(id, tile, randomBytes(256 * 32))
          return read(tile, width)
        })
      return async () => {
        const from = performance.now()
        for (const index of indexes) await inclusionSteps(index, size, read)
        return { ms: (performance.now() - from) / proofs }
      }
    }
    const [large, small] = [await prepare(10_000_000), await prepare(1000)]
    const { ours, peer } = await runAlternately(options, large, small)
    return [
      {
        what: 'inclusion proof at 10,000,000 leaves, at 1,000',
        ours: ours.ms,
        peer: peer.ms,
        unit: 'ms',
        target: { ratioAtMost: 2 }
      }
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// from before the last byte is sent to when the checkpoint was signed
async function measureSeals({ runs, quick, signal }: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  const count = quick ? 100 : 200 * runs
  const sent = new Map<string, number>()
  const people = await Promise.all([1, 2, 3, 4].map(() => signUpAt(service.port, companyHost)))
  await Promise.all(
    people.map(async person => {
      while (sent.size < count) {
        signal.throwIfAborted()
        const bytes = randomBytes(20_000)
        const { request, upload } = await person.reserve(bytes, randomUUID())
        sent.set(request.id, Date.now())
        const { status } = await person.tus('PATCH', upload, { offset: 0, body: bytes })
        if (status !== 204) throw new Error(`the PATCH was answered with ${status}`)
      }
    })
  )
  await untilSealed(service, signal)
  const sealed = await service.query<{ request_id: string; at: Date; id: string; user_id: string }>(
    `select d.request_id, d.id, d.user_id, (
       select published_at from log_checkpoint c where c.company_id = d.company_id and c.size > l.idx
        order by size limit 1) as at
       from deposit d join log_leaf l on (l.company_id, l.leaf_id) = (d.company_id, d.id)`
  )
  const times = sealed.map(({ request_id, at }) => at.getTime() - (sent.get(request_id) ?? 0))
  const { company_id, deps } = internals
  const sizes: number[] = []
  for (const { id, user_id } of sealed.slice(0, 20)) {
    const input = { company_id, user_id, id, format: 'json' as const }
    const { text } = await createReceipt(deps, input, run => run())
    sizes.push(text.length / 1000)
  }
  return [
    {
      what: `last byte to Sealed, p95 of ${times.length} deposits`,
      ours: quantile(times, 0.95) / 1000,
      unit: 's',
      target: { atMost: 2 }
    },
    { what: 'receipt', ours: Math.max(...sizes), unit: 'kB', target: { atMost: 5 } }
  ]
}

async function untilSealed(service: Service, signal: AbortSignal): Promise<void> {
  for (; ; await sleep(100)) {
    signal.throwIfAborted()
    const open = await service.query(
      `select from upload where state <> 'settled' union all
       select from log_head join log_state using (company_id, log_no) where published_size <= leaf_seq`
    )
    if (open.length === 0) return
  }
}

// the peer signs its log once an hour, so not in this run
async function measureDepositsBesideSigning(options: BenchOptions): Promise<ReportRow[]> {
  await using signing = await startService()
  await using waiting = await startService({ LOG_BATCH_MS: '3600000' })
  const load = async (service: Service) => {
    const [category] = await service.query<{ id: string }>(
      `update category set store = 'fingerprint' returning id`
    )
    const people = await Promise.all(
      Array.from({ length: callers }, () => signUpAt(service.port, companyHost))
    )
    return async () => {
      const { perSecond } = await runLoad({
        callers,
        seconds: options.quick ? 0.5 : 2,
        signal: options.signal,
        work: async caller => {
          await people[caller]?.call(createDeposit, documentIn(category?.id ?? ''), {
            idempotencyKey: randomUUID()
          })
        }
      })
      return { perSecond }
    }
  }
  const { ours, peer } = await runAlternately(options, await load(signing), await load(waiting))
  return [
    {
      what: 'deposits by fingerprint while the log is signed, while it is not',
      ours: ours.perSecond,
      peer: peer.perSecond,
      unit: '/s',
      target: { ratio: 0.9 }
    }
  ]
}
