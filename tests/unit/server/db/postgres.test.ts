import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { socketConnectionConfig, startPostgres } from '../../../../src/server/db/postgres.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
const launcher = join(import.meta.dirname, '..', '..', '..', '..', 'src/server/db/postgres.ts')

let given: string
let folder: string
let dir: string

beforeAll(async () => {
  given = await mkdtemp(join(tmpdir(), 'vpg-'))
  await chmod(given, 0o755)
  await (await startPostgres({ dir: join(given, 'pg') })).stop()
})
afterAll(() => rm(given, { recursive: true, force: true }))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vpg-'))
  await chmod(folder, 0o755)
  dir = join(folder, 'pg')
})

afterEach(async () => {
  for (const pid of await serversBelow(folder)) killIfAlive(pid)
  while ((await serversBelow(folder)).length > 0) await sleep(5)
  await rm(folder, { recursive: true, force: true })
})

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has just ended by itself
  }
}

test('makes a database on the first start, adopts it while it runs and keeps it over a stop', async () => {
  await using first = await startPostgres({ dir })
  expect(first).toMatchObject({ startedHere: true, socketDir: dir, version: '18.4' })
  await query(first.socketDir, 'create table kept (n int)')
  const second = await startPostgres({ dir })
  expect(second.startedHere).toBe(false)
  await second.stop()
  await first.stop()
  expect(await pidIn(dir)).toBeUndefined()
  await using third = await startPostgres({ dir })
  expect(third.startedHere).toBe(true)
  expect(await query(third.socketDir, 'select * from kept')).toEqual([])
})

