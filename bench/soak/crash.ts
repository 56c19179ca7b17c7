import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStream } from '../../tests/helpers/event-stream.ts'
import { createRandom, type Random } from '../../tests/helpers/random.ts'
import { listenLocally } from '../../tests/helpers/servers/listen.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'
import { checkConsistency, checkStoredBytes } from './consistency.ts'
import { startDepositors } from './depositors.ts'
import { checkLogsOf, watchCheckpoints } from './published-logs.ts'

interface CrashReport {
  seed: number
  kills: number
  /** How many times the database was killed together with the service. */
  database_kills: number
  acknowledged: number
  abandoned: number
  cancelled: number
  first_start_ms: number
  restart_ms: { least: number; median: number; most: number }
  /** The longest time without a document that was acknowledged. */
  longest_pause_ms: number
  figures: Record<string, number>
  /** Errors after which depositors tried again. */
  codes: Record<string, number>
  logged: Record<string, number>
  exit: number | string | null
  faults: string[]
}

/**
 * C-01: people deposit while the service is killed at random moments. Afterwards every acknowledged
 * document must exist exactly once, with its bytes, charge, event, leaf and receipt (C-11), and no log
 * may have signed two roots for one size.
 */
export async function killDuringDeposits(options: {
  seed: number
  kills: number
  depositors?: number
  /** Of the API on one database, behind one address. Above 1, the database is not killed. */
  processes?: number
  /** Undefined on machines with other work, where a restart may take any time. */
  maxRestartMs?: number
  onKill?: (text: string) => void
}): Promise<CrashReport> {
  const { seed, kills, depositors = 16, processes = 1, onKill = () => undefined } = options
  const { maxRestartMs = Number.POSITIVE_INFINITY } = options
  const random = createRandom(seed)
  const role = processes > 1 ? { ROLE: 'api' } : {}
  await using service = await makeServiceProcess(role)
  const firstStart = await service.start()
  await using further = new AsyncDisposableStack()
  const services = [service]
  for (let number = 1; number < processes; number++) {
    const settings = { ...role, DATA_DIR: service.dataDir }
    const other = further.use(await makeServiceProcess(settings))
    await other.start()
    services.push(other)
  }
  // those of the demonstration are too low for many kills
  await service.query(
    'update "group" set max_requests = 1000000, max_storage = 1000000000000 where max_requests is not null'
  )
  const watch = watchCheckpoints(join(service.dataDir, 'log'))
  await using address = await startBalancer(services.map(({ port }) => port))
  const crowd = await startDepositors({
    port: address.port,
    // the second company has limits, so the audit can check what its deposits were charged
    hosts: Array.from({ length: depositors }, (_, n) =>
      n % 4 === 3 ? 'demo.localhost' : 'localhost'
    ),
    random: random.fork(),
    patienceSeconds: 300
  })

  const ended = (end: string) => crowd.remembered.filter(each => each.end === end).length
  const pauses = watchPauses(() => ended('acknowledged'))
  const { faults, restarts, databaseKills } = await killAtRandom(services, {
    random,
    kills,
    onKill,
    countDone: () => ended('acknowledged')
  })
  const longestPause = pauses.end()
  await crowd.finish()
  for (const other of services.slice(1)) {
    const exit = await other.stop()
    if (exit !== 0) faults.push(`the graceful stop of another process ended with ${exit}`)
  }
  const { figures, faults: found } = await checkConsistency(service, crowd.remembered)
  faults.push(...found, ...(await checkStoredBytes(service, crowd.remembered)))
  const logs = await checkLogsOf(service, await watch.end())
  faults.push(...logs.faults)
  const { unrecorded } = logs.figures
  if (unrecorded > 0) faults.push(`${unrecorded} checkpoints that were seen have no row`)
  const slow = restarts.filter(ms => ms > maxRestartMs)
  if (slow.length > 0) faults.push(`${slow.length} restarts took more than ${maxRestartMs} ms`)
  const [watcher] = crowd.clients
  if (!watcher) throw new Error('nobody deposits')
  await watcher.renew()
  const { host } = watcher
  const stream = await openStream(service.port, { host, token: watcher.token() })
  await stream.next()
  const exit = await service.stop()
  if (exit !== 0) faults.push(`the graceful stop ended with ${exit}`)
  await stream.ended()
  if (stream.events.at(-1)?.event !== 'bye') faults.push('the stop said no goodbye to a stream')

  return {
    seed,
    kills,
    database_kills: databaseKills,
    acknowledged: ended('acknowledged'),
    abandoned: ended('abandoned'),
    cancelled: ended('cancelled'),
    first_start_ms: Math.round(firstStart),
    restart_ms: spread(restarts),
    longest_pause_ms: longestPause,
    figures: { ...figures, ...logs.figures },
    codes: crowd.codes,
    logged: errorsOf(services.map(each => each.log()).join('\n')),
    exit,
    faults
  }
}

