import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDataSource } from '../../src/contract/data-sources.ts'
import {
  createRegisterImport,
  runRegisterImport,
  undoRegisterImport
} from '../../src/contract/register-imports.ts'
import { fetchAt } from '../../tests/helpers/client.ts'
import { createRandom } from '../../tests/helpers/random.ts'
import { csvDialect, diplomaColumns } from '../../tests/helpers/registers.ts'
import { listenLocally } from '../../tests/helpers/servers/listen.ts'
import type { ServiceProcess } from '../../tests/helpers/service.ts'
import type { ImportingServices } from './imports.ts'

/**
 * What goes on when a process is killed. `restart`: it reads, and is started again. `read`: it reads,
 * and the other process takes over. `run`: the same, and the call that brought the file wants it to
 * run. `send`: half of the file has arrived, and the rest goes to the other process. `put`: half of a
 * body has arrived, and the call is made again with its key. `fetch`: the file comes from an address.
 */
type Step = 'restart' | 'read' | 'run' | 'send' | 'put' | 'fetch'

interface Options {
  seed: number
  rounds: number
  rows: number
  steps?: Step[]
  onKill?: (text: string) => void
}

// on the slowest machine
const patienceMs = 240_000

/**
 * C-01 with registers. Whatever is killed, the register has all rows of the file after the run and
 * none before, the undo brings back those from before, and no row and no file is left over.
 */
