import { randomBytes } from 'node:crypto'
import { diplomaColumns, fileColumns, makeRegister } from '../tests/helpers/registers.ts'
import { Connection, jsonOf, requestText } from './connection.ts'
import { startService } from './processes.ts'
import { companyHost, openServiceInternals, type ServiceInternals } from './service-internals.ts'
import { type BenchOptions, median, type ReportRow } from './table.ts'

const knownRows = 1000
const looked = 3000

/**
 * How long `POST /verify` of a stranger takes, one after the other: a fingerprint in a register of
 * 10,000,000 rows, compared with one of 10,000 rows; half of the fingerprints are listed. And whether
 * the time tells a wrong check field from an unknown reference: the difference of the means, in
 * standard deviations. Each such call comes from another network, because misses are limited.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const { quick, say, signal } = options
  await using service = await startService({ TRUSTED_PROXIES: '127.0.0.1' })
  await using internals = await openServiceInternals(service)
  const { owner, company_id } = internals
  const { rows: categories } = await owner.query(
    `update category set visibility = 'public' where company_id = $1 returning id`,
    [company_id]
  )
  const category: string = categories[0].id
  const known = Array.from({ length: knownRows }, () => randomBytes(32).toString('hex'))
  const register = await makeRegister(internals, company_id, {
    columns: fileColumns,
    rows: known.map(sha256 => [sha256, 'Report']),
    category
  })
  const medians: number[] = []
  const sizes = quick ? [2000, 20_000] : [10_000, 10_000_000]
  for (const [at, size] of sizes.entries()) {
    say(`filling in rows up to ${size.toLocaleString('en')}`)
    await fill(internals, register.id, { from: sizes[at - 1] ?? knownRows, to: size, signal })
    medians.push(await medianOfLookUps(service.port, known, options))
  }
  const [few = Number.NaN, many = Number.NaN] = medians
  const [small = '', large = ''] = sizes.map(size => size.toLocaleString('en'))
  const diplomas = await makeRegister(internals, company_id, {
    columns: diplomaColumns,
    rows: [['D-1', 'Vale', '1999-03-14', 'Physics']],
    category
  })
  const { effect, count } = await effectOfWrongFields(service.port, diplomas.id, options)
  return [
    {
      what: `look-up in ${large} rows, median; peer: in ${small}`,
      ours: many,
      peer: few,
      unit: 'ms',
      target: { ratioAtMost: 1.5 }
    },
    {
      what: 'wrong field and unknown reference, difference of times',
      ours: Math.abs(effect),
      unit: 'standard deviations',
      target: { atMost: 0.05 },
      note: `${count.toLocaleString('en')} calls of each; by chance alone about ${Math.sqrt(2 / count).toFixed(3)}`
    }
  ]
}

// the rows have random tags and nothing that could be opened, because no call finds them
async function fill(
  { owner, company_id }: ServiceInternals,
  source: string,
  { from, to, signal }: { from: number; to: number; signal: AbortSignal }
): Promise<void> {
  const chunk = 100_000
  for (let start = from; start < to; start += chunk) {
    signal.throwIfAborted()
    await owner.query(
      `insert into register_row (company_id, source_id, segment, number, tag, content, row_hash, sealed)
       select $1, $2, 1, n, sha256(uuid_send(gen_random_uuid())), substr(hash, 1, 16), hash,
              hash || hash || hash || hash
         from generate_series($3::int, $4::int) n, sha256(int4send(n)) hash`,
      [company_id, source, start, Math.min(start + chunk, to) - 1]
    )
  }
  await owner.query('vacuum analyze register_row')
  await owner.query('checkpoint')
}

async function medianOfLookUps(
  port: number,
  known: readonly string[],
  { quick, signal }: BenchOptions
): Promise<number> {
  const connection = await Connection.open(port)
  const times: number[] = []
  // the first tenth warms up
  const warm = quick ? 20 : looked / 10
  for (let at = -warm; at < (quick ? 200 : looked); at++) {
    signal.throwIfAborted()
    const isKnown = at % 2 === 0
    const one = known[Math.floor(Math.random() * known.length)] ?? ''
    const sha256 = isKnown ? one : randomBytes(32).toString('hex')
    const verdict = isKnown ? 'known_to_register' : 'not_found'
    const ms = await timeOfVerify(connection, { sha256 }, verdict)
    if (at >= 0) times.push(ms)
  }
  connection.close()
  return median(times)
}

async function effectOfWrongFields(
  port: number,
  data_source: string,
  { quick, signal }: BenchOptions
): Promise<{ effect: number; count: number }> {
  const connection = await Connection.open(port)
  const count = quick ? 200 : 20_000
  const times: { wrong: number[]; unknown: number[] } = { wrong: [], unknown: [] }
  // in turns, and each first as often as the other
  for (let at = 0; at < 2 * count; at++) {
    signal.throwIfAborted()
    const kind = at % 4 === 0 || at % 4 === 3 ? 'wrong' : 'unknown'
    const reference = kind === 'wrong' ? 'D-1' : 'D-2'
    const item = { reference, data_source, fields: ['Noor', '1999-03-14'] }
    times[kind].push(await timeOfVerify(connection, item, 'not_found', addressOf(at)))
  }
  connection.close()
  return { effect: effectSize(times.wrong, times.unknown), count }
}

/** Cohen's d. */
function effectSize(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [momentsOf(one), momentsOf(other)]
  return (a.mean - b.mean) / Math.sqrt((a.variance + b.variance) / 2)
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length
  const squares = values.reduce((sum, each) => sum + (each - mean) ** 2, 0)
  return { mean, variance: squares / (values.length - 1) }
}

const addressOf = (at: number) => `100.${64 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`

async function timeOfVerify(
  connection: Connection,
  item: object,
  verdict: string,
  address = '192.0.2.1'
): Promise<number> {
  const headers = { host: `api.${companyHost}`, 'x-forwarded-for': address }
  const request = requestText('POST', '/verify', headers, { items: [item] })
  const started = performance.now()
  const answer = await connection.requestWithRetry(request)
  const ms = performance.now() - started
  // as: the type of the response in the contract
  const { items } = jsonOf(answer) as { items: { verdict: string }[] }
  if (items[0]?.verdict !== verdict) throw new Error(`a look-up was not ${verdict}`)
  return ms
}