/**
 * With `countDone`, waits before each kill until this number has grown, because a service on a busy
 * machine might do nothing between two kills.
 */
export async function killAtRandom(
  services: readonly ServiceProcess[],
  options: {
    random: Random
    kills: number
    onKill: (text: string) => void
    countDone?: () => number
  }
) {
  const { random, kills, onKill, countDone } = options
  const faults: string[] = []
  const restarts: number[] = []
  let databaseKills = 0
  for (let kill = 1; kill <= kills; kill++) {
    if (countDone) await waitForGrowth(countDone)
    await sleep(random.integer(50, 1500))
    const service = random.pick(services)
    // every second kill, of which the last is one
    const both = services.length === 1 && (kills - kill) % 2 === 0
    const databaseFirst = random.chance(0.5)
    if (both && databaseFirst) await service.killDatabase()
    const end = await service.kill()
    if (end !== 'SIGKILL') faults.push(`the service ended by itself with ${end}`)
    if (both && !databaseFirst) await service.killDatabase()
    if (both) databaseKills++
    const ms = await service.start()
    restarts.push(ms)
    const what = both ? 'service and database' : 'service'
    onKill(`kill ${kill} of ${kills}: ${what}, ready after ${Math.round(ms)} ms`)
  }
  return { faults, restarts, databaseKills }
}

// passes each connection on to a port that takes it
async function startBalancer(ports: readonly number[]) {
  const clients = new Set<Socket>()
  let next = 0
  const server = createServer(client => {
    clients.add(client)
    client.on('error', () => undefined)
    client.once('close', () => clients.delete(client))
    tryPort(client, ports.length)
  })

  function tryPort(client: Socket, left: number): void {
    if (left === 0) return void client.destroy()
    const port = ports[next++ % ports.length] ?? 0
    let isTaken = false
    const upstream = connect(port, '127.0.0.1', () => {
      isTaken = true
      client.pipe(upstream).pipe(client)
    })
    upstream.on('error', () => {
      if (isTaken) client.destroy()
      else tryPort(client, left - 1)
    })
    client.once('close', () => upstream.destroy())
  }

  return {
    port: await listenLocally(server),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.destroy()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

function watchPauses(count: () => number): { end(): number } {
  let [seen, since, longest] = [count(), performance.now(), 0]
  const look = () => {
    const now = performance.now()
    longest = Math.max(longest, now - since)
    if (count() === seen) return
    seen = count()
    since = now
  }
  const timer = setInterval(look, 50)
  return {
    end() {
      clearInterval(timer)
      look()
      return Math.round(longest)
    }
  }
}

// at most one minute
async function waitForGrowth(count: () => number): Promise<void> {
  const before = count()
  for (const until = Date.now() + 60_000; count() <= before && Date.now() < until; ) await sleep(20)
}

function spread(values: number[]) {
  const sorted = values.map(Math.round).sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  return { least: at(0), median: at(0.5), most: at(1) }
}

// { 'api call failed: connect ENOENT': 3 }
function errorsOf(log: string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const line of log.split('\n').filter(each => each.startsWith('{'))) {
    const { level, msg, err } = JSON.parse(line)
    if (level < 50) continue
    const text = `${msg}: ${String(err?.message).replace(/\/\S+/g, '<path>')}`
    counts[text] = (counts[text] ?? 0) + 1
  }
  return counts
}
