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
import { readPostmasterState, removeStalePidFile } from '../../../../src/server/db/postmaster.ts'

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

test('makes a durable database, leaves it to those who use it, and keeps it over a stop', async () => {
  await using first = await startPostgres({ dir })
  expect(first).toMatchObject({ startedHere: true, socketDir: dir, version: '18.4' })
  await query(first.socketDir, 'create table kept (n int)')
  const names = ['fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses']
  const values = names.map(name => `current_setting('${name}') as ${name}`)
  expect(await query(first.socketDir, `select ${values}`)).toEqual([
    { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', listen_addresses: '' }
  ])
  expect((await stat(dir)).mode & 0o777).toBe(0o700)
  if (isRoot && process.platform === 'linux') {
    // a user that no other program has
    const expected = await serverUid()
    const { uid, gid } = await stat(dir)
    expect([uid, gid]).toEqual([expected, expected])
    expect((await stat(join(dir, 'pg_hba.conf'))).uid).toBe(expected)
    expect(await realUid(Number(await pidIn(dir)))).toBe(expected)
  }
  const second = await startPostgres({ dir })
  expect(second.startedHere).toBe(false)
  await first.stop()
  expect(await query(second.socketDir, 'select * from kept')).toEqual([])
  await second.stop()
  expect(await pidIn(dir)).toBeUndefined()
  await using third = await startPostgres({ dir })
  expect(third.startedHere).toBe(true)
  expect(await query(third.socketDir, 'select * from kept')).toEqual([])
})

test('lets processes race for an empty directory and for a killed server: one starts, all answer', async () => {
  // what a killed first start leaves behind
  await mkdir(`${dir}.init-${await endedPid()}/base`, { recursive: true })
  const race = () => Promise.all([1, 2, 3].map(() => startElsewhere(dir)))
  const answers = await race()
  expect(answers.filter(answer => answer.startedHere)).toHaveLength(1)
  expect(new Set(answers.map(answer => answer.socketDir))).toEqual(new Set([dir]))
  expect((await readdir(folder)).sort()).toEqual(['pg', 'pg.log'])
  // a server that has lost the race takes a moment to end
  await expect.poll(() => serversBelow(folder)).toHaveLength(1)

  process.kill(Number(await pidIn(dir)), 'SIGKILL')
  const again = await race()
  expect(again.filter(answer => answer.startedHere)).toHaveLength(1)
  await expect.poll(() => serversBelow(folder)).toHaveLength(1)
})

test('recovers at once from a kill of the server, losing nothing', async () => {
  await giveDirectory()
  const server = await startPostgres({ dir })
  await query(server.socketDir, 'create table kept (n int)')
  await query(server.socketDir, 'insert into kept values (0)')
  process.kill(Number(await pidIn(dir)), 'SIGKILL')
  await server.stop()
  await using again = await startPostgres({ dir })
  expect(again.startedHere).toBe(true)
  expect(await query(again.socketDir, 'select count(*)::int as n from kept')).toEqual([{ n: 1 }])
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
    ['of a process that is gone', async () => pidFile(await endedPid())],
    ['whose number another server has now', async () => pidFile(await otherServer())]
  ])('%s does not keep the server from starting', async (_, content) => {
    await leavePidFile(await content())
    await using server = await startPostgres({ dir })
    expect(server.startedHere).toBe(true)
    expect((await readdir(dir)).filter(name => name.includes('stale'))).toEqual([])
  })

  test.each([
    ['that is empty', 'empty', ''],
    ['whose number another program has now', 'foreign', String(process.pid)]
  ])('%s is removed', async (_, status, pid) => {
    await leavePidFile(pid && pidFile(Number(pid)))
    await expectRemoval(status)
  })

  test.runIf(process.platform === 'linux')('of a zombie is removed', async () => {
    // The child ends once the shell has become sleep, which never reaps it. The shell might.
    const child = `sh -c 'until grep -q sleep /proc/$PPID/comm; do sleep 0.01; done'`
    const script = `${child} & echo $!; exec sleep 600`
    const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [pid] = await once(parent.stdout, 'data')
    try {
      await leavePidFile(pidFile(Number(pid)))
      // until then the number is that of another program
      await expect.poll(async () => (await readPostmasterState(dir)).status).toBe('zombie')
      await expectRemoval('zombie')
    } finally {
      parent.kill()
    }
  })

  /** PostgreSQL starts without the file as it does the first time. */
  async function expectRemoval(status: string) {
    const found = await readPostmasterState(dir)
    expect(found.status).toBe(status)
    await removeStalePidFile(dir, found)
    expect((await readdir(dir)).filter(name => name.includes('postmaster.pid'))).toEqual([])
  }

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

test('puts the socket into a private short folder when the path is too long', async () => {
  const long = join(folder, 'é'.repeat(50), 'pg')
  await giveDirectory(long)
  await using server = await startPostgres({ dir: long })
  expect(server.socketDir).not.toBe(long)
  expect((await stat(server.socketDir)).mode & 0o777).toBe(0o700)
  expect(await query(server.socketDir, 'select 1 as n')).toEqual([{ n: 1 }])
  await using adopter = await startPostgres({ dir: long })
  expect(adopter.socketDir).toBe(server.socketDir)
  await server.stop({ evenIfShared: true })
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

  test('below a private folder keeps the files and runs in a user namespace, also after a kill', async () => {
    await chmod(folder, 0o700)
    const server = await startPostgres({ dir })
    expect(server.startedHere).toBe(true)
    expect((await stat(dir)).uid).toBe(0)
    const adopter = await startPostgres({ dir })
    expect(adopter.startedHere).toBe(false)
    await query(adopter.socketDir, 'create table kept (n int)')
    process.kill(Number(await pidIn(dir)), 'SIGKILL')
    await Promise.all([server.stop(), adopter.stop()])
    // the owner decides, also once the other way would work
    await chmod(folder, 0o755)
    await using again = await startPostgres({ dir })
    expect(again.startedHere).toBe(true)
    expect((await stat(dir)).uid).toBe(0)
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
