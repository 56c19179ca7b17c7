import { randomBytes } from 'node:crypto'
import http from 'node:http'
import { createDeposit, createDepositBatch } from '../src/contract/deposits.ts'
import { batchContentType, batchForm, batchItem } from '../tests/helpers/deposits/batches.ts'
import { type LoadFigures, runAlternately, runLoad } from './load.ts'
import { startService } from './processes.ts'
import { companyHost, openServiceInternals } from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

// a typical exported document and a typical scan
const sizes = [20_000, 200_000]
const filesOf = (size: number) => Math.min(50, Math.floor(7_500_000 / size))
const callers = 2

/**
 * Two callers deposit small files by `POST /deposit/batch`, with flush and commit. The peer is the
 * same service with two calls for each file, `POST /deposit` and `PATCH`, until all of them are
 * recorded.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  const [person] = await internals.addPeople(1)
  if (!person) throw new Error('nobody deposits')
  const agent = new http.Agent({ keepAlive: true, maxSockets: callers })
  const headers = { host: `api.${companyHost}`, authorization: `Bearer ${person.token}` }
  const seconds = options.quick ? 0.5 : 3

  async function ask(
    method: string,
    path: string,
    body: Uint8Array,
    more: object
  ): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const length = { 'content-length': String(body.length) }
    const given = { ...headers, ...length, ...more }
    const at = { agent, host: '127.0.0.1', port: service.port }
    const request = http.request({ ...at, method, path, headers: given }, async response => {
      const said = Buffer.concat(await response.toArray())
      if ((response.statusCode ?? 500) < 300) resolve(said)
      else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${said}`))
    })
    request.on('error', reject)
    request.end(body)
    return promise
  }

  async function inBatches(size: number): Promise<void> {
    const files = Array.from({ length: filesOf(size) }, () => randomBytes(size))
    const items = files.map(bytes => batchItem(bytes))
    const said = await ask('POST', createDepositBatch.path, batchForm(items, files), {
      'content-type': batchContentType
    })
    const { results } = createDepositBatch.message.parse(JSON.parse(said.toString()))
    if (!results.every(result => 'request' in result)) throw new Error('a file was refused')
  }

  async function inSingleCalls(size: number): Promise<void> {
    const bytes = randomBytes(size)
    const { key, ...item } = batchItem(bytes)
    const json = { 'content-type': 'application/json', 'idempotency-key': key }
    const said = await ask('POST', '/deposit', Buffer.from(JSON.stringify(item)), json)
    const made = createDeposit.output.parse(JSON.parse(said.toString()))
    if (!('upload' in made) || made.upload === undefined) throw new Error('no upload')
    await ask('PATCH', made.upload, bytes, {
      'tus-resumable': '1.0.0',
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream'
    })
  }

  async function recorded(run: () => Promise<LoadFigures>): Promise<{ perSecond: number }> {
    const started = performance.now()
    const { done } = await run()
    for (;;) {
      const { rows } = await internals.owner.query(
        `select count(*)::int as open from upload where state <> 'settled'`
      )
      if (rows[0].open === 0) break
    }
    return { perSecond: (done * 1000) / (performance.now() - started) }
  }

  const rows: ReportRow[] = []
  const { signal } = options
  for (const size of sizes) {
    const files = filesOf(size)
    const { ours, peer } = await runAlternately<{ perSecond: number }>(
      options,
      async () => {
        const { perSecond } = await runLoad({
          callers,
          seconds,
          signal,
          work: () => inBatches(size)
        })
        return { perSecond: perSecond * files }
      },
      () => recorded(() => runLoad({ callers, seconds, signal, work: () => inSingleCalls(size) }))
    )
    rows.push({
      what: `files of ${size / 1000} kB in batches of ${files}, in single calls`,
      ours: ours.perSecond,
      peer: peer.perSecond,
      unit: '/s',
      target: { ratio: 4 }
    })
  }
  agent.destroy()
  return rows
}
