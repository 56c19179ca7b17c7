import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createDataSource, deleteDataSource } from '../src/contract/data-sources.ts'
import { registerLimits } from '../src/contract/kit/limits.ts'
import {
  createRegisterImport,
  getRegisterImport,
  type RegisterImport,
  runRegisterImport,
  undoRegisterImport
} from '../src/contract/register-imports.ts'
import { getOwnAccount } from '../src/contract/users.ts'
import { postgresNiceDifference, socketConnectionConfig } from '../src/server/db/postgres.ts'
import { lowerPriority } from '../src/server/db/process-priority.ts'
import { type Client, signUpAt } from '../tests/helpers/client.ts'
import { csvDialect, diplomaColumns } from '../tests/helpers/registers.ts'
import { beside, medians } from './load.ts'
import { memoryOf, type Service, startService } from './processes.ts'
import type { BenchOptions, ReportRow } from './table.ts'

const header = 'number,name,born,degree\n'

/**
 * Imports of 1,000,000 diplomas into a register: reading the file, a dry run against a list of the
 * same length that was just loaded, the run and its undo. The peer of reading is `COPY` of the rows
 * that reading has computed, into the same table with the same indexes. During the second reading and
 * its dry run, another company calls `GET /user`. Before that, the service's memory is measured beside a file of 500 MB.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const { runs, quick, say, signal } = options
  const count = quick ? 2000 : registerLimits.rows
  await using service = await startService({ DEMO: 'true' })
  const sql = new pg.Client(
    socketConnectionConfig(await service.socketDir(), 'vidimus', 'postgres')
  )
  await sql.connect()
  const { rows: peer } = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
  // the same priority as the service gives to its own connections
  for (const { pid } of peer) await lowerPriority(pid, postgresNiceDifference)
  try {
    const ada = await signUpAt(service.port, 'localhost')
    const other = await signUpAt(service.port, 'demo.localhost')
    await sql.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
    const bytes = quick ? 5_000_000 : registerLimits.bytes
    say(`a file of ${bytes.toLocaleString('en')} bytes`)
    // first, because a process does not give back all memory
    const memory = await memoryOfImport(service, ada, { bytes, rows: count })
    const readAccount = () => other.call(getOwnAccount, {})
    await other.renew()
    const idle = await beside(readAccount, () => sleep(3000))
    const all: Record<string, number>[] = []
    for (let run = 0; run < runs; run++) {
      signal.throwIfAborted()
      say(`import ${run + 1} of ${runs}`)
      await Promise.all([ada.renew(), other.renew()])
      const figures = await importTwice({ ada, readAccount, sql, service, count })
      all.push({ ...figures, idle: idle.p99Ms })
    }
    return [...rowsOf(medians(all), count), { ...memory, target: { atMost: 300 } }]
  } finally {
    await sql.end()
  }
}

function rowsOf(figures: Record<string, number>, count: number): ReportRow[] {
  const of = (name: string) => figures[name] ?? Number.NaN
  const rows = count.toLocaleString('en')
  const wait = 'GET /user of another company, p99, beside'
  const short = { unit: 'ms', target: { atMost: 100 } }
  return [
    {
      what: 'rows of a register, read',
      ours: of('read'),
      peer: of('copy'),
      unit: '/s',
      target: { ratio: 0.5 }
    },
    {
      what: `dry run of ${rows} against ${rows}`,
      ours: of('compare'),
      unit: 's',
      target: { atMost: 60 }
    },
    { what: 'its longest statement', ours: of('longest'), unit: 's', target: { atMost: 2 } },
    { what: 'run of an import', ours: of('run'), ...short },
    { what: 'undo of an import', ours: of('undo'), ...short },
    ...['reading', 'a dry run'].map(step => ({
      what: `${wait} ${step}`,
      ours: of(step),
      peer: of('idle'),
      unit: 'ms',
      target: { ratioAtMost: 3 }
    }))
  ]
}

interface Stage {
  ada: Client
  /** A call of another company. */
  readAccount: () => Promise<unknown>
  sql: pg.Client
  service: Service
  count: number
}

async function importTwice(stage: Stage): Promise<Record<string, number>> {
  const { ada, readAccount, sql, count } = stage
  await sql.query('truncate register_row')
  const { id } = await ada.call(createDataSource, { name: randomUUID() })
  const first = await upload(ada, id, diplomas(count, 'Physics'))
  const read = await timeOf(() => untilRead(ada, first))
  await untilChecked(ada, first)
  const run = await timeOf(() => ada.call(runRegisterImport, { ...first, skip_refused: false }))

  const second = await upload(ada, id, diplomas(count, 'Law'))
  const reading = await beside(readAccount, () => untilRead(ada, second))
  const watch = watchStatements(sql)
  const compare = await beside(readAccount, () => untilChecked(ada, second))
  const longest = await watch.end()
  await ada.call(runRegisterImport, { ...second, skip_refused: false })
  const undo = await timeOf(() => ada.call(undoRegisterImport, second))

  const copied = await copyOf(stage, id)
  await sql.query('truncate register_row')
  await ada.call(deleteDataSource, { id })
  const perSecond = (ms: number) => count / (ms / 1000)
  return {
    read: perSecond(read),
    copy: perSecond(copied),
    compare: compare.ms / 1000,
    longest,
    run,
    undo,
    reading: reading.p99Ms,
    'a dry run': compare.p99Ms
  }
}