test('keeps writes durable and listens on no port', async () => {
  await using server = await startPostgres({ dir })
  const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses']
  const values = names.map(name => `current_setting('${name}') as ${name}`)
  expect(await query(server.socketDir, `select ${values}`)).toEqual([
    { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', listen_addresses: '' }
  ])
  expect((await stat(dir)).mode & 0o777).toBe(0o700)
})

test('leaves the server to others who still use it; the last one out stops it', async () => {
  await giveDirectory()
  const starter = await startPostgres({ dir })
  const adopter = await startPostgres({ dir })
  await starter.stop()
  expect(await query(adopter.socketDir, 'select 1 as n')).toEqual([{ n: 1 }])
  await adopter.stop()
  expect(await pidIn(dir)).toBeUndefined()
})

test('lets four processes race for an empty directory: one starts, all answer', async () => {
  const answers = await Promise.all([1, 2, 3, 4].map(() => startElsewhere(dir)))
  expect(answers.filter(answer => answer.startedHere)).toHaveLength(1)
  expect(new Set(answers.map(answer => answer.socketDir))).toEqual(new Set([dir]))
  expect((await readdir(folder)).sort()).toEqual(['pg', 'pg.log'])
  // a server that has lost the race takes a moment to end
  await expect.poll(() => serversBelow(folder)).toHaveLength(1)
})

test('lets four processes race for a server that was killed', async () => {
  await giveDirectory()
  await startElsewhere(dir)
  process.kill(Number(await pidIn(dir)), 'SIGKILL')
  const answers = await Promise.all([1, 2, 3, 4].map(() => startElsewhere(dir)))
  expect(answers.filter(answer => answer.startedHere)).toHaveLength(1)
  // a server that has lost the race takes a moment to end
  await expect.poll(() => serversBelow(folder)).toHaveLength(1)
})

test('recovers at once from a kill of the server, losing nothing', async () => {
  await giveDirectory()
  for (let round = 0; round < 3; round++) {
    const server = await startPostgres({ dir })
    if (round === 0) await query(server.socketDir, 'create table kept (n int)')
    await query(server.socketDir, `insert into kept values (${round})`)
    process.kill(Number(await pidIn(dir)), 'SIGKILL')
    await server.stop()
  }
  await using server = await startPostgres({ dir })
  expect(server.startedHere).toBe(true)
  expect(await query(server.socketDir, 'select count(*)::int as n from kept')).toEqual([{ n: 3 }])
})

test('finds the server again after its own process was killed', async () => {
  await giveDirectory()
  const child = spawn(process.execPath, ['--eval', holdServer(dir)], {
    stdio: ['ignore', 'pipe', 'ignore']
  })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await using server = await startPostgres({ dir })
  expect(server.startedHere).toBe(false)
  await server.stop({ evenIfShared: true })
  expect(await serversBelow(folder)).toEqual([])
})

describe('a left-over postmaster.pid', () => {
  beforeEach(() => giveDirectory())

  test.each<[string, () => Promise<string>]>([
    ['that is empty', async () => ''],
    ['of a process that is gone', async () => pidFile(await endedPid())],
    ['whose number another program has now', async () => pidFile(process.pid)],
    ['whose number another server has now', async () => pidFile(await otherServer())]
  ])('%s does not keep the server from starting', async (_, content) => {
    await leavePidFile(await content())
    await using server = await startPostgres({ dir })
    expect(server.startedHere).toBe(true)
    expect((await readdir(dir)).filter(name => name.includes('stale'))).toEqual([])
  })

  test.runIf(process.platform === 'linux')('of a zombie is removed', async () => {
    // sleep never reaps the child that it inherits from the shell
    const script = 'true & echo $!; exec sleep 20'
    const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [pid] = await once(parent.stdout, 'data')
    try {
      await leavePidFile(pidFile(Number(pid)))
      await using server = await startPostgres({ dir })
      expect(server.startedHere).toBe(true)
    } finally {
      parent.kill()
    }
  })

  async function leavePidFile(content: string) {
    const file = join(dir, 'postmaster.pid')
    await writeFile(file, content, { mode: 0o600 })
    const { uid, gid } = await stat(dir)
    await chown(file, uid, gid)
  }

  async function otherServer() {
    const other = join(folder, 'other')
    await giveDirectory(other)
    await startElsewhere(other)
    return Number(await pidIn(other))
  }
})

test('clears what a killed first start left behind', async () => {
  await mkdir(`${dir}.init-${await endedPid()}/base`, { recursive: true })
  await using server = await startPostgres({ dir })
  expect(server.startedHere).toBe(true)
  expect((await readdir(folder)).sort()).toEqual(['pg', 'pg.log'])
})

test('puts the socket into a private short folder when the path is too long', async () => {
  const long = join(folder, 'é'.repeat(50), 'pg')
  await giveDirectory(long)
  await using server = await startPostgres({ dir: long })
  expect(server.socketDir).not.toBe(long)
  expect((await stat(server.socketDir)).mode & 0o777).toBe(0o700)
  expect(await query(server.socketDir, 'select 1 as n')).toEqual([{ n: 1 }])
  await using adopter = await startPostgres({ dir: long })
  expect(adopter.socketDir).toBe(server.socketDir)
  await adopter.stop()
  await server.stop()
  await rm(server.socketDir, { recursive: true })
})

test('refuses a directory of another major version', async () => {
  await giveDirectory()
  await writeFile(join(dir, 'PG_VERSION'), '15\n')
  await expect(startPostgres({ dir })).rejects.toThrow(
    'was created by PostgreSQL 15, but this release runs PostgreSQL 18'
  )
})

test('says why a server cannot start', async () => {
  await giveDirectory()
  const settings = { shared_buffers: 'plenty' }
  await expect(startPostgres({ dir, settings })).rejects.toThrow('invalid value for parameter')
})

describe.runIf(isRoot && process.platform === 'linux')('as root', () => {
  test('hands the directory to a user that no other program has, and runs as it', async () => {
    const expected = await serverUid()
    await using server = await startPostgres({ dir })
    const { uid, gid } = await stat(dir)
    expect([uid, gid]).toEqual([expected, expected])
    expect((await stat(join(dir, 'pg_hba.conf'))).uid).toBe(expected)
    expect(await realUid(Number(await pidIn(dir)))).toBe(expected)
    expect(server.startedHere).toBe(true)
  })

  test('takes a directory over from user nobody, whom it served before', async () => {
    const expected = await serverUid()
    await giveDirectory()
    const before = await startPostgres({ dir })
    await query(before.socketDir, 'create table kept (n int)')
    await before.stop()
    await run('chown', ['-R', '65534:65534', dir])
    await using server = await startPostgres({ dir })
    expect((await stat(dir)).uid).toBe(expected)
    expect(await realUid(Number(await pidIn(dir)))).toBe(expected)
    expect(await query(server.socketDir, 'select * from kept')).toEqual([])
  })

  test('below a private folder keeps the files and runs in a user namespace, start after start', async () => {
    await chmod(folder, 0o700)
    for (let start = 0; start < 2; start++) {
      await using server = await startPostgres({ dir })
      expect(server.startedHere).toBe(true)
      expect((await stat(dir)).uid).toBe(0)
      const adopter = await startPostgres({ dir })
      expect(adopter.startedHere).toBe(false)
      await adopter.stop()
    }
    // the owner decides, also once the other way would work
    await chmod(folder, 0o755)
    await using server = await startPostgres({ dir })
    expect((await stat(dir)).uid).toBe(0)
    await query(server.socketDir, 'select 1')
  })

  test('recovers in the namespace from a kill of the server', async () => {
    await chmod(folder, 0o700)
    await giveDirectory()
    const server = await startPostgres({ dir })
    await query(server.socketDir, 'create table kept (n int)')
    process.kill(Number(await pidIn(dir)), 'SIGKILL')
    await server.stop()
    await using again = await startPostgres({ dir })
    expect(await query(again.socketDir, 'select * from kept')).toEqual([])
  })

  test('takes the files over when they come to lie below a private folder', async () => {
    await giveDirectory()
    const server = await startPostgres({ dir })
    await query(server.socketDir, 'create table kept (n int)')
    await server.stop()
    await chmod(folder, 0o700)
    await using again = await startPostgres({ dir })
    expect((await stat(dir)).uid).toBe(0)
    expect(await query(again.socketDir, 'select * from kept')).toEqual([])
  })
})

/** Copies a data directory that a stopped server has left. Creating one takes ten times as long. */
async function giveDirectory(place = dir): Promise<void> {
  await mkdir(dirname(place), { recursive: true })
  await run('cp', ['-a', join(given, 'pg'), place])
}

/**
 * Returns the id of the user that must run PostgreSQL. This is root if only root can enter the
 * checkout, because the programs of PostgreSQL are installed in it.
 */
async function serverUid(): Promise<number> {
  return (await mayEnter(65_525, import.meta.dirname)) ? 65_525 : 0
}

async function mayEnter(uid: number, place: string): Promise<boolean> {
  const child = spawn('/usr/bin/test', ['-x', place], { uid, gid: uid, cwd: '/' })
  const [code] = await once(child, 'exit')
  return code === 0
}

async function query(socketDir: string, text: string) {
  const client = new pg.Client(socketConnectionConfig(socketDir, 'postgres', 'postgres'))
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows
}

async function pidIn(place: string): Promise<string | undefined> {
  const file = join(place, 'postmaster.pid')
  return existsSync(file) ? (await readFile(file, 'utf8')).split('\n')[0] : undefined
}

/**
 * Starts PostgreSQL, or connects to the one that runs, in a separate process. This process then
 * ends without stopping PostgreSQL.
 */
async function startElsewhere(place: string): Promise<{ startedHere: boolean; socketDir: string }> {
  const { stdout } = await run(process.execPath, ['--eval', `${holdServer(place)}; process.exit()`])
  return JSON.parse(stdout)
}

function holdServer(place: string) {
  return `const { startPostgres } = await import(${JSON.stringify(launcher)})
    const server = await startPostgres({ dir: ${JSON.stringify(place)} })
    console.log(JSON.stringify(server))`
}

async function endedPid(): Promise<number> {
  const child = spawn('/bin/sh', ['-c', 'exit 0'])
  await once(child, 'exit')
  return child.pid ?? 0
}

/** Returns the content of the pid file of a PostgreSQL 18 server. */
function pidFile(pid: number) {
  return [pid, dir, 1_700_000_000, 5432, dir, '', '  1234567    1234', 'ready   ', ''].join('\n')
}

async function realUid(pid: number) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
}

/**
 * Returns the process ids of the servers whose data directory is below `place`. Finds them by their
 * command lines.
 */
async function serversBelow(place: string): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args=', '-ww'])
  const found = stdout
    .split('\n')
    .filter(line => line.includes(`postgres -D ${place}/`))
    .map(line => line.trim().split(/\s+/, 2).map(Number))
  // a child that a server has just started has the server's name for a moment
  const pids = new Set(found.map(([pid]) => pid))
  return found.flatMap(([pid, parent]) => (pid === undefined || pids.has(parent) ? [] : [pid]))
}
