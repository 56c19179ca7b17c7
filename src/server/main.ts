import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createSite } from '../site/site.ts'
import { apiHeadersFor } from './api/kit/responses.ts'
import { createApp } from './app.ts'
import { compressBody } from './compression/compressed-bodies.ts'
import { readConfig } from './config.ts'
import { watchServedHosts, webOriginOf } from './domain/companies/served-hosts.ts'
import { createEmptyDemo, findDemo } from './domain/demo/demo.ts'
import { demoAccount } from './domain/demo-account.ts'
import { createFirstCompanyIfNone } from './domain/installation/installation.ts'
import { createSetupCode } from './domain/installation/setup.ts'
import { watchEventLoopLag } from './event-loop-lag.ts'
import { limitConnections } from './http/connections.ts'
import { createGate } from './http/gate.ts'
import { createClientAddressReader, createProxyAddressCheck } from './http/hosts.ts'
import { createHttpServer } from './http/listener.ts'
import { runJobs } from './jobs/job-runner.ts'
import { fillDemoJob, serviceJobs } from './jobs/jobs.ts'
import { startManagementServer } from './management.ts'
import { openDeps } from './open-deps.ts'
import { createProcessOutput, type ProcessOutput } from './process-output.ts'
import { readAstroBuild } from './site/astro-build.ts'
import { findStartupProblems } from './startup-checks.ts'
import { createUploadHandler } from './uploads/upload-routes.ts'

const drainMs = 10_000
const maxPageCacheBytes = 256 * 1024 * 1024

const stopping = new AbortController()
let output: ProcessOutput | undefined
// in the order in which they were opened
const owned = new AsyncDisposableStack()

process.on('SIGTERM', () => stop(0))
process.on('SIGINT', () => stop(0))
// the terminal was closed
process.on('SIGHUP', () => stop(0))
process.stdout.on('error', () => stop(0))
process.stderr.on('error', () => stop(1))
// the page renderer also listens to these events and reports nothing, so bugs would go unnoticed
process.on('unhandledRejection', error => fail(error, 'stack'))
process.on('uncaughtException', error => fail(error, 'stack'))

const started = start()
started.catch(error => fail(error, 'message'))

// `message` for a failed start, `stack` for a bug
function fail(error: unknown, part: 'message' | 'stack'): void {
  process.stderr.write(`${error instanceof Error ? error[part] : String(error)}\n`)
  stop(1)
}

// while the process is starting, waits until the start has ended
function stop(code: number): void {
  if (stopping.signal.aborted) return
  stopping.abort()
  if (code === 0) output?.stopping()
  started
    .catch(() => undefined)
    .then(() => owned.disposeAsync())
    .then(
      () => process.exit(code),
      () => process.exit(1)
    )
}

async function start(): Promise<void> {
  const config = readConfig()
  output = createProcessOutput(process.stdout, config.logLevel)
  const { log } = output
  // other users may enter this folder, because root runs the database as another user; the folders
  // inside are private
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const build = await readAstroBuild(join(import.meta.dirname, '../../dist'))
  const problems = await findStartupProblems({
    scheme: config.scheme,
    trustedProxies: config.trustedProxies,
    host: config.host,
    ports: { PORT: config.port, MANAGEMENT_PORT: config.managementPort },
    documents: join(config.dataDir, 'documents'),
    now: new Date(),
    built: build.built
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  output.starting()
  const opened = owned.use(
    await openDeps(config, log, stopping.signal, error => {
      log.error({ err: error }, 'the database could not be started again, so this process ends')
      stop(1)
    })
  )
  const { deps, tenants } = opened
  const first = { host: 'localhost', name: 'Vidimus', isPublic: true }
  const isFirst = await createFirstCompanyIfNone(deps, first)
  if (isFirst && config.demo) await createEmptyDemo(deps)

  const lag = owned.use(watchEventLoopLag())
  const gate = createGate()
  const app = createApp(deps, tenants, { lagMs: lag.ms })
  const site = createSite({
    resolve: tenants.resolve,
    inPlace: gate.render,
    scheme: config.scheme,
    port: config.publicPort,
    log,
    pages: build,
    encode: compressBody,
    maxCacheBytes: maxPageCacheBytes,
    checksPerMinute: config.limits.verifyPerAddressMinute,
    publicAddresses: config.publicAddresses
  })
  owned.use(runJobs(serviceJobs(deps), log))
  const server = createHttpServer({
    tenants,
    site,
    app,
    uploads: createUploadHandler(deps),
    addressOf: createClientAddressReader(config.trustedProxies),
    gate,
    headers: apiHeadersFor(deps.settings),
    log
  })
  const connections = limitConnections(
    server,
    {
      total: config.limits.connectionsPerProcess,
      perAddress: config.limits.connectionsPerAddress,
      // many people share the address of a proxy; a proxy that is not declared runs on this machine
      isShared: createProxyAddressCheck(config.trustedProxies)
    },
    log
  )

  let isListening = false
  const isReady = () => isListening && !stopping.signal.aborted
  const served = owned.use(await watchServedHosts(deps))
  owned.use(
    await startManagementServer({ port: config.managementPort, deps, connections, served, isReady })
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, () => resolve())
  })
  owned.defer(() => drain(server))
  isListening = true
  const demo = await findDemo(deps)
  output.ready({
    address: (await tenants.resolve('localhost'))
      ? webOriginOf(deps, 'localhost')
      : `http://${config.host}:${config.port}`,
    setupLink: (await createSetupCode(deps))?.link,
    demo: demo && {
      address: webOriginOf(deps, demo.host),
      account: config.dev || !config.hasPublicUrl ? demoAccount : undefined
    },
    dataDir: config.dataDir,
    outbox: config.smtp ? undefined : join(config.dataDir, 'outbox')
  })
  owned.use(runJobs([fillDemoJob(deps)], log))
}

// event streams end by themselves
async function drain(server: Server): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve))
  server.closeIdleConnections()
  await Promise.race([closed, sleep(drainMs, undefined, { ref: false })])
  server.closeAllConnections()
}
