import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { toBase64 } from '../../../src/core/bytes.ts'
import { parseCheckpoint } from '../../../src/core/evidence/checkpoints.ts'
import { openDatabase } from '../../../src/server/db/open.ts'
import type { CompanyId, Deps } from '../../../src/server/domain/deps.ts'
import { moveLogs } from '../../../src/server/domain/evidence/log-folder.ts'
import { findLogFault, monitorNextLog } from '../../../src/server/domain/evidence/log-monitor.ts'
import { resyncLog, rewriteRetiredLog } from '../../../src/server/domain/evidence/log-resync.ts'
import { retireLog } from '../../../src/server/domain/evidence/log-retirement.ts'
import { listLogsOf, logIdOf } from '../../../src/server/domain/evidence/logs.ts'
import { deleteOldCheckpoints } from '../../../src/server/domain/evidence/seals.ts'
import { runJobs } from '../../../src/server/jobs/job-runner.ts'
import { publishLogsJob } from '../../../src/server/jobs/log-jobs.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { sha256 } from '../../helpers/evidence/evidence-log.ts'
import {
  appendLeaves,
  publishAll,
  readPublished,
  rootOfLeaves
} from '../../helpers/evidence/published-log.ts'
import { startSecondProcess } from '../../helpers/second-process.ts'

let app: TestApp
let ada: TestPerson
let acme: CompanyId
let asOwner: Deps
beforeEach(async () => {
  app = await makeApp()
  ada = await app.signUp()
  acme = app.companies['acme.localhost']
  const { socketDir, name: database } = app.database
  asOwner = { ...app.deps, db: await openDatabase({ socketDir, database, asOwner: true }) }
})
afterEach(async () => {
  await asOwner.db.close()
  await app[Symbol.asyncDispose]()
})

test('a log begins with its policy, and each checkpoint has the root of the published entries', async () => {
  await publishAll(app.deps, acme)
  const { leaves: first, checkpoint: empty } = await published()
  expect(empty.size).toBe(1n)
  expect(first).toHaveLength(1)
  expect(JSON.parse(first[0] ?? '')).toMatchObject({ type: 'policy', origin: await origin() })

  const ids = [await deposit(), await deposit(), await deposit()]
  await publishAll(app.deps, acme)
  const { leaves, checkpoint } = await published()
  expect(checkpoint.size).toBe(4n)
  expect(leaves.slice(1).map(leaf => JSON.parse(leaf).id)).toEqual(ids)
  expect(toBase64(checkpoint.root)).toBe(rootOfLeaves(leaves).toString('base64'))
})

test('openssl verifies a checkpoint', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const { note, leaves } = await published()
  const vkey: string = JSON.parse(leaves[0] ?? '').log
  const body = note.slice(0, note.indexOf('\n\n') + 1)
  const key = Buffer.from(vkey.split('+').slice(2).join('+'), 'base64').subarray(1)
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key])
  const signature = Buffer.from(note.trimEnd().split(' ').at(-1) ?? '', 'base64').subarray(4)
  const file = (name: string, bytes: string | Buffer) => {
    writeFileSync(join(app.folder, name), bytes)
    return join(app.folder, name)
  }
  const pem = `-----BEGIN PUBLIC KEY-----\n${der.toString('base64')}\n-----END PUBLIC KEY-----\n`
  const words = ['pkeyutl', '-verify', '-pubin', '-inkey', file('key.pem', pem), '-rawin']
  words.push('-in', file('body', body), '-sigfile', file('signature', signature))
  expect(execFileSync('openssl', words).toString()).toContain('Verified Successfully')
  file('body', body.replace('\n2\n', '\n9\n'))
  expect(() => execFileSync('openssl', words, { stdio: 'pipe' })).toThrow()
})

test('every size around a tile has one root, with tiles and entries that fit', async () => {
  await publishAll(app.deps, acme)
  const roots = new Map<bigint, string>()
  for (const amount of [1, 126, 127, 1, 1, 1, 254, 2, 300]) {
    await appendLeaves(app.owner, acme, amount)
    await publishAll(app.deps, acme)
    const { leaves, checkpoint } = await published()
    expect(BigInt(leaves.length)).toBe(checkpoint.size)
    expect(toBase64(checkpoint.root)).toBe(rootOfLeaves(leaves).toString('base64'))
    expect(roots.has(checkpoint.size)).toBe(false)
    roots.set(checkpoint.size, toBase64(checkpoint.root))
  }
  expect(await monitorNextLog(app.deps, acme)).toBe(true)
  expect((await logs())[0]).toMatchObject({ fault: null, state: 'running' })
})

