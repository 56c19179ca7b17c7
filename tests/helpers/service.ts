import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { isProcessAlive, readPostmasterState } from '../../src/server/db/postmaster.ts'

const root = join(import.meta.dirname, '../..')
const readySeconds = 120
/** Folder in which Node caches compiled modules. With the cache, a start takes half as long. */
const compiled = process.env.NODE_COMPILE_CACHE

export type ServiceProcess = Awaited<ReturnType<typeof makeServiceProcess>>

/**
 * Prepares the product as an operator runs it: `node src/server/main.ts` with its own folder and
 * ports. Tests can kill and restart it. It does not run before the first `start()`.
 */
export async function makeServiceProcess(settings: Record<string, string> = {}) {
  if (!existsSync(join(root, 'dist/build.json'))) build()
  const folder = mkdtempSync(join(tmpdir(), 'vidimus-service-'))
  chmodSync(folder, 0o711) // as root, the database runs as another user
  const dataDir = join(folder, 'data')
  const databaseDir = join(dataDir, 'pg')
  const logFile = join(folder, 'service.log')
  const port = await freePort()
  const managementPort = await freePort(port)
  const management = `http://${settings.MANAGEMENT_HOST ?? '127.0.0.1'}:${managementPort}`
  let running: { child: ChildProcess; ended: Promise<number | string | null> } | undefined

  /** Starts the process. Returns the milliseconds until its `/readyz` first answers 200. */
  async function start(): Promise<number> {
    const output = openSync(logFile, 'a', 0o600)
    const started = performance.now()
    const child = spawn(process.execPath, ['src/server/main.ts'], {
      cwd: root,
      stdio: ['ignore', output, output],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: folder,
        DATA_DIR: dataDir,
        PORT: String(port),
        MANAGEMENT_PORT: String(managementPort),
        LIMIT_SIGN_IN_PER_ADDRESS_MINUTE: '1000000',
        LIMIT_PUBLIC_PER_ADDRESS_MINUTE: '1000000',
        LIMIT_SIGN_UP_PER_ADDRESS_HOUR: '1000000',
        LIMIT_MAILS_PER_ADDRESS_HOUR: '1000000',
        LIMIT_MAILS_PER_COMPANY_DAY: '1000000',
        LOG_LEVEL: 'warn',
        ...(compiled && { NODE_COMPILE_CACHE: compiled }),
        ...settings
      }
    })
    const ended = new Promise<number | string | null>(resolve => {
      child.once('exit', (code, signal) => resolve(signal ?? code))
    })
    running = { child, ended }
    while (performance.now() - started < readySeconds * 1000) {
      if (child.exitCode !== null || child.signalCode !== null) {
        const said = readFileSync(logFile, 'utf8').trim().split('\n').at(-1)
        throw new Error(`the service ended while starting: ${said}`)
      }
      if (await isReady()) return performance.now() - started
      // asking more often would slow down what is waited for
      await sleep(100)
    }
    throw new Error(`the service was not ready in ${readySeconds} s`)
  }

  async function isReady(): Promise<boolean> {
    const answer = await fetch(`${management}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer()
    return answer?.status === 200
  }

  async function readiness(): Promise<Record<string, unknown>> {
    const answer = await fetch(`${management}/readyz`)
    return { status: answer.status, ...(await answer.json()) }
  }

  /** Ends the process with a signal. Returns its exit code or the signal that ended it. */
  async function end(signal: NodeJS.Signals): Promise<number | string | null> {
    const process = running
    running = undefined
    process?.child.kill(signal)
    return process ? process.ended : null
  }

  async function killDatabase(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const found = await readPostmasterState(databaseDir)
    if (!('socketDir' in found)) return
    process.kill(found.pid, signal)
    while (isProcessAlive(found.pid)) await sleep(5)
  }

  return {
    folder,
    dataDir,
    pid(): number {
      const pid = running?.child.pid
      if (pid === undefined) throw new Error('the service is not running')
      return pid
    },
    port,
    managementPort,
    management,
    /** The folder of the documents: `staging/…` and `blobs/…`. */
    documents: join(dataDir, 'documents'),
    start,
    end,
    /** Waits until the process ends by itself. Returns its exit code or signal. */
    async ended(): Promise<number | string | null> {
      return running ? running.ended : null
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
    killDatabase,
    readiness,
    socketDir: () => socketDirOf(dataDir),
    /** Runs one statement as the owner of the service's tables. Returns its rows. */
    query: <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      queryDatabase<Row>(dataDir, text, values),
    log: () => readFileSync(logFile, 'utf8'),
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
      await killDatabase('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function socketDirOf(dataDir: string): Promise<string> {
  const found = await readPostmasterState(join(dataDir, 'pg'))
  if (!('socketDir' in found)) throw new Error('the database is not running')
  return found.socketDir
}

/**
 * Runs one statement as the owner of the tables of the service whose data is in `dataDir`. Returns
 * its rows.
 */
export async function queryDatabase<Row extends pg.QueryResultRow>(
  dataDir: string,
  text: string,
  values: unknown[]
): Promise<Row[]> {
  const client = new pg.Client(
    socketConnectionConfig(await socketDirOf(dataDir), 'vidimus', 'postgres')
  )
  client.on('error', () => undefined) // the database may end meanwhile
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

function build(): void {
  const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the build failed, and the service serves nothing without one')
}

/**
 * Returns a free port below the range that the system uses for outgoing connections. In that range,
 * a client that connects repeatedly to a closed port may connect to itself.
 */
export async function freePort(taken?: number): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (port === taken) continue
    const server = createServer()
    const free = await new Promise<boolean>(resolve => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise(resolve => server.close(resolve))
    if (free) return port
  }
}
