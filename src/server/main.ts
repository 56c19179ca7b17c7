import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { isIPv4 } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { openBlobs } from './blobs.ts'
import { readBuild } from './build.ts'
import { readConfig } from './config.ts'
import { databaseFaults } from './db/faults.ts'
import { migrate } from './db/migrate.ts'
import { openDatabase } from './db/open.ts'
import { startPostgres } from './db/postgres.ts'
import type { Deps } from './domain/deps.ts'
import { openTenants } from './domain/domains.ts'
import { recordedKekId, recordKekId, seedInstallation } from './domain/installation.ts'
import { createAddressReader } from './hosts.ts'
import { checkAllFiles } from './jobs/check-files.ts'
import { forget } from './jobs/forget.ts'
import { runJobs } from './jobs/run.ts'
import { lapseStaleUploads, settleUploads } from './jobs/settle-uploads.ts'
import { openKeys } from './keys.ts'
import { createListener } from './listener.ts'
import { createLog } from './log.ts'
import { startManagement } from './management.ts'
import { createSite } from './site.ts'
import { createUploads } from './uploads.ts'
import { createWakes } from './wakes.ts'

const drainMs = 10_000

const stopping = new AbortController()
/** Everything that must be closed, in the order it was opened. */
const owned = new AsyncDisposableStack()

process.on('SIGTERM', () => stop(0))
process.on('SIGINT', () => stop(0))
// the page renderer listens to these too and stays silent, so without this a bug would go unnoticed
process.on('unhandledRejection', error => fail(error, 'stack'))
process.on('uncaughtException', error => fail(error, 'stack'))

const started = start()
started.catch(error => fail(error, 'message'))

/** A start that is refused says why in a sentence; anything later is a bug and says where. */
function fail(error: unknown, part: 'message' | 'stack'): void {
  process.stderr.write(`${error instanceof Error ? error[part] : String(error)}\n`)
  stop(1)
}

/** Lets a start in hand come to its end, then takes everything down the other way round. Once. */
function stop(code: number): void {
  if (stopping.signal.aborted) return
  stopping.abort()
  started
    .catch(() => undefined)
    .then(() => owned.disposeAsync())
    .then(
      () => process.exit(code),
      () => process.exit(1)
    )
}

/** Brings everything up in the order of its needs. */
async function start(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  // Passable, because as root the database runs as another user; what lies inside is private.
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const postgres = owned.use(
    await startPostgres({
      dir: join(config.dataDir, 'pg'),
      log: text => log.info({}, text)
    })
  )
  await migrate({ socketDir: postgres.socketDir, database: 'vidimus' })
  const db = owned.use(
    await openDatabase({
      socketDir: postgres.socketDir,
      database: 'vidimus',
      onError: error => log.warn({ err: error }, 'database connection lost')
    })
  )
  const faults = await databaseFaults(db)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const documents = join(config.dataDir, 'documents')
  await mkdir(documents, { recursive: true, mode: 0o700 })
  const clock = () => new Date()
  const keys = await openKeys({
    directory: join(config.dataDir, 'keys'),
    recordedKekId: await recordedKekId(db),
    clock
  })
  const deps: Deps = {
    db,
    keys,
    blobs: openBlobs(documents),
    clock,
    random: length => new Uint8Array(randomBytes(length)),
    log,
    wakes: createWakes(),
    settings: {
      scheme: config.scheme,
      port: config.publicPort,
      loopback: isLoopback(config.host),
      maxUploadBytes: config.maxUploadBytes,
      limits: config.limits
    },
    stopping: stopping.signal
  }
  await recordKekId(deps)
  await seedInstallation(deps, config.demo)

  const tenants = owned.use(openTenants(deps))
  const app = createApp(deps, tenants)
  const site = createSite({
    resolve: async host => {
      const tenant = await tenants.resolve(host)
      return tenant && { version: String(tenant.config.version) }
    },
    api: async (input, init) => app.fetch(new Request(input, init)),
    scheme: config.scheme,
    port: config.publicPort,
    log,
    build: await readBuild(join(import.meta.dirname, '../../dist'))
  })
  owned.use(
    runJobs([settleUploads(deps), lapseStaleUploads(deps), forget(deps), checkAllFiles(deps)], log)
  )
  const server = createListener({
    tenants,
    site,
    app,
    uploads: createUploads(deps),
    addressOf: createAddressReader(config.trustedProxies),
    log
  })

  let isListening = false
  const isReady = () => isListening && !stopping.signal.aborted
  owned.use(await startManagement({ port: config.managementPort, deps, isReady }))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, () => resolve())
  })
  owned.defer(() => drain(server))
  isListening = true
  const { scheme, publicPort } = config
  log.info(
    { address: `${scheme}://localhost${publicPort === undefined ? '' : `:${publicPort}`}` },
    'Vidimus is ready'
  )
}

/** Stops taking requests and finishes those in hand; streams have heard of the stop and end. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve))
  server.closeIdleConnections()
  await Promise.race([closed, sleep(drainMs, undefined, { ref: false })])
  server.closeAllConnections()
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}
