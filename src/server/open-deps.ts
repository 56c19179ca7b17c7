import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openBlobs } from './adapters/blobs.ts'
import { createDnsLookup } from './adapters/dns.ts'
import { createForeignFiles } from './adapters/foreign-files.ts'
import { openInstallationKeys } from './adapters/keys.ts'
import { openLogFiles } from './adapters/log-files.ts'
import { openMailSender } from './adapters/mail-transport.ts'
import { createServiceSignals } from './adapters/signals.ts'
import type { Config } from './config.ts'
import { appLogsInAsOwner, type DatabaseLocation } from './db/connection-config.ts'
import { lockDatabaseSetup, migrate } from './db/migrate.ts'
import { openNotificationChannel } from './db/notifications.ts'
import { type Db, openDatabase } from './db/open.ts'
import { supervisePostgres } from './db/postgres-supervisor.ts'
import { findDatabaseFaults } from './db/security-checks.ts'
import { openTenantCache, type TenantCache } from './domain/companies/served-hosts.ts'
import type { Deps, InstallationKeys, Log } from './domain/deps.ts'
import { createCompanySecretKeyReader } from './domain/evidence/company-keys.ts'
import { findRootSecretId, recordOrCheckRootSecretId } from './domain/installation/installation.ts'
import { createRateCounters } from './domain/limits/rate-counters.ts'
import { createAccessTokenReader } from './domain/sessions/access-tokens.ts'
import { createCallerWatch } from './domain/sessions/caller-watch.ts'

export interface OpenedDeps extends AsyncDisposable {
  deps: Deps
  /** For commands of operators. The owner of the tables may change what the service may not. */
  openOwnerDatabase(): Promise<Db>
  tenants: TenantCache
}

/**
 * For the service and for the command line. Starts the embedded database if `DATABASE_URL` is not
 * set, applies missing migrations, and throws if the database is not safe.
 */
export async function openDeps(
  config: Config,
  log: Log,
  stopping: AbortSignal = new AbortController().signal,
  /** Called when the embedded database cannot be restarted or stops too often. */
  onGivenUp: (error: Error) => void = () => undefined
): Promise<OpenedDeps> {
  await using owned = new AsyncDisposableStack()
  // other users may enter this folder, because root runs the database as another user; the folders
  // inside are private
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  const place = await findDatabase()
  await migrate(place)
  const onError = (error: Error) => log.warn({ err: error }, 'database connection lost')
  const db = owned.use(
    await openDatabase({
      ...place,
      calls: config.poolSize,
      isEmbedded: !config.database,
      onError
    })
  )
  const faults = await findDatabaseFaults(db)
  if (faults.length > 0) {
    throw new Error(
      ['Vidimus does not start, because this database is not safe:', ...faults].join('\n')
    )
  }
  if (appLogsInAsOwner(place)) {
    log.warn(
      {},
      'DATABASE_URL logs in as the owner of the tables, so a "reset role" would give a request the rights of the owner. To prevent that, set DATABASE_OWNER_URL to the present DATABASE_URL, give the role vidimus_app a password, and let DATABASE_URL log in as vidimus_app.'
    )
  }
  const notifications = config.notify
    ? owned.use(await openNotificationChannel({ ...place, onError }))
    : undefined
  const documents = join(config.dataDir, 'documents')
  await mkdir(documents, { recursive: true, mode: 0o700 })
  await mkdir(join(config.dataDir, 'log'), { recursive: true, mode: 0o700 })
  const clock = () => new Date()
  const keys = await openOwnKeys()
  const signals = createServiceSignals(notifications)
  const settings: Deps['settings'] = {
    scheme: config.scheme,
    port: config.publicPort,
    dev: config.dev,
    hasPublicUrl: config.hasPublicUrl,
    mailServer: config.smtp !== undefined,
    maxUploadBytes: config.maxUploadBytes,
    limits: config.limits,
    bounds: config.bounds,
    logBatchMs: config.logBatchMs,
    platformOrigin: config.platformOrigin
  }
  // before the watch of callers, so that it hears of a signal first
  const tenants = owned.use(openTenantCache({ db, clock, signals, settings }))
  const deps: Deps = {
    db,
    keys,
    companyKeys: createCompanySecretKeyReader({ db, keys }),
    tokens: createAccessTokenReader(keys),
    counters: createRateCounters({ db, clock }),
    blobs: openBlobs(documents),
    logFiles: openLogFiles(join(config.dataDir, 'log')),
    mails: await openMailSender({ smtp: config.smtp, outbox: join(config.dataDir, 'outbox'), log }),
    dns: config.dnsServers && createDnsLookup(config.dnsServers),
    foreignFiles: createForeignFiles({
      allowsLoopback: config.registersOnLoopback,
      ownAddresses: config.publicAddresses
    }),
    clock,
    random: length => new Uint8Array(randomBytes(length)),
    log,
    signals,
    callers: createCallerWatch({ db, clock, log, signals }, tenants.companyOf),
    process: notifications?.process,
    settings,
    stopping
  }
  const kept = owned.move()
  return {
    deps,
    openOwnerDatabase: () => openDatabase({ ...place, calls: 1, asOwner: true, onError }),
    tenants,
    [Symbol.asyncDispose]: () => kept.disposeAsync()
  }

  // if several processes start at the same time, one creates the files while the others wait
  async function openOwnKeys(): Promise<InstallationKeys> {
    const isFirst = (await findRootSecretId(db)) === undefined
    await using _lock = isFirst ? await lockDatabaseSetup(place) : undefined
    const keys = await openInstallationKeys({
      directory: join(config.dataDir, 'keys'),
      recordedRootSecretId: await findRootSecretId(db),
      ...(config.rootSecret && { rootSecret: config.rootSecret }),
      clock
    })
    await recordOrCheckRootSecretId({ db, keys, clock })
    return keys
  }

  async function findDatabase(): Promise<DatabaseLocation> {
    if (config.database) return config.database
    const dir = join(config.dataDir, 'pg')
    const { socketDir } = owned.use(
      await supervisePostgres({ dir, log: text => log.info({}, text), onGivenUp })
    )
    return { socketDir, database: 'vidimus' }
  }
}
