import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runCommand } from '../../bin/commands.ts'
import { socketConnectionConfig, startPostgres } from '../../src/server/db/postgres.ts'
import { isProcessAlive, readPostmasterState } from '../../src/server/db/postmaster.ts'
import {
  depositLeaf,
  exampleFile,
  exampleLog,
  makeKey,
  openingsOf,
  receiptOf
} from '../helpers/evidence/evidence-log.ts'

/**
 * Timeout of a test in milliseconds. Starting the database or a process takes seconds on a busy
 * machine.
 */
const slow = 600_000
const root = join(import.meta.dirname, '../..')
const address = 'https://docs.example.org'
/** Folder in which Node stores compiled modules. With them, a command starts twice as fast. */
const compiled = process.env.NODE_COMPILE_CACHE

let folder: string
let dataDir: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vidimus-cli-'))
  await chmod(folder, 0o711) // as root the database runs as somebody else
  dataDir = join(folder, 'data')
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('PUBLIC_URL', address)
  vi.stubEnv('DEV', false) // Vitest sets it to 1
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await stopDatabase()
  await rm(folder, { recursive: true, force: true })
})

test('says what it can do, and of each command how it is called', async () => {
  const overview = await runCommand(['--help'])
  expect(overview.status).toBe(0)
  const { commands } = JSON.parse((await runCommand(['--json'])).out)
  const names: string[] = commands.map((each: { name: string }) => each.name)
  expect(names).toEqual([
    'init',
    'hosts',
    'certificates allow',
    'setup-code',
    'waiting',
    'keys rotate token',
    'deposit held',
    'deposit retry',
    'audit check',
    'log list',
    'log resync',
    'log moved',
    'log retire',
    'verify',
    'seed-demo',
    'remove-demo'
  ])
  for (const name of names) {
    expect(overview.out).toContain(name)
    const help = await runCommand([...name.split(' '), '--help'])
    expect(help).toMatchObject({
      status: 0,
      out: expect.stringContaining(`npm run vidimus -- ${name}: `)
    })
    const facts = JSON.parse((await runCommand([...name.split(' '), '--help', '--json'])).out)
    expect(facts.options).toHaveProperty('json')
  }
  expect(await readdir(folder)).toEqual([])
})

test('npm run migrate works on the database that the settings name', {
  timeout: slow
}, async () => {
  // the tests below use this database
  const own = await run('npm', ['run', '--silent', 'migrate'], {})
  expect(own).toMatchObject({ status: 0, out: expect.stringContaining('0001-init.sql') })
  expect(await readdir(dataDir)).toContain('pg')
  const given = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  expect(await run(process.execPath, ['bin/migrate.ts'], given)).toMatchObject({
    status: 1,
    err: expect.stringContaining('DATABASE_URL cannot be used')
  })
})

test.for([
  [['fly'], 'There is no command fly'],
  [['setup-code', '--fast'], "Unknown option '--fast'"],
  [['setup-code', 'please'], "Unexpected argument 'please'"],
  [['deposit', 'retry', 'one', 'two'], "Unexpected argument 'two'"],
  [['init', '--name', 'Orchard'], '--domain and --name'],
  [['certificates', 'allow'], 'needs a host'],
  [['init', '--domain', 'no host', '--name', 'Orchard'], 'no host'],
  [['init', '--domain', 'api.example.org', '--name', 'Orchard'], 'not a host name'],
  [['init', '--domain', 'docs.example.org', '--name', ''], '1 to 80 characters']
] as const)('does not understand %j', async ([words, says]) => {
  const { status, err } = await runCommand([...words])
  expect(status).toBe(2)
  expect(err).toContain(says)
})