// a hundredth of the rows differs between two files of different degrees
function* diplomas(count: number, degree: string, width = 0): Generator<string> {
  yield header
  for (let n = 0; n < count; n++) {
    const title = `${n % 100 === 0 ? degree : 'Mathematics'} ${n % 40}`.padEnd(width, ' of Science')
    yield `${(n * 7919) % 1e8}-${n},Vale ${n},19${70 + (n % 30)}-03-14,${title}\n`
  }
}

interface ImportIds {
  /** Of the register. */
  id: string
  importId: string
}

async function upload(ada: Client, id: string, lines: Iterable<string>): Promise<ImportIds> {
  const body = Buffer.from([...lines].join(''))
  const made = await ada.call(createRegisterImport, {
    id,
    mode: 'replace',
    file_name: 'diplomas.csv',
    bytes: body.length,
    dialect: csvDialect,
    columns: diplomaColumns
  })
  const { status } = await ada.tus('PATCH', made.upload ?? '', { offset: 0, body })
  if (status !== 204) throw new Error(`the upload was answered with ${status}`)
  return { id, importId: made.import.id }
}

const untilRead = (ada: Client, ids: ImportIds) =>
  until(ada, ids, ({ state, progress }) => state === 'checked' || progress?.step === 'comparing')

const untilChecked = (ada: Client, ids: ImportIds) =>
  until(ada, ids, ({ state }) => state === 'checked' || state === 'done')

async function until(
  ada: Client,
  ids: ImportIds,
  isReached: (found: RegisterImport) => boolean
): Promise<void> {
  for (;;) {
    const found = await ada.call(getRegisterImport, ids)
    if (found.failure !== null) throw new Error(`the import failed: ${found.failure.code}`)
    if (isReached(found)) return
    await sleep(20)
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Looks ten times a second for how long statements have run. `end` returns the most, in seconds. */
function watchStatements(sql: pg.Client) {
  let [isOver, longest] = [false, 0]
  const looking = (async () => {
    while (!isOver) {
      const { rows } = await sql.query<{ seconds: number | null }>(
        `select max(extract(epoch from clock_timestamp() - query_start))::float8 as seconds
           from pg_stat_activity
          where state = 'active' and backend_type = 'client backend' and pid <> pg_backend_pid()`
      )
      longest = Math.max(longest, rows[0]?.seconds ?? 0)
      await sleep(100)
    }
  })()
  return {
    async end(): Promise<number> {
      isOver = true
      await looking
      return longest
    }
  }
}

// the rows of the first segment, in a table that is as empty as it was before they were read
async function copyOf({ sql, service, count }: Stage, source: string): Promise<number> {
  const file = join(service.dataDir, 'pg', 'rows.copy')
  await sql.query(
    `copy (select * from register_row where source_id = '${source}' and segment = 1 order by number)
       to '${file}'`
  )
  await sql.query('truncate register_row')
  const started = performance.now()
  const { rowCount } = await sql.query(`copy register_row from '${file}'`)
  if (rowCount !== count) throw new Error(`COPY wrote ${rowCount} of ${count} rows`)
  return performance.now() - started
}

async function memoryOfImport(
  service: Service,
  ada: Client,
  { bytes, rows }: { bytes: number; rows: number }
): Promise<ReportRow> {
  const { id } = await ada.call(createDataSource, { name: randomUUID() })
  // the call below takes the columns of the import before it
  const before = await upload(ada, id, diplomas(10, 'Physics'))
  await untilChecked(ada, before)
  await ada.call(runRegisterImport, { ...before, skip_refused: false })
  const folder = await mkdtemp(join(tmpdir(), 'vidimus-bench-'))
  try {
    const path = join(folder, 'wide.csv')
    const width = Math.floor(bytes / rows) - 40
    await pipeline(Readable.from(diplomas(rows, 'Physics', width)), createWriteStream(path))
    const idle = memoryOf(service.pid())
    let peak = idle
    const sampling = setInterval(() => {
      peak = Math.max(peak, memoryOf(service.pid()))
    }, 100)
    try {
      const importId = await putFile(service, ada, id, path)
      await untilChecked(ada, { id, importId })
    } finally {
      clearInterval(sampling)
    }
    const { size } = await stat(path)
    const what = `memory above idle beside a file of ${Math.round(size / 1e6)} MB`
    return { what, ours: peak - idle, unit: 'MB', note: `idle ${Math.round(idle)} MB` }
  } finally {
    await rm(folder, { recursive: true })
  }
}

// as `curl -T` sends it: the client holds no file in memory
async function putFile({ port }: Service, ada: Client, id: string, path: string): Promise<string> {
  const { size } = await stat(path)
  const answered = Promise.withResolvers<http.IncomingMessage>()
  const sent = http.request({
    host: '127.0.0.1',
    port,
    method: 'PUT',
    path: `/data_source/${id}/import?mode=replace`,
    headers: {
      host: `api.${ada.host}`,
      authorization: `Bearer ${ada.token()}`,
      'content-length': size,
      'idempotency-key': randomUUID()
    }
  })
  sent.once('response', answered.resolve)
  sent.once('error', answered.reject)
  await pipeline(createReadStream(path), sent)
  const chunks: Buffer[] = []
  for await (const chunk of await answered.promise) chunks.push(chunk)
  const made: RegisterImport = JSON.parse(Buffer.concat(chunks).toString())
  return made.id
}