test('two processes on one store publish one history', async () => {
  await using second = await startSecondProcess(app)
  await publishAll(app.deps, acme)
  const notes = new Map<string, string>()
  const publishing = Array.from({ length: 30 }, async (_, at) => {
    await appendLeaves(app.owner, acme, 3)
    await publishAll(at % 2 === 0 ? app.deps : second.deps, acme)
    const note = (await app.deps.logFiles.readCheckpoint(await logId())) ?? ''
    const { size, root } = parseCheckpoint(note)
    const known = notes.get(String(size))
    expect(known ?? toBase64(root)).toBe(toBase64(root))
    notes.set(String(size), toBase64(root))
  })
  await Promise.all(publishing)
  await publishAll(app.deps, acme)
  const { leaves, checkpoint } = await published()
  expect(leaves).toHaveLength(91)
  expect(toBase64(checkpoint.root)).toBe(rootOfLeaves(leaves).toString('base64'))
})

test('a checkpoint that was signed before the commit failed is taken up', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  await app.owner.query('update log_state set published_size = 1 where company_id = $1', [acme])
  await app.owner.query('delete from log_checkpoint where company_id = $1 and size > 1', [acme])
  await deposit()
  await publishAll(app.deps, acme)
  expect((await published()).checkpoint.size).toBe(3n)
  expect((await logs())[0]).toMatchObject({ state: 'running', published: 3 })
})

test('the checkpoint of a policy alone is kept, although the commit failed after it was signed', async () => {
  await publishAll(app.deps, acme)
  await app.owner.query('update log_state set published_size = 0 where company_id = $1', [acme])
  await app.owner.query('delete from log_checkpoint where company_id = $1', [acme])
  await deposit()
  await publishAll(app.deps, acme)
  expect(await checkpointSizes()).toEqual([1, 2])
})

