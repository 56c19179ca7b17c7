import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createOwnerReader, type Owner } from '../site/owners.ts'
import { createSite } from '../site/site.ts'
import { apiHeadersFor } from './api/kit/responses.ts'
import { createApp } from './app.ts'
import { compressBody } from './compression/compressed-bodies.ts'
import { type Config, readConfig } from './config.ts'
import { watchServedHosts, webOriginOf } from './domain/companies/served-hosts.ts'
import { createEmptyDemo, findDemo } from './domain/demo/demo.ts'
import { demoAccount } from './domain/demo-account.ts'
import type { Log } from './domain/deps.ts'
import { createFirstCompanyIfNone } from './domain/installation/installation.ts'
import { createSetupCode } from './domain/installation/setup.ts'
import { watchEventLoopLag } from './event-loop-lag.ts'
import { type ConnectionRoomCheck, limitConnections } from './http/connections.ts'
import { createGate, type Gate } from './http/gate.ts'
import {
  type ClientAddressReader,
  createClientAddressReader,
  createProxyAddressCheck
} from './http/hosts.ts'
import { createHttpServer, type HttpServerOptions } from './http/listener.ts'
import { createLogPages, type LogPages } from './http/log-pages.ts'
import { createRemoteLogPages } from './http/remote-log-pages.ts'
import { createSiteOwners } from './http/site-owners.ts'
import { runJobs } from './jobs/job-runner.ts'
import { fillDemoJob, serviceJobs } from './jobs/jobs.ts'
import { createCertificateJudge, startManagementServer } from './management.ts'
import { openDeps } from './open-deps.ts'
import { createProcessOutput, type ProcessOutput } from './process-output.ts'
import { checkReadiness } from './readiness.ts'
import { type AstroBuild, readAstroBuild } from './site/astro-build.ts'
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
  const isSiteAlone = config.role === 'web'
  if (!isSiteAlone) {
    // other users may enter this folder, because root runs the database as another user; the
    // folders inside are private
    await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  }
  const build =
    config.role === 'api'
      ? undefined
      : await readAstroBuild(join(import.meta.dirname, '../../dist'))
  const problems = await findStartupProblems({
    scheme: config.scheme,
    trustedProxies: config.trustedProxies,
    host: config.host,
    ports: { PORT: config.port, MANAGEMENT_PORT: config.managementPort },
    managementHost: config.managementHost,
    documents: isSiteAlone ? undefined : join(config.dataDir, 'documents'),
    now: new Date(),
    built: build?.built
  })
  if (problems.length > 0) throw new Error(problems.join('\n'))
  output.starting()
  if (build && isSiteAlone && config.remoteApi) {
    const { apiUrl } = config.remoteApi
    const resolve = createOwnerReader(config.remoteApi, { fetch })
    const openLogs: LogOpener = at => createRemoteLogPages({ apiUrl, resolve, ...at })
    await serve(config, output.log, { build, resolve, openLogs })
    output.ready({ address: `http://${config.host}:${config.port}` })
  } else await startWithDatabase(config, output, build)
}

async function startWithDatabase(
  config: Config,
  { log, ready }: ProcessOutput,
  build: AstroBuild | undefined
): Promise<void> {
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
  const resolve = async (host: string): Promise<Owner | undefined> => {
    const tenant = await tenants.resolve(host)
    return (
      tenant && {
        company_id: tenant.company_id,
        config: tenant.config,
        checksPerMinute: config.limits.verifyPerAddressMinute,
        publicAddresses: config.publicAddresses
      }
    )
  }
  owned.use(runJobs(serviceJobs(deps), log))
  const served = owned.use(await watchServedHosts(deps))
  const headers = apiHeadersFor(deps.settings)
  await serve(config, log, {
    build,
    resolve,
    openLogs: at => createLogPages({ deps, tenants, headers, ...at }),
    api: {
      tenants,
      app: createApp(deps, tenants, { lagMs: lag.ms }),
      uploads: createUploadHandler(deps),
      owners: createSiteOwners(config.siteSecret, resolve)
    },
    headers,
    check: connections => checkReadiness(deps, connections),
    judgeCertificate: createCertificateJudge(deps, served)
  })
  const demo = await findDemo(deps)
  ready({
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

type LogOpener = (at: { gate: Gate; addressOf: ClientAddressReader }) => LogPages

/** Listens, with pages if there is a build, and with the API if it is given. */
async function serve(
  config: Config,
  log: Log,
  parts: {
    build: AstroBuild | undefined
    resolve: (host: string) => Promise<Owner | undefined>
    openLogs: LogOpener
    api?: HttpServerOptions['api']
    headers?: Record<string, string>
    check?: (connections: ConnectionRoomCheck) => ReturnType<typeof checkReadiness>
    judgeCertificate?: ReturnType<typeof createCertificateJudge>
  }
): Promise<void> {
  const { build, resolve, openLogs, api, headers, check, judgeCertificate } = parts
  const gate = createGate(undefined, config.poolSize)
  const addressOf = createClientAddressReader(config.trustedProxies)
  const site =
    build &&
    createSite({
      resolve,
      inPlace: gate.render,
      scheme: config.scheme,
      port: config.publicPort,
      log,
      pages: build,
      encode: compressBody,
      maxCacheBytes: maxPageCacheBytes
    })
  const server = createHttpServer({
    ...(site && { pages: { site, resolve } }),
    ...(api && { api }),
    ...(headers && { headers }),
    logs: openLogs({ gate, addressOf }),
    addressOf,
    gate,
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
  owned.use(
    await startManagementServer({
      port: config.managementPort,
      host: config.managementHost,
      log,
      check: async () => check?.(connections) ?? { connections: connections.hasRoom() },
      judgeCertificate,
      isReady: () => isListening && !stopping.signal.aborted
    })
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, () => resolve())
  })
  owned.defer(() => drain(server))
  isListening = true
}

// event streams end by themselves
async function drain(server: Server): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve))
  server.closeIdleConnections()
  await Promise.race([closed, sleep(drainMs, undefined, { ref: false })])
  server.closeAllConnections()
}