export async function killDuringRegisterImports(
  { one, other, ada }: ImportingServices,
  {
    seed,
    rounds,
    rows,
    steps = ['restart', 'read', 'run', 'send', 'put', 'fetch'],
    onKill = () => undefined
  }: Options
) {
  const random = createRandom(seed)
  const faults: string[] = []
  const waits: number[] = []
  const { id: source } = await ada.call(createDataSource, { name: `Register ${randomUUID()}` })
  await importWhole(fileOf(rows, 'first'))

  for (let round = 1; round <= rounds; round++) {
    for (const step of steps) {
      await ada.renew()
      const before = await contents()
      const importId = await killed(step, fileOf(rows, `${round}-${step}`))
      const runsItself = step === 'run' || step === 'put'
      const checked = await until(
        importId,
        ({ state }) => state === (runsItself ? 'done' : 'checked')
      )
      if (!runsItself) {
        expectSame(`${step}, before the run`, await contents(), before)
        expectSame(step, checked.counts, { new: rows, changed: 0, unchanged: 0, refused: 0 })
        await ada.call(runRegisterImport, { id: source, importId, skip_refused: false })
      }
      const number = before.number + 1
      expectSame(`${step}, after the run`, await contents(), { number, rows, removed: before.rows })
      await ada.call(undoRegisterImport, { id: source, importId })
      const { digest } = await contents()
      expectSame(`${step}, after the undo`, { digest }, { digest: before.digest })
    }
  }
  await nothingIsLeft()
  return { seed, kills: rounds * steps.length, longest_wait_ms: Math.max(0, ...waits), faults }

  async function killed(step: Step, file: Buffer): Promise<string> {
    // the restarted process is the one that the person talks to
    const service = step === 'restart' ? one : other
    if (service === other) await other.start()
    if (step === 'put') return killedWhilePut(file)
    if (step === 'fetch') return killedWhileFetching(file)
    if (step === 'run') {
      const importId = idOf(await put(other, file, randomUUID(), { run: 'true' }))
      await killWhileReading(other, importId)
      return importId
    }
    const { importId, upload } = await create(service, { bytes: file.length })
    if (step === 'send') {
      const half = file.length >> 1
      await patch(other, upload, file.subarray(0, half), 0)
      await killWhile(other, 'the file arrived', async () => {
        await patch(other, upload, file.subarray(half), half, () => kill(other))
      })
      const { headers } = await ada.tus('HEAD', upload)
      const held = Number(headers['upload-offset'])
      if (held < half) faults.push(`of ${half} acknowledged bytes, ${held} are left`)
      await patch(one, upload, file.subarray(held), held)
      return importId
    }
    await patch(service, upload, file, 0)
    await killWhileReading(service, importId)
    return importId
  }

  async function killWhileReading(service: ServiceProcess, importId: string): Promise<void> {
    await until(importId, ({ state, rows: read }) => read > 0 || state !== 'reading')
    await sleep(random.integer(0, Math.floor(rows / 100)))
    await kill(service)
    const at = performance.now()
    const left = await read(importId)
    onKill(`killed while ${left.state}, ${left.step} behind row ${left.rows}`)
    if (service === one) await one.start()
    await until(importId, now => now.generation > left.generation || now.state !== 'reading')
    waits.push(Math.round(performance.now() - at))
  }

  async function killedWhilePut(file: Buffer): Promise<string> {
    const key = randomUUID()
    await killWhile(other, 'the body arrived', () =>
      put(other, file, key, { run: 'true' }, async () => {
        await untilBegun()
        await kill(other)
      })
    )
    // or it would be answered that the call still runs
    await one.query(`update upload set active_at = active_at - interval '5 minutes'
      where purpose = 'register' and state = 'uploading'`)
    return idOf(await put(one, file, key, { run: 'true' }))
  }

  // half of the body may wait in front of a busy process
  async function untilBegun(): Promise<void> {
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(5)) {
      const [begun] = await one.query<{ id: string }>(
        `select id from register_import where source_id = $1 and state = 'uploading'`,
        [source]
      )
      if (begun) return
    }
    faults.push('a call whose body arrived began no import')
  }

  async function killedWhileFetching(file: Buffer): Promise<string> {
    const half = file.length >> 1
    const waiting: ServerResponse[] = []
    let isSlow = true
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': file.length }).write(file.subarray(0, half))
      if (isSlow) waiting.push(response)
      else response.end(file.subarray(half))
    })
    const port = await listenLocally(server)
    const { importId } = await create(other, { url: `http://127.0.0.1:${port}/list.csv` })
    await until(importId, ({ step }) => step === 'fetching')
    await sleep(random.integer(0, 1_500))
    isSlow = false
    await kill(other)
    onKill('killed while fetching')
    // perhaps the process that lives was the one that fetches
    for (const response of waiting) response.end(file.subarray(half))
    await until(importId, ({ state }) => state !== 'reading')
    server.closeAllConnections()
    server.close()
    return importId
  }

  async function killWhile(
    service: ServiceProcess,
    what: string,
    call: () => Promise<unknown>
  ): Promise<void> {
    const isAnswered = await call().then(
      () => true,
      () => false
    )
    if (isAnswered) faults.push(`a call was answered although ${service.port} was killed`)
    onKill(`killed while ${what}`)
  }

  function kill(service: ServiceProcess): Promise<void> {
    return service.kill().then(() => undefined)
  }

  async function importWhole(file: Buffer): Promise<void> {
    const { importId, upload } = await create(one, { bytes: file.length })
    await patch(one, upload, file, 0)
    await until(importId, ({ state }) => state === 'checked')
    await ada.call(runRegisterImport, { id: source, importId, skip_refused: false })
  }

  async function create(service: ServiceProcess, file: { bytes: number } | { url: string }) {
    const made = await ada.call(
      createRegisterImport,
      { id: source, mode: 'replace', ...file, dialect: csvDialect, columns: diplomaColumns },
      { fetch: fetchAt(service.port) }
    )
    return { importId: made.import.id, upload: made.upload ?? '' }
  }

  async function patch(
    { port: at }: ServiceProcess,
    upload: string,
    body: Buffer,
    offset: number,
    halfway?: () => Promise<void>
  ): Promise<void> {
    const answer = await ada.send({
      ...{ at, method: 'PATCH', path: upload, body },
      headers: {
        'tus-resumable': '1.0.0',
        'upload-offset': String(offset),
        'content-type': 'application/offset+octet-stream'
      },
      ...(halfway && { halfway })
    })
    if (answer.status !== 204) throw new Error(`PATCH answered ${answer.status}: ${answer.body}`)
  }

  async function put(
    { port: at }: ServiceProcess,
    body: Buffer,
    key: string,
    query: Record<string, string>,
    halfway?: () => Promise<void>
  ) {
    const answer = await ada.send({
      ...{ at, method: 'PUT', body },
      path: `/data_source/${source}/import?${new URLSearchParams({ mode: 'replace', ...query })}`,
      headers: { 'idempotency-key': key },
      ...(halfway && { halfway })
    })
    if (answer.status !== 202) throw new Error(`PUT answered ${answer.status}: ${answer.body}`)
    return answer
  }

  async function read(importId: string) {
    const [found] = await one.query<{
      state: string
      step: string | null
      rows: number
      generation: number
      counts: object | null
    }>('select state, step, rows, generation, counts from register_import where id = $1', [
      importId
    ])
    if (!found) throw new Error(`the import ${importId} is gone`)
    return found
  }

  async function until(
    importId: string,
    isReached: (now: Awaited<ReturnType<typeof read>>) => boolean
  ) {
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(5)) {
      const now = await read(importId)
      if (isReached(now)) return now
      if (now.state === 'failed') throw new Error(`the import failed: ${JSON.stringify(now)}`)
    }
    throw new Error(`the import is still ${JSON.stringify(await read(importId))}`)
  }

  /** Of the current version. `digest` is the same for the same rows. */
  async function contents() {
    const [found] = await one.query<{
      number: number
      rows: number
      removed: number
      digest: string
    }>(
      `select s.number, (select count(*)::int from register_row r where r.source_id = s.id
                and r.segment = any (s.segments)) as rows,
              coalesce(v.removed, 0) as removed,
              (select md5(string_agg(tag::text || content::text, ',' order by tag))
                 from register_row r where r.source_id = s.id and r.segment = any (s.segments)) as digest
         from data_source s left join register_version v
           on v.source_id = s.id and v.number = s.number where s.id = $1`,
      [source]
    )
    if (!found) throw new Error('the register is gone')
    return found
  }

  /** Rows of attempts that were killed, and files that arrived, are erased. */
  async function nothingIsLeft(): Promise<void> {
    let left = {}
    for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(200)) {
      const [found] = await one.query<{ rows: number; uploads: number }>(
        `select (select count(*)::int from register_row r where not exists (
                   select from register_version v where v.source_id = r.source_id
                     and r.segment = any (v.segments))) as rows,
                (select count(*)::int from upload where state <> 'settled') as uploads`
      )
      const folder = join(one.documents, 'staging')
      const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(each =>
        each.isFile()
      )
      left = { ...found, files: files.length }
      if (Object.values(left).every(count => count === 0)) return
    }
    faults.push(`${JSON.stringify(left)} are left`)
  }

  function expectSame(what: string, found: object | null, expected: object): void {
    for (const [name, value] of Object.entries(expected)) {
      // as: one member of an object of figures
      const is = (found as Record<string, unknown> | null)?.[name]
      if (is !== value) faults.push(`${what}: ${name} is ${is} instead of ${value}`)
    }
  }
}

function idOf({ body }: { body: Buffer }): string {
  return JSON.parse(body.toString()).id
}

function fileOf(rows: number, tag: string): Buffer {
  const lines = Array.from(
    { length: rows },
    (_, at) => `${tag}-${at},Élodie Durand,1999-05-31,Master ${at % 7}`
  )
  return Buffer.from(`number,name,born,degree\n${lines.join('\n')}\n`)
}