test('verify judges a file without service, database or settings', async () => {
  const place = (name: string) => join(folder, name)
  const log = exampleLog()
  const receipt = receiptOf(log, openingsOf(['expires', 'orig', 'stored', 'time']))
  const altered = { ...receipt, open: openingsOf(['orig'], { orig: 'sha256:0' }) }
  const newer = { ...receipt, format: 'vidimus/receipt@v2' }
  const past = { expires: '2020-01-01T00:00:00Z' }
  const ended = receiptOf(
    exampleLog({ deposit: depositLeaf(past) }),
    openingsOf(['expires', 'orig', 'stored'], past)
  )
  const policy = `log ${log.key.vkey}\nquorum none\n`
  const witness = makeKey('w.example', 4, 4).vkey
  const files = {
    file: exampleFile,
    other: 'another file',
    receipt: JSON.stringify(receipt),
    altered: JSON.stringify(altered),
    newer: JSON.stringify(newer),
    ended: JSON.stringify(ended),
    endless: ' '.repeat(3_000_000),
    policy,
    quorum: `${policy.replace('quorum none', `witness W ${witness}\nquorum W`)}`
  }
  for (const [name, text] of Object.entries(files)) await writeFile(place(name), text)
  const judge = (file: string, proof: string, ...options: string[]) =>
    command('verify', place(file), place(proof), ...options)

  // a separate process without settings, as on the computer of somebody who only has the files
  const alone = await run(
    process.execPath,
    ['bin/vidimus.ts', 'verify', place('file'), place('receipt'), '--key', log.key.vkey],
    { DATA_DIR: '/dev/null/none', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }
  )
  expect(alone.status).toBe(11)
  expect(alone.out).toContain(
    'Unchanged: verify.acme.example/log recorded this exact file on 2026-11-20 at 09:28:15 UTC, by its own clock;'
  )
  expect(await judge('file', 'receipt', '--policy', place('policy'))).toMatchObject({
    status: 11,
    out: alone.out
  })
  const unknown = await judge('file', 'receipt')
  expect(unknown).toMatchObject({ status: 13, err: '' })
  expect(unknown.out).toContain(
    'Matches its receipt: compare the key 5f17 b594 f0c2 9ef1 29e5 with the one that verify.acme.example publishes.'
  )
  const theirs = makeKey(log.origin, 9).vkey
  const wrongKey = await judge('file', 'receipt', '--key', theirs)
  expect(wrongKey.status).toBe(13)
  expect(wrongKey.out).toContain('No key that you gave has signed this.')

  // anybody can make a receipt that names a log, with a key of their own
  const expired = await judge('file', 'ended')
  expect(expired.status).toBe(20)
  expect(expired.out).toContain('Nobody whose key you gave has signed it.')
  expect(expired.out).not.toContain('recorded this exact file')
  const known = await judge('file', 'ended', '--key', log.key.vkey)
  expect(known.out).toContain('verify.acme.example/log recorded this exact file, but it expired')

  const different = await judge('other', 'receipt', '--json')
  expect(different.status).toBe(40)
  expect(JSON.parse(different.out)).toMatchObject({
    verdict: 'differs',
    facts: { match: 'differs', inclusion: 'proven', status: 'unchecked' },
    record: { index: '1', size: '3' },
    fields: { time: '2026-11-20T09:28:15Z' }
  })
  for (const [proof, status, word] of [
    ['altered', 51, 'Broken proof'],
    ['endless', 51, 'Broken proof'],
    ['newer', 60, 'No answer yet']
  ] as const) {
    expect(await judge('file', proof)).toMatchObject({
      status,
      out: expect.stringContaining(word)
    })
  }

  const unusable = [
    [],
    [place('file')],
    [place('file'), place('receipt'), 'more'],
    [place('file'), place('receipt'), '--fast'],
    [place('file'), place('none')],
    [place('none'), place('receipt')],
    [folder, place('receipt')],
    [place('file'), place('receipt'), '--key', 'x'],
    [place('file'), place('receipt'), '--key', witness],
    [place('file'), place('receipt'), '--policy', place('file')],
    [place('file'), place('receipt'), '--policy', place('quorum')],
    [place('file'), place('receipt'), '--policy', place('policy'), '--key', log.key.vkey]
  ]
  for (const words of unusable) {
    const { status, out, err } = await command('verify', ...words)
    expect({ words, status, out }).toEqual({ words, status: 64, out: '' })
    expect(err).not.toBe('\n')
  }
})

