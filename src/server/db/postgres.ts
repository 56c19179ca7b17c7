import { createHash } from 'node:crypto'
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ignoreMissingFile } from './missing-files.ts'
import { bundledBinaries, type PostgresBinaries } from './postgres-binaries.ts'
import { isProcessAlive, readPostmasterState, removeStalePidFile } from './postmaster.ts'
import { lowerPriority } from './process-priority.ts'
import {
  changeOwner,
  chooseInitdbUser,
  choosePostgresOsUserAndChown,
  type PostgresOsUser,
  runAs,
  spawnAs
} from './unprivileged-user.ts'

/** Several processes may share it: the first one starts it, the others use it. */
export interface RunningPostgres {
  socketDir: string
  version: string
  startedHere: boolean
  lost: Promise<void>
  /**
   * Shuts PostgreSQL down unless other processes are connected to it. With `evenIfShared`, which
   * only tests use, shuts it down in any case.
   */
  stop(how?: { evenIfShared: boolean }): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface PostgresStartOptions {
  /** The data directory, which the first start creates. The server's log is `<dir>.log`. */
  dir: string
  log?: (text: string) => void
  binaries?: () => Promise<PostgresBinaries>
  /** Additional settings, for tests. The default settings never lose committed data. */
  settings?: Record<string, string>
}

const readySeconds = 60
const stopSeconds = 60
const pollMillis = 5
const maxTries = 20
const maxLogBytes = 10_000_000
/**
 * With a higher nice value the database takes no processor time from the event loop, which serves
 * every company.
 */
export const postgresNiceDifference = 5
// A socket address has at most 107 bytes, of which '/.s.PGSQL.5432' takes 14.
const maxSocketDirBytes = 93

export function socketConnectionConfig(socketDir: string, database: string, user: string) {
  // pg would otherwise take port and ssl from the environment
  return { host: socketDir, port: 5432, database, user, ssl: false }
}

export async function startPostgres(options: PostgresStartOptions): Promise<RunningPostgres> {
  const { log = () => undefined, settings = {}, binaries = bundledBinaries } = options
  const dir = await absolutePath(options.dir)
  const giveUpAt = Date.now() + readySeconds * 1000
  let launch: (() => Promise<Attempt>) | undefined
  let attempt: Attempt | undefined
  let tries = 0
  let reason = 'it was not ready in time'
  for (; Date.now() < giveUpAt && tries <= maxTries; await sleep(pollMillis)) {
    const found = await readPostmasterState(dir)
    if (found.status === 'ready') {
      const presence = await connect(found.socketDir)
      if (presence instanceof Error) reason = presence.message
      else return share(dir, found, presence, attempt?.pid === found.pid, log)
    } else if (found.status === 'absent' || found.status === 'dead') {
      launch ??= await prepare(dir, settings, await binaries())
      if (attempt && attempt.failure === undefined) continue
      if (attempt?.failure !== undefined) {
        // another process started the server first, or children of a killed server still hold its
        // shared memory
        reason = attempt.failure
        await sleep(100)
      }
      attempt = await launch()
      tries++
    } else if (found.status !== 'starting' && found.status !== 'stopping') {
      log(`removing the ${found.status} postmaster.pid in ${dir}`)
      await removeStalePidFile(dir, found)
    }
  }
  throw new Error(`PostgreSQL did not start on ${dir}: ${reason} (its log is ${dir}.log).`)
}

async function absolutePath(dir: string): Promise<string> {
  const wanted = resolve(dir)
  await mkdir(dirname(wanted), { recursive: true })
  const existing = await realpath(wanted).catch(ignoreMissingFile)
  return existing ?? join(await realpath(dirname(wanted)), basename(wanted))
}

interface Presence {
  client: pg.Client
  version: string
}

// the open connection shows other processes that PostgreSQL is in use
async function connect(socketDir: string): Promise<Presence | Error> {
  const client = new pg.Client({
    ...socketConnectionConfig(socketDir, 'postgres', 'postgres'),
    application_name: 'vidimus presence'
  })
  // without a listener, losing the server would end this process
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query("select current_setting('server_version') as version")
    return { client, version: rows[0].version }
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function share(
  dir: string,
  { pid, socketDir }: { pid: number; socketDir: string },
  { client, version }: Presence,
  startedHere: boolean,
  log: (text: string) => void
): RunningPostgres {
  log(
    startedHere
      ? `PostgreSQL ${version} started on ${dir}`
      : `PostgreSQL ${version} already runs on ${dir}: using it`
  )
  const lost = new Promise<void>(resolve => client.once('end', () => resolve()))
  let stopping: Promise<void> | undefined
  const stop = (how = { evenIfShared: false }) => {
    stopping ??= how.evenIfShared
      ? client.end().then(() => shutDown(dir, pid))
      : detach(dir, pid, client, log)
    return stopping
  }
  return {
    socketDir,
    version,
    startedHere,
    lost,
    stop,
    [Symbol.asyncDispose]: () => stop()
  }
}

async function detach(dir: string, pid: number, presence: pg.Client, log: (text: string) => void) {
  const others = await otherClients(presence)
  await presence.end().catch(() => undefined)
  if (others > 0) log(`PostgreSQL keeps running for its other connections (${others})`)
  else await shutDown(dir, pid)
}

async function shutDown(dir: string, pid: number) {
  const found = await readPostmasterState(dir)
  if (!('socketDir' in found) || found.pid !== pid) return
  try {
    process.kill(pid, 'SIGINT') // fast shutdown: rolls back, writes a checkpoint, exits
  } catch (error) {
    if (isProcessAlive(pid)) throw error // another process may have stopped the server meanwhile
  }
  for (
    const giveUpAt = Date.now() + stopSeconds * 1000;
    isProcessAlive(pid);
    await sleep(pollMillis)
  ) {
    if (Date.now() > giveUpAt) throw new Error(`PostgreSQL on ${dir} did not stop in time.`)
  }
}

// waits up to a second, because the connections of a closed pool take a moment to end
async function otherClients(presence: pg.Client): Promise<number> {
  let count = 0
  for (const until = Date.now() + 1000; Date.now() < until; await sleep(20)) {
    try {
      const { rows } = await presence.query(
        "select count(*)::int as n from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
      )
      count = rows[0].n
    } catch {
      return 0 // the server has ended
    }
    if (count === 0) break
  }
  return count
}

interface Attempt {
  pid: number | undefined
  /**
   * The last `FATAL` line of PostgreSQL's log, or else its last line. Undefined while the process
   * runs.
   */
  failure: string | undefined
}

async function prepare(dir: string, settings: Record<string, string>, binaries: PostgresBinaries) {
  const as = await choosePostgresOsUserAndChown(dir, binaries.postgres)
  await initialize(dir, as, binaries)
  const socketDir = await socketDirFor(dir, as)
  const args = ['-D', dir, '-k', socketDir]
  const all = {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    // otherwise the log would quote e-mail addresses from unique violations
    log_error_verbosity: 'terse',
    ...settings
  }
  for (const [name, value] of Object.entries(all)) args.push('-c', `${name}=${value}`)
  return () => launchServer(as, binaries.postgres, args, `${dir}.log`)
}

async function launchServer(as: PostgresOsUser, postgres: string, args: string[], logFile: string) {
  // a file, because a pipe breaks when this process dies and blocks the server when it is full
  const output = await open(logFile, 'a', 0o600)
  try {
    if ((await output.stat()).size > maxLogBytes) await output.truncate()
    const start = (await output.stat()).size
    const server = spawnAs(as, postgres, args, output.fd)
    // at once, because the server's processes inherit the nice value
    if (server.pid !== undefined)
      lowerPriority(server.pid, postgresNiceDifference).catch(() => undefined)
    const attempt: Attempt = { pid: server.pid, failure: undefined }
    server.once('error', error => {
      attempt.failure = error.message
    })
    server.once('exit', async () => {
      const text = await readFile(logFile).catch(() => Buffer.alloc(0))
      const lines = text.subarray(start).toString().trim().split('\n')
      attempt.failure = lines.findLast(line => line.includes('FATAL')) ?? lines.at(-1) ?? ''
    })
    server.unref()
    return attempt
  } finally {
    await output.close()
  }
}

async function initialize(dir: string, as: PostgresOsUser, { initdb, major }: PostgresBinaries) {
  const versionOf = () => readFile(join(dir, 'PG_VERSION'), 'utf8').catch(ignoreMissingFile)
  if ((await versionOf()) === undefined) {
    await removeAbandonedCopies(dir)
    // created under another name and renamed, so that a partial directory is never used
    const copy = `${dir}.init-${process.pid}`
    await mkdir(copy, { mode: 0o700 })
    const maker = chooseInitdbUser(as)
    await changeOwner(copy, maker)
    try {
      await runAs(maker, initdb, ['-D', copy, ...initFlags])
      await changeOwner(copy, as)
      await rename(copy, dir)
      await syncFolder(dirname(dir))
    } catch (cause) {
      await rm(copy, { recursive: true, force: true })
      // another process has created it
      if ((await versionOf()) === undefined) {
        throw new Error(`No database could be made in ${dir}: ${lastLine(cause)}.`, { cause })
      }
    }
  }
  const version = (await versionOf())?.trim()
  if (version !== major) {
    throw new Error(
      `The database in ${dir} was created by PostgreSQL ${version}, but this release runs PostgreSQL ${major}: start the release that created it, or dump the database there and restore it here.`
    )
  }
}

const initFlags = [
  ...['-U', 'postgres', '--auth-local=trust', '--auth-host=reject'],
  ...['--encoding=UTF8', '--locale=C', '--no-instructions']
]

async function removeAbandonedCopies(dir: string) {
  const prefix = `${basename(dir)}.init-`
  for (const name of await readdir(dirname(dir))) {
    const pid = Number(name.slice(prefix.length))
    if (name.startsWith(prefix) && (pid === process.pid || !isProcessAlive(pid))) {
      await rm(join(dirname(dir), name), { recursive: true, force: true })
    }
  }
}

async function socketDirFor(dir: string, as: PostgresOsUser): Promise<string> {
  if (Buffer.byteLength(dir) <= maxSocketDirBytes) return dir
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 16)
  const short = join(await realpath(tmpdir()), `vidimus-${name}`)
  await mkdir(short, { recursive: true, mode: 0o700 })
  await changeOwner(short, as)
  const { mode, uid } = await lstat(short)
  const server = as.kind === 'user' ? as.uid : process.getuid?.()
  // anyone may write to the temporary folder, and the owner of this folder may log in as anybody
  if ((mode & 0o170077) !== 0o040000 || uid !== server) {
    throw new Error(
      `The socket folder ${short} is not private to the user that runs PostgreSQL: remove it and start again.`
    )
  }
  return short
}

async function syncFolder(folder: string) {
  const handle = await open(folder)
  await handle.sync()
  await handle.close()
}

function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error)
  return text.trim().split('\n').at(-1) ?? ''
}