test('a process that was stopped before it replaced the checkpoint does not put an older one in place', async () => {
  await publishAll(app.deps, acme)
  await deposit()
  await using second = await startSecondProcess(app)
  const { logFiles } = app.deps
  const stopped: Deps = {
    ...app.deps,
    logFiles: {
      ...logFiles,
      async writeCheckpoint(...written) {
        // PostgreSQL ends the transaction of a process that does not go on
        await app.owner.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where state = 'idle in transaction' and datname = current_database()`
        )
        await deposit()
        await publishAll(second.deps, acme)
        await logFiles.writeCheckpoint(...written)
      }
    }
  }
  await expect(publishAll(stopped, acme)).rejects.toThrow()
  expect((await published()).checkpoint.size).toBe(3n)
})

test('two databases that share the files do not sign one size twice', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const { note } = await published()
  const backup = await takeBackup()
  await deposit()
  await publishAll(app.deps, acme)
  const { note: other } = await published()
  // the old primary and the new one
  await restore(backup)
  await app.deps.logFiles.writeCheckpoint(await logId(), note, other)
  await deposit()
  const { logFiles } = app.deps
  const meanwhile: Deps = {
    ...app.deps,
    logFiles: {
      ...logFiles,
      async writeCheckpoint(log, signed, before) {
        await logFiles.writeCheckpoint(log, other, before)
        await logFiles.writeCheckpoint(log, signed, before)
      }
    }
  }
  await expect(publishAll(meanwhile, acme)).rejects.toThrow('replaced meanwhile')
  expect((await published()).note).toBe(other)
  await publishAll(app.deps, acme)
  expect((await logs())[0]).toMatchObject({ state: 'behind' })
})

test('older files that a stopped process wrote late are written again', async () => {
  await appendLeaves(app.owner, acme, 299)
  await publishAll(app.deps, acme)
  const folder = join(app.folder, 'log', await logId())
  cpSync(folder, join(app.folder, 'older'), { recursive: true })
  await appendLeaves(app.owner, acme, 100)
  await publishAll(app.deps, acme)
  rmSync(folder, { recursive: true })
  cpSync(join(app.folder, 'older'), folder, { recursive: true })
  rmSync(join(folder, 'tile', '0'), { recursive: true })
  await deposit()
  await publishAll(app.deps, acme)
  const { leaves, checkpoint } = await published()
  expect(leaves).toHaveLength(401)
  expect(toBase64(checkpoint.root)).toBe(rootOfLeaves(leaves).toString('base64'))
  await monitorNextLog(app.deps, acme)
  expect((await logs())[0]).toMatchObject({ fault: null })
})

test('a restored database signs nothing until resync, and then one history goes on', async () => {
  const kept = [await deposit(), await deposit()]
  await publishAll(app.deps, acme)
  const backup = await takeBackup()
  const lost = [await deposit(), await deposit()]
  await publishAll(app.deps, acme)
  const before = await published()
  await restore(backup)
  const after = await deposit()
  await publishAll(app.deps, acme)
  expect((await published()).note).toBe(before.note)
  expect((await logs())[0]).toMatchObject({ state: 'behind' })
  // more leaves than were signed are still another history
  const later = [await deposit(), await deposit()]
  await publishAll(app.deps, acme)
  expect((await published()).note).toBe(before.note)

  expect(await resyncLog(asOwner, acme)).toEqual({ done: 'leaves restored', restored: 2, moved: 3 })
  await publishAll(app.deps, acme)
  const { leaves, checkpoint } = await published()
  expect(leaves.slice(0, 5)).toEqual(before.leaves)
  const ids = leaves.slice(1).map(leaf => JSON.parse(leaf).id)
  expect(ids).toEqual([...kept, ...lost, after, ...later])
  // the stream of the history says where they are now
  const { rows: places } = await app.owner.query(
    `select (payload ->> 'leaf_index')::int as place
       from event join deposit using (company_id, request_id)
      where company_id = $1 and deposit.id = any($2) and payload ? 'leaf_index' order by place`,
    [acme, [after, ...later]]
  )
  expect(places.map(({ place }) => place)).toEqual([5, 6, 7])
  expect(toBase64(checkpoint.root)).toBe(rootOfLeaves(leaves).toString('base64'))
  const next = await deposit()
  await publishAll(app.deps, acme)
  expect(JSON.parse((await published()).leaves.at(-1) ?? '').id).toBe(next)
  await monitorNextLog(app.deps, acme)
  expect((await logs())[0]).toMatchObject({ state: 'running', fault: null })
})

test('documents are deposited while a log is resynced', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const backup = await takeBackup()
  await deposit()
  await publishAll(app.deps, acme)
  await restore(backup)
  await publishAll(app.deps, acme)
  const { logFiles } = app.deps
  const meanwhile: Deps = {
    ...asOwner,
    logFiles: {
      ...logFiles,
      async readEntries(...which) {
        const entries = await logFiles.readEntries(...which)
        await deposit()
        return entries
      },
      async writeEntries(...written) {
        await deposit()
        await logFiles.writeEntries(...written)
      }
    }
  }
  expect(await resyncLog(meanwhile, acme)).toMatchObject({ restored: 1, moved: 1 })
  expect(await resyncLog(meanwhile, acme)).toEqual({ done: 'files written', leaves: 3 })
  await publishAll(app.deps, acme)
  const { leaves, checkpoint } = await published()
  expect(leaves).toHaveLength(5)
  expect(toBase64(checkpoint.root)).toBe(rootOfLeaves(leaves).toString('base64'))
})

test('resync says which file it cannot read', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const backup = await takeBackup()
  await deposit()
  await publishAll(app.deps, acme)
  await restore(backup)
  const bundle = join(app.folder, 'log', await logId(), 'entries/000/000/000.gz')
  writeFileSync(bundle, randomBytes(100))
  await expect(resyncLog(asOwner, acme)).rejects.toThrow(/^The file of entries 0 .*cannot be read/)
  rmSync(bundle)
  await expect(resyncLog(asOwner, acme)).rejects.toThrow(/^The file of entries 0 .*cannot be read/)
})

test('a copy of the data without the published files signs nothing', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const folder = join(app.folder, 'log')
  rmSync(folder, { recursive: true })
  await deposit()
  await publishAll(app.deps, acme)
  expect(await app.deps.logFiles.readCheckpoint(await logId())).toBeUndefined()
  expect((await logs())[0]).toMatchObject({ state: 'no_checkpoint' })
  await expect(resyncLog(asOwner, acme)).rejects.toThrow('is missing')
})

test('a checkpoint of another key counts as none', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const { note } = await published()
  const forged = note.replace(/\n2\n/, '\n3\n')
  await app.deps.logFiles.writeCheckpoint(await logId(), forged, note)
  await deposit()
  await publishAll(app.deps, acme)
  expect(await app.deps.logFiles.readCheckpoint(await logId())).toBe(forged)
  expect((await logs())[0]).toMatchObject({ state: 'no_checkpoint' })
})

test('a forked log is frozen, cannot be resynced, and has a successor after it was retired', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const backup = await takeBackup()
  await deposit()
  await publishAll(app.deps, acme)
  const abroad = await published()
  await restore(backup)
  // the copy went on with files of its own, and then got those of the original
  rmSync(join(app.folder, 'log'), { recursive: true })
  cpSync(join(app.folder, 'backup-log'), join(app.folder, 'log'), { recursive: true })
  await moveLogs(app.deps)
  await deposit()
  await publishAll(app.deps, acme)
  await app.deps.logFiles.writeCheckpoint(await logId(), abroad.note, (await published()).note)
  const waiting = await deposit()
  await publishAll(app.deps, acme)
  expect((await logs())[0]).toMatchObject({ state: 'forked' })
  await expect(resyncLog(asOwner, acme)).rejects.toThrow()

  const old = await origin()
  const result = await retireLog(asOwner, acme)
  expect(result).toMatchObject({ origin: old, successor: `${old}/2`, rebuilt: 1, lost: 0 })
  await publishAll(app.deps, acme)
  const { leaves, checkpoint } = await published()
  expect(checkpoint.origin).toBe(`${old}/2`)
  expect(leaves.slice(1).map(leaf => JSON.parse(leaf).id)).toEqual([waiting])
  const policy = JSON.parse(leaves[0] ?? '')
  expect(policy.previous).toMatchObject({ origin: old, size: 3 })
  expect(policy.log).not.toBe(JSON.parse(abroad.leaves[0] ?? '').log)
  expect((await logs()).map(({ state }) => state)).toEqual(['retired', 'running'])
  const { request_id } = await depositOf(waiting)
  const [row] = (await app.owner.query('select facts from request where id = $1', [request_id]))
    .rows
  expect(row.facts.leaf_hash).toBe(sha256('\0', leaves[1] ?? '').toString('hex'))
  // who had a receipt keeps the files that prove it
  expect(await app.deps.logFiles.readCheckpoint(logIdOf(old))).toBe(abroad.note)
  const next = await deposit()
  await publishAll(app.deps, acme)
  expect(JSON.parse((await published()).leaves.at(-1) ?? '').id).toBe(next)
  app.wait(25 * 3600)
  while (await monitorNextLog(app.deps, acme));
  expect((await logs()).map(({ fault }) => fault)).toEqual([null, null])
})

test('resync with an older checkpoint forgets nothing that was signed', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const { note: older } = await published()
  await deposit()
  await publishAll(app.deps, acme)
  const { note, checkpoint } = await published()
  await app.deps.logFiles.writeCheckpoint(await logId(), older, note)
  await resyncLog(asOwner, acme)
  expect((await logs())[0]).toMatchObject({ published: 3 })
  // the record of the last leaf has a receipt
  expect(await retireLog(asOwner, acme)).toMatchObject({ rebuilt: 0 })
  await publishAll(app.deps, acme)
  const { previous } = JSON.parse((await published()).leaves[0] ?? '')
  expect(previous).toMatchObject({ size: 3, root: toBase64(checkpoint.root) })
})

test('the successor of a log whose files are lost names its last checkpoint', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const { checkpoint } = await published()
  rmSync(join(app.folder, 'log'), { recursive: true })
  await retireLog(asOwner, acme)
  await moveLogs(app.deps)
  await publishAll(app.deps, acme)
  const { previous } = JSON.parse((await published()).leaves[0] ?? '')
  expect(previous).toMatchObject({ size: 2, root: toBase64(checkpoint.root) })
})

test('a database from before a retirement does not sign the retired log', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const old = await published()
  const backup = await takeBackup()
  const { origin: retired, successor } = await retireLog(asOwner, acme)
  await deposit()
  await publishAll(app.deps, acme)
  const { note: next } = await published()
  await restore(backup)
  await app.owner.query('delete from company_key where version = 2')
  const waiting = await deposit()
  await publishAll(app.deps, acme)
  expect((await published()).note).toBe(old.note)
  expect((await logs())[0]).toMatchObject({ origin: retired, state: 'behind' })
  await expect(resyncLog(asOwner, acme)).rejects.toThrow(`${successor} follows it`)

  // the name of the lost successor stays its own
  expect(await retireLog(asOwner, acme)).toMatchObject({ successor: `${retired}/3`, rebuilt: 1 })
  await publishAll(app.deps, acme)
  const { leaves } = await published()
  expect(JSON.parse(leaves[0] ?? '').previous).toMatchObject({ origin: retired, size: 2 })
  expect(JSON.parse(leaves[1] ?? '').id).toBe(waiting)
  expect(await app.deps.logFiles.readCheckpoint(logIdOf(successor))).toBe(next)
})

test('a retired log gets its files back from the database, but not over those it has signed elsewhere', async () => {
  await deposit()
  await publishAll(app.deps, acme)
  const backup = await takeBackup()
  await deposit()
  await publishAll(app.deps, acme)
  const { note, leaves } = await published()
  const id = await logId()
  const folder = join(app.folder, 'log')
  cpSync(folder, join(app.folder, 'signed'), { recursive: true })
  const { origin: old, successor } = await retireLog(asOwner, acme)
  rmSync(folder, { recursive: true })
  expect(await rewriteRetiredLog(asOwner, acme, old)).toMatchObject({ leaves: 3 })
  expect(await readPublished(app.deps.logFiles, old)).toMatchObject({ note, leaves })
  expect(await app.deps.logFiles.readSuccessor(id)).toBe(successor)
  await app.deps.logFiles.writeCheckpoint(id, 'torn', note)
  await rewriteRetiredLog(asOwner, acme, old)
  expect(await app.deps.logFiles.readCheckpoint(id)).toBe(note)
  expect(await findLogFault(app.deps, acme, await logRow(old))).toBeUndefined()

  await restore(backup)
  await retireLog(asOwner, acme)
  rmSync(folder, { recursive: true })
  cpSync(join(app.folder, 'signed'), folder, { recursive: true })
  await expect(rewriteRetiredLog(asOwner, acme, old)).rejects.toThrow('Restore the folder')
  expect(await app.deps.logFiles.readCheckpoint(id)).toBe(note)
})

test('a log whose files cannot be written says so once, and goes on when they can', async () => {
  await using _jobs = runJobs([publishLogsJob(app.deps)], app.deps.log)
  await deposit()
  const size = async () => (await published()).checkpoint.size
  await expect.poll(size, { timeout: 20_000 }).toBe(2n)
  const folder = join(app.folder, 'log', await logId(), 'entries/000/000')
  const bundle = join(folder, '000.gz')
  rmSync(bundle)
  mkdirSync(bundle)
  const fault = async () => (await logs())[0]?.fault
  for (let at = 0; at < 3; at++) {
    await deposit()
    await expect.poll(fault, { timeout: 20_000 }).toMatch(/^it cannot be signed: EISDIR: [a-z ]+$/)
    await app.owner.query('update log_state set fault = null')
  }
  const lines = () => app.logged.filter(({ text }) => text.includes('the log can'))
  expect(lines()).toHaveLength(1)
  // no draft of a file stays
  expect(readdirSync(folder)).toEqual(['000.gz'])
  rmdirSync(bundle)
  await expect.poll(size, { timeout: 20_000 }).toBe(5n)
  await expect.poll(fault).toBeNull()
  expect(lines().map(({ level }) => level)).toEqual(['error', 'info'])
})

test('files that were damaged are found by the monitor, and written again by resync', async () => {
  await appendLeaves(app.owner, acme, 600)
  await publishAll(app.deps, acme)
  const folder = join(app.folder, 'log', await logId())
  const damage = ['tile/0/000/000/001', 'tile/1/000/000/000', 'entries/000/000/000.gz']
  for (const path of damage) {
    const whole = await monitorAgain()
    expect(whole).toBeNull()
    writeFileSync(join(folder, path), randomBytes(100))
    expect(await monitorAgain()).toMatch(/missing or damaged/)
    expect(await resyncLog(asOwner, acme)).toEqual({ done: 'files written', leaves: 601 })
  }
  expect(await monitorAgain()).toBeNull()
  // a leaf of the database that is not the published one
  await app.owner.query(
    `update log_leaf set hash = sha256(hash) where company_id = $1 and idx = 300`,
    [acme]
  )
  expect(await monitorAgain()).toBe('entries 1 are not those of the database')
})

test('old checkpoints go, and the first and the newest stay', async () => {
  for (let at = 0; at < 3; at++) {
    await deposit()
    await publishAll(app.deps, acme)
  }
  await deleteOldCheckpoints(app.deps, acme)
  expect(await checkpointSizes()).toEqual([1, 2, 3, 4])
  app.wait(91 * 86_400)
  await deleteOldCheckpoints(app.deps, acme)
  expect(await checkpointSizes()).toEqual([1, 4])
})

test('a log is signed at the end of a period, not when a record is made', async () => {
  const settings = { ...app.deps.settings, logBatchMs: 3_600_000 }
  const job = publishLogsJob({ ...app.deps, settings })
  const end = job.wake?.(() => undefined)
  const runAgain = () => job.run(() => false, true)
  try {
    await runAgain()
    expect((await published()).checkpoint.size).toBe(1n)
    await deposit()
    await runAgain()
    await runAgain()
    expect((await published()).checkpoint.size).toBe(1n)
  } finally {
    end?.()
  }
  await using _jobs = runJobs([publishLogsJob(app.deps)], app.deps.log)
  await expect.poll(async () => (await published()).checkpoint.size, { timeout: 20_000 }).toBe(2n)
  await deposit()
  await expect.poll(async () => (await published()).checkpoint.size, { timeout: 20_000 }).toBe(3n)
})

test('nothing plain is in the published files', async () => {
  const name = `marked-${randomBytes(9).toString('hex')}.pdf`
  const bytes = randomBytes(300)
  await app.deposit(ada, bytes, name)
  await publishAll(app.deps, acme)
  const { leaves, note } = await published()
  const hex = sha256(bytes).toString('hex')
  const marks = [
    name,
    hex,
    Buffer.from(hex, 'hex').toString('base64url'),
    ada.id,
    'application/pdf'
  ]
  for (const mark of marks) expect(leaves.join('\n') + note).not.toContain(mark)
  expect(new Set(leaves.slice(1).map(leaf => leaf.length))).toEqual(new Set([718]))
})

async function deposit(): Promise<string> {
  const { deposit_id } = await app.deposit(ada, randomBytes(100))
  return deposit_id ?? ''
}

async function logRow(origin: string) {
  const { rows } = await app.owner.query(
    'select log_no, origin, key_version, published_size::int from log_state where origin = $1',
    [origin]
  )
  return rows[0]
}

async function depositOf(id: string): Promise<{ request_id: string }> {
  const { rows } = await app.owner.query('select request_id from deposit where id = $1', [id])
  return rows[0]
}

async function monitorAgain(): Promise<string | null> {
  await app.owner.query('update log_state set monitored_at = null where company_id = $1', [acme])
  await monitorNextLog(app.deps, acme)
  return (await logs())[0]?.fault ?? null
}

const logTables = ['log_head', 'log_leaf', 'log_state', 'log_checkpoint']

/** Of the tables of logs and of the published files. */
async function takeBackup(): Promise<Map<string, string>> {
  cpSync(join(app.folder, 'log'), join(app.folder, 'backup-log'), { recursive: true })
  const tables = await Promise.all(
    logTables.map(async table => {
      const { rows } = await app.owner.query(`select to_jsonb(t)::text as row from ${table} t`)
      return [table, `[${rows.map(({ row }) => row).join(',')}]`] as const
    })
  )
  return new Map(tables)
}

async function restore(backup: Map<string, string>): Promise<void> {
  for (const [table, rows] of backup) {
    await app.owner.query(`delete from ${table}`)
    await app.owner.query(
      `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
      [rows]
    )
  }
  // the history is not what this is about
  await app.owner.query(
    `update log_head h set event_seq = coalesce(
       (select max(seq) from event e where e.company_id = h.company_id), 0)`
  )
}

async function checkpointSizes(): Promise<number[]> {
  const { rows } = await app.owner.query(
    'select size::int from log_checkpoint where company_id = $1 order by size',
    [acme]
  )
  return rows.map(({ size }) => size)
}

async function origin(): Promise<string> {
  return (await logs()).at(-1)?.origin ?? ''
}

async function logId(): Promise<string> {
  return logIdOf(await origin())
}

async function published() {
  return readPublished(app.deps.logFiles, await origin())
}

function logs() {
  return listLogsOf(app.deps, acme)
}