test('goes through an installation’s first hour', { timeout: slow }, async () => {
  const early = await command('setup-code', '--json')
  expect(early.status).toBe(1)
  expect(JSON.parse(early.err).error).toContain('no installation yet')

  // each command would start the database and stop it again
  const running = await startPostgres({ dir: join(dataDir, 'pg') })
  expect((await command('seed-demo')).status).toBe(1)
  const init = await vidimus('init', '--domain', 'docs.example.org', '--name', 'Orchard', '--json')
  expect(init.status).toBe(0)
  const made = JSON.parse(init.out)
  expect(made).toMatchObject({ domain: 'docs.example.org', name: 'Orchard' })
  expect(made.link).toBe(`https://docs.example.org/en/setup#${made.code}`)
  const again = await command('init', '--domain', 'docs.example.org', '--name', 'Orchard')
  expect(again).toMatchObject({
    status: 1,
    err: expect.stringContaining('already has an installation')
  })

  const code = await command('setup-code')
  expect(code.out).toMatch(/^https:\/\/docs\.example\.org\/en\/setup#[\w-]{22}$/m)

  expect((await command('waiting')).out).toBe('Nobody is waiting.\n')
  expect(JSON.parse((await command('waiting', '--json')).out)).toEqual({ waiting: [] })
  expect(JSON.parse((await command('deposit', 'held', '--json')).out)).toEqual({ held: [] })
  expect(await command('deposit', 'retry')).toMatchObject({
    status: 1,
    err: expect.stringContaining('No deposit is held')
  })

  expect(await command('certificates', 'allow', 'docs.example.org')).toMatchObject({
    status: 0,
    out: expect.stringContaining('a domain of its own')
  })
  expect(await command('certificates', 'allow', 'other.example.org')).toMatchObject({
    status: 1,
    err: expect.stringContaining('not served')
  })

  const owner = new pg.Client(socketConnectionConfig(running.socketDir, 'vidimus', 'postgres'))
  await owner.connect()
  await owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select id, gen_random_uuid(), '*.example.net', 'A', 'A', false, 'en', '{}', now() from company`
  )
  for (const typed of ['vergers-é.example.net', 'https://Docs.example.net/', 'docs.example.net.']) {
    const host = typed.startsWith('v') ? 'xn--vergers--i1a.example.net' : 'docs.example.net'
    expect(await command('certificates', 'allow', typed)).toMatchObject({
      status: 0,
      out: `The proxy may request certificates for ${host} and its API.\n`
    })
  }
  const allowed = await owner.query('select name, wildcard from certificate_name order by name')
  expect(allowed.rows).toEqual([
    { name: 'docs.example.net', wildcard: '*.example.net' },
    { name: 'xn--vergers--i1a.example.net', wildcard: '*.example.net' }
  ])
  await owner.end()

  expect((await command('remove-demo')).status).toBe(1)
  const seeded = JSON.parse((await command('seed-demo', '--json')).out)
  expect(seeded).toMatchObject({
    address: 'https://demo.localhost',
    account: { email: 'claire.marchand@example.com' }
  })
  expect(await command('seed-demo')).toMatchObject({
    status: 1,
    err: expect.stringContaining('already')
  })
  expect((await readdir(join(dataDir, 'documents/blobs'))).length).toBe(1)
  expect((await command('remove-demo')).status).toBe(0)
  expect(await readdir(join(dataDir, 'documents/blobs'))).toEqual([])
  expect(await readdir(join(dataDir, 'documents/staging'))).toEqual([])

  await running.stop()
  const before = await tokenKeys()
  const rotated = JSON.parse((await vidimus('keys', 'rotate', 'token', '--json')).out)
  expect(await tokenKeys()).toHaveLength(before.length + 1)
  const file = join(dataDir, 'keys', `token-${rotated.kid}.jwk`)
  expect(JSON.parse(await readFile(file, 'utf8')).not_before).toBe(rotated.valid_from)
  const minutes = (Date.parse(rotated.valid_from) - Date.now()) / 60_000
  expect(minutes).toBeGreaterThan(9)
  expect(minutes).toBeLessThanOrEqual(10)

  // it started the database and has taken it down again
  expect((await readPostmasterState(join(dataDir, 'pg'))).status).toBe('absent')
})

test('audit check names the company and the first broken entry of a log', {
  timeout: slow
}, async () => {
  const postgres = await startPostgres({ dir: join(dataDir, 'pg') })
  const intact = JSON.parse((await command('audit', 'check', '--json')).out)
  expect(intact.logs).toEqual([
    { company: expect.any(String), entries: 0, erased: 0, unlogged: [] }
  ])
  expect((await command('audit', 'check')).out).toContain('warning: the log is empty')
  const { company } = intact.logs[0]
  const owner = new pg.Client(socketConnectionConfig(postgres.socketDir, 'vidimus', 'postgres'))
  await owner.connect()
  await owner.query(
    `insert into audit_entry (company_id, seq, id, created_at, actor_id, actor_company_id, acted_in,
       action, target_id, hash)
     values ($1, 1, $1, now(), $1, $1, $1, 'user.delete', $1, sha256('x'))`,
    [company]
  )
  await owner.end()
  const { status, out, err } = await command('audit', 'check', '--json')
  expect({ status, out }).toEqual({ status: 1, out: '' })
  const reason = 'it does not follow from the entries before it'
  expect(JSON.parse(err)).toEqual({
    error: `Company ${company}: entry 1 is broken: ${reason}.`,
    logs: [{ company, entries: 0, erased: 0, broken: { seq: 1, reason }, unlogged: [] }]
  })
  expect(await command('audit', 'check')).toMatchObject({
    status: 1,
    err: expect.stringContaining('entry 1 is broken')
  })
  await postgres.stop()
})

test('lists logs, and ends one for its successor', { timeout: slow }, async () => {
  const postgres = await startPostgres({ dir: join(dataDir, 'pg') })
  const { logs } = JSON.parse((await command('log', 'list', '--json')).out)
  const origin = 'docs.example.org/log'
  expect(logs).toEqual([
    {
      company: expect.any(String),
      origin,
      state: 'running',
      leaves: 1,
      published: 0,
      fault: null,
      better_host: null
    }
  ])
  expect((await command('log', 'list')).out).toBe(
    `${origin}\n  company ${logs[0].company}, running, 0 of 1 leaves signed\n`
  )
  expect((await command('log', 'resync')).status).toBe(2)
  expect(await command('log', 'resync', 'other.example.org/log')).toMatchObject({
    status: 1,
    err: expect.stringContaining('log list lists them')
  })
  // it has signed nothing yet, so there is nothing to read
  expect((await command('log', 'resync', origin)).status).toBe(1)
  expect(await command('log', 'moved')).toMatchObject({
    status: 1,
    err: expect.stringContaining('Nothing was changed')
  })
  const retired = JSON.parse((await command('log', 'retire', origin, '--json')).out)
  expect(retired).toEqual({
    origin,
    successor: `${origin}/2`,
    rebuilt: 0,
    lost: 0,
    is_copied: false
  })
  expect(await command('log', 'retire', origin)).toMatchObject({
    status: 1,
    err: expect.stringContaining('retired already')
  })
  expect(await command('log', 'resync', origin)).toMatchObject({
    status: 1,
    err: expect.stringContaining('has signed nothing')
  })
  const after = JSON.parse((await command('log', 'list', '--json')).out).logs
  expect(after.map((log: { state: string }) => log.state)).toEqual(['retired', 'running'])

  // had the installation begun on a developer's machine
  const owner = new pg.Client(socketConnectionConfig(postgres.socketDir, 'vidimus', 'postgres'))
  await owner.connect()
  const trial = 'localhost:4321/log'
  await owner.query('update log_head set origin = $1', [trial])
  await owner.query('update log_state set origin = $1 where log_no = 1', [trial])
  await owner.end()
  const offers = async () =>
    JSON.parse((await command('log', 'list', '--json')).out).logs.map(
      (log: { better_host: string | null }) => log.better_host
    )
  expect(await offers()).toEqual([null, 'docs.example.org'])
  const offer = `  trial: receipts name localhost, not docs.example.org. End it with npm run vidimus -- log retire ${trial}\n`
  expect((await command('log', 'list')).out.split('leaves signed\n').at(-1)).toBe(offer)
  const { successor } = JSON.parse((await command('log', 'retire', trial, '--json')).out)
  expect(successor).toBe(`${origin}/2`)
  expect(await offers()).toEqual([null, null, null])
  await postgres.stop()
})

test('the commands read the settings from where the service does', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  for (const name of ['start', 'migrate', 'vidimus']) {
    expect(scripts[name]).toMatch(/^node --env-file-if-exists=\.env /)
  }
})

test('ends as the command did', async () => {
  expect(await vidimus('fly')).toEqual(await runCommand(['fly']))
})

test('names a setting that is wrong', async () => {
  const { PORT: port } = process.env
  vi.stubEnv('PORT', 'x')
  const { status, err } = await command('setup-code')
  vi.stubEnv('PORT', port)
  expect(status).toBe(1)
  expect(err).toContain('PORT=x')
})

async function tokenKeys(): Promise<string[]> {
  return (await readdir(join(dataDir, 'keys'))).filter(name => name.startsWith('token-'))
}

/** Runs the command `vidimus` with these arguments in a separate process, as a person would. */
function vidimus(...words: string[]) {
  return run(process.execPath, ['bin/vidimus.ts', ...words], {})
}

/** Runs the command `vidimus` with these arguments in this process. */
function command(...words: string[]) {
  return runCommand(words)
}

async function run(program: string, args: string[], settings: Record<string, string>) {
  const child = spawn(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      ...(compiled && { NODE_COMPILE_CACHE: compiled }),
      DATA_DIR: dataDir,
      PUBLIC_URL: address,
      ...settings
    }
  })
  let out = ''
  let err = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const status = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { status, out, err }
}

async function stopDatabase(): Promise<void> {
  const found = await readPostmasterState(join(dataDir, 'pg'))
  if (!('socketDir' in found)) return
  process.kill(found.pid, 'SIGQUIT')
  while (isProcessAlive(found.pid)) await new Promise(resolve => setTimeout(resolve, 20))
}
