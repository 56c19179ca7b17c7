import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLogFiles } from '../../src/server/adapters/log-files.ts'
import { logIdOf } from '../../src/server/domain/evidence/logs.ts'
import { type Client, signUpAt } from '../../tests/helpers/client.ts'
import { readPublished } from '../../tests/helpers/evidence/published-log.ts'
import { createRandom, type Random } from '../../tests/helpers/random.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'
import { vidimus } from './held.ts'
import { checkLogsOf, watchCheckpoints } from './published-logs.ts'

interface LogRow {
  origin: string
  state: string
  published: number
  leaves: number
}

const host = 'localhost'
const patienceMs = 90_000

/**
 * C-11 with a database that is restored to an earlier day while the published files stay: nothing is
 * signed until `vidimus log resync`, deposits go on, and then there is one history.
 */
export async function testRestoredDatabase({ seed }: { seed: number }) {
  const random = createRandom(seed)
  const faults: string[] = []
  await using service = await makeServiceProcess({ DEMO: 'false' })
  await service.start()
  const watch = watchCheckpoints(join(service.dataDir, 'log'))
  const ada = await signUpAt(service.port, host)
  const kept = await deposit(ada, random, 30)
  await untilSealed(service)
  await service.stop()
  const [data, backup] = [join(service.dataDir, 'pg'), join(service.folder, 'backup')]
  execFileSync('cp', ['-a', data, backup])
  await service.start()
  const lost = await deposit(ada, random, 30)
  const { origin } = await untilSealed(service)
  const files = openLogFiles(join(service.dataDir, 'log'))
  const before = await readPublished(files, origin)
  await service.stop()
  rmSync(data, { recursive: true })
  execFileSync('cp', ['-a', backup, data])

  await service.start()
  // enough for the database to have more leaves than were signed
  const later = await deposit(ada, random, 40)
  await until(async () => (await service.readiness())['frozen_logs'] === 1)
  const readiness = await service.readiness()
  if (readiness['status'] !== 200 || readiness['frozen_logs'] !== 1)
    faults.push(`/readyz says ${JSON.stringify(readiness)}`)
  await sleep(2000)
  const note = await readFile(join(service.dataDir, 'log', logIdOf(origin), 'checkpoint'), 'utf8')
  if (note !== before.note) faults.push('a log was signed while its database was an older one')
  const { state } = await readLog(service)
  if (state !== 'behind') faults.push(`the log is ${state} and not behind`)

  const resynced = vidimus(service, 'log', 'resync', origin)
  const last = await deposit(ada, random, 10)
  await untilSealed(service)
  const after = await readPublished(files, origin)
  const isPrefix = before.leaves.every((leaf, at) => leaf === after.leaves[at])
  if (!isPrefix) faults.push('what was published has changed')
  const ids = after.leaves.map(leaf => JSON.parse(leaf).id)
  const rows = await service.query<{ id: string }>('select id from deposit')
  const isWhole = rows.every(({ id }) => ids.includes(id)) && new Set(ids).size === ids.length
  if (!isWhole || ids.length !== 1 + kept + lost + later + last)
    faults.push(`${ids.length} leaves are not those of all deposits`)
  const ready = await service.readiness()
  if (ready['frozen_logs'] !== 0) faults.push(`afterwards, /readyz says ${JSON.stringify(ready)}`)
  const logs = await checkLogsOf(service, await watch.end())
  faults.push(...logs.faults)
  const exit = await service.stop()
  if (exit !== 0) faults.push(`the graceful stop ended with ${exit}`)
  return { seed, resynced, figures: logs.figures, faults }
}

/**
 * C-11 with a copy of the whole data folder that runs beside the original: it signs nothing until
 * `vidimus log moved`, and loses nothing.
 */
export async function testCopiedFolder({ seed }: { seed: number }) {
  const random = createRandom(seed)
  const faults: string[] = []
  await using service = await makeServiceProcess({ DEMO: 'false' })
  await service.start()
  const ada = await signUpAt(service.port, host)
  await deposit(ada, random, 30)
  const { origin } = await untilSealed(service)
  await service.stop()
  await using copy = await makeServiceProcess({ DEMO: 'false' })
  execFileSync('cp', ['-a', service.dataDir, copy.dataDir])
  await Promise.all([service.start(), copy.start()])

  const files = openLogFiles(join(copy.dataDir, 'log'))
  const before = await readPublished(files, origin)
  const bob = await signUpAt(copy.port, host)
  await Promise.all([deposit(ada, random.fork(), 10), deposit(bob, random.fork(), 10)])
  await untilSealed(service)
  await until(async () => (await copy.readiness())['frozen_logs'] === 1)
  await sleep(2000)
  if ((await readPublished(files, origin)).note !== before.note) faults.push('the copy has signed')
  const { state, published, leaves } = await readLog(copy)
  if (state !== 'copied' || leaves !== published + 10)
    faults.push(`the copy is ${state} and has ${leaves} leaves, ${published} of them signed`)
  const original = await service.stop()

  const moved = vidimus(copy, 'log', 'moved')
  await untilSealed(copy)
  const after = await readPublished(files, origin)
  const isPrefix = before.leaves.every((leaf, at) => leaf === after.leaves[at])
  if (!isPrefix || after.leaves.length !== before.leaves.length + 10)
    faults.push(`${after.leaves.length} leaves were signed after the move`)
  const exits = [original, await copy.stop()]
  if (exits.some(exit => exit !== 0)) faults.push(`the graceful stops ended with ${exits}`)
  return { seed, moved, faults }
}

async function deposit(client: Client, random: Random, count: number): Promise<number> {
  await client.renew()
  for (let n = 0; n < count; n++) {
    const bytes = random.bytes(random.integer(1, 20_000))
    const { upload } = await client.reserve(bytes, randomUUID())
    await client.tus('PATCH', upload, { offset: 0, body: bytes })
  }
  return count
}

async function untilSealed(service: ServiceProcess): Promise<LogRow> {
  await until(async () => {
    const [open] = await service.query('select from upload where state <> $1', ['settled'])
    const { published, leaves } = await readLog(service)
    return !open && published === leaves
  })
  return readLog(service)
}

async function readLog(service: ServiceProcess): Promise<LogRow> {
  const [log] = await service.query<LogRow>(
    `select l.origin, state, published_size::int as published, leaf_seq::int + 1 as leaves
       from log_state l join log_head using (company_id, log_no)`
  )
  if (!log) throw new Error('there is no log')
  return log
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(100))
    if (await isDone()) return
}
