import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseVerifierKey, shortKeyOf } from '../../src/core/evidence/signed-notes.ts'
import { formatTilePath, type TileFile, tileWidth } from '../../src/core/evidence/tiles.ts'
import type { CompanyId } from '../../src/server/domain/deps.ts'
import { logIdOf } from '../../src/server/domain/evidence/logs.ts'
import { makeApp, type TestApp } from '../helpers/app.ts'
import {
  bodyOf,
  depositLeaf,
  exampleOrigin,
  makeKey,
  noteOf,
  policyLeaf,
  sha256,
  type TestKey
} from '../helpers/evidence/evidence-log.ts'
import {
  appendLeaves,
  publishAll,
  readPublished,
  rootOfLeaves
} from '../helpers/evidence/published-log.ts'
import { entriesOf } from '../helpers/evidence/written-log.ts'
import { isSoak } from '../helpers/soak.ts'

const program = join(import.meta.dirname, '../../docs/verify_receipt.py')
const sizes = [1, 255, 256, 257, 300, ...(isSoak ? [65_536, 70_000] : [])]

let app: TestApp
let local: CompanyId
/** Where the logs are served. */
let address: string
beforeAll(async () => {
  app = await makeApp()
  // a name that every machine resolves
  local = await app.addCompany('Local', 'localhost')
  address = `http://localhost:${await app.listen()}`
})
afterAll(() => app[Symbol.asyncDispose]())

test.each(sizes)('a log of %i leaves is intact', async size => {
  const log = await publishLog(await app.addCompany('Acme', `log-${size}.localhost`), size)
  const { leaves } = await readPublished(app.deps.logFiles, log.origin)
  const intact = {
    status: 0,
    stderr: '',
    verdict: 'intact',
    origin: log.origin,
    size: String(size),
    root: rootOfLeaves(leaves).toString('base64'),
    issuer: 'pinned',
    short_key: shortKeyOf(parseVerifierKey(log.key))
  }
  expect(await verify(log.address, '--key', log.key)).toEqual(intact)
  const unknown = { ...intact, status: 13, verdict: 'matches', issuer: 'unknown' }
  expect(await verify(log.address)).toEqual(unknown)
  for (const name of [log.origin, 'log.example/other'])
    expect(await verify(log.address, '--key', makeKey(name, 9).vkey)).toEqual(unknown)
})

test('the alias of an address leads to the log of its company', async () => {
  const { origin, key } = await publishLog(local, 3)
  const alias = await verify(`${address}/log/`, '--key', key)
  expect(alias).toMatchObject({ status: 0, origin, size: '3' })
})

test('who holds an older checkpoint finds its tree', async () => {
  const log = await publishLog(await app.addCompany('Acme', 'growing.localhost'), 1)
  const notes: [size: number, note: string][] = []
  for (const size of [1, 2, 200, 256, 300, 600]) {
    await growTo(log, size)
    notes.push([size, await checkpointOf(log)])
  }
  for (const [size, note] of notes) {
    const folder = await copyLog({ ...log, note }, size)
    const found = await verify(folder, '--key', log.key)
    expect(found).toMatchObject({ status: 0, size: String(size) })
  }
})

describe('a copy of the files', () => {
  let whole: string
  let id: string
  let key: string
  beforeAll(async () => {
    const log = await publishLog(await app.addCompany('Acme', 'copied.localhost'), 257)
    whole = await copyLog({ ...log, note: await checkpointOf(log) }, 257)
    id = logIdOf(log.origin)
    key = log.key
  })

  test('is intact, in a folder of any name but the id of another log', async () => {
    const named = join(app.folder, 'copies', id)
    await cp(whole, named, { recursive: true })
    for (const folder of [whole, `${whole}/`, named])
      expect(await verify(folder, '--key', key)).toMatchObject({ status: 0, size: '257' })
    const misnamed = join(app.folder, 'copies', logIdOf('another'))
    await cp(whole, misnamed, { recursive: true })
    expect(await verify(misnamed)).toMatchObject({ status: 51, reason: 'checkpoint_invalid' })
  })

  const flip = (at: number) => (bytes: Buffer) => {
    const flipped = Buffer.from(bytes)
    const place = (at + bytes.length) % bytes.length
    flipped.writeUInt8(flipped.readUInt8(place) ^ 1, place)
    return flipped
  }
  const shorter = (bytes: Buffer) => bytes.subarray(0, -1)
  const longer = (bytes: Buffer) => Buffer.concat([bytes, bytes.subarray(-32)])
  const text = (changed: (text: string) => string) => (bytes: Buffer) => changed(bytes.toString())
  const twice = (bytes: Buffer) => Buffer.concat([bytes, bytes])
  const exchanged = (bytes: Buffer) =>
    Buffer.concat([bytes.subarray(32, 64), bytes.subarray(0, 32), bytes.subarray(64)])
  const stranger = makeKey('log.example/other', 9).vkey
  const namesakeOf = (policy: string) => makeKey(/log (\S+?)\+/.exec(policy)?.[1] ?? '', 9).vkey

  test.each([
    ['a bit of a leaf', 'tile/entries/000', flip(9_000), 'entries_invalid'],
    ['a bit of the policy', 'tile/entries/000', flip(20), 'entries_invalid'],
    ['a bit of a length', 'tile/entries/000', flip(1), 'entries_invalid'],
    ['the last byte, gone', 'tile/entries/001.p/1', shorter, 'entries_invalid'],
    ['bytes behind the last leaf', 'tile/entries/001.p/1', longer, 'entries_invalid'],
    ['a leaf too many', 'tile/entries/001.p/1', twice, 'entries_invalid'],
    ['no leaf', 'tile/entries/001.p/1', () => '', 'entries_invalid'],
    ['a bit of a hash', 'tile/0/000', flip(4_000), 'tiles_invalid'],
    ['a bit of the last hash', 'tile/0/001.p/1', flip(31), 'tiles_invalid'],
    ['a bit of a hash above', 'tile/1/000.p/1', flip(0), 'tiles_invalid'],
    ['half of a hash', 'tile/0/001.p/1', shorter, 'tiles_invalid'],
    ['a hash too many', 'tile/0/001.p/1', longer, 'tiles_invalid'],
    ['two hashes exchanged', 'tile/0/000', exchanged, 'tiles_invalid'],
    ['a bit of the signature', 'checkpoint', flip(-20), 'signature_invalid'],
    ['another size', 'checkpoint', text(t => t.replace('\n257\n', '\n256\n')), 'signature_invalid'],
    ['another origin', 'checkpoint', text(t => `x${t}`), 'policy_invalid'],
    [
      'an origin that commands the terminal',
      'checkpoint',
      text(t => `\u009b2J${t}`),
      'checkpoint_invalid'
    ],
    [
      'a fourth line',
      'checkpoint',
      text(t => t.replace('\n\n', '\nmore\n\n')),
      'checkpoint_invalid'
    ],
    [
      'bytes that are no text',
      'checkpoint',
      bytes => Buffer.concat([Buffer.of(0xff), bytes]),
      'checkpoint_invalid'
    ],
    ['no key', 'policy', () => 'quorum none\n', 'policy_invalid'],
    ['a key of another name', 'policy', text(t => `log ${stranger}\n${t}`), 'policy_invalid'],
    ['a quorum', 'policy', text(t => t.replace('none', 'any')), 'policy_invalid'],
    [
      'another key',
      'policy',
      text(t => t.replace(/log \S+/, `log ${namesakeOf(t)}`)),
      'signature_invalid'
    ],
    ['a key more', 'policy', text(t => `log ${namesakeOf(t)}\n${t}`), 'entries_invalid']
  ])('with %s is refused', async (_, name, changed, reason) => {
    const folder = await changedCopy(whole, name, changed)
    const found = await verify(folder, '--key', key)
    expect(found).toMatchObject({ status: 51, verdict: 'log_invalid', reason })
  })

  test.each(['policy', 'tile/0/000', 'tile/0/001.p/1', 'tile/1/000.p/1', 'tile/entries/001.p/1'])(
    'without %s is not judged',
    async name => {
      const folder = await changedCopy(whole, name, () => undefined)
      const found = await verify(folder, '--key', key)
      expect(found).toMatchObject({ status: 60, verdict: 'indeterminate', reason: 'file_missing' })
    }
  )

  test('without its checkpoint is none', async () => {
    const folder = await changedCopy(whole, 'checkpoint', () => undefined)
    expect(await verify(folder)).toMatchObject({ status: 64 })
  })
})

describe('a log of somebody else', () => {
  const key = makeKey(exampleOrigin, 1)
  const next = makeKey(exampleOrigin, 2)
  const policy = policyLeaf(exampleOrigin, key)
  const nextPolicy = policyLeaf(exampleOrigin, next)
  const deposit = depositLeaf()

  test.each([
    ['a policy and a deposit', [policy, deposit], [key], [key], 0, undefined],
    [
      'leaves of unknown kinds',
      [policy, '{}', 'no JSON', '', '{"type":"policy","v":2}'],
      [key],
      [key],
      0,
      undefined
    ],
    [
      'the old and the new key',
      [policy, deposit, nextPolicy],
      [key, next],
      [key, next],
      0,
      undefined
    ],
    ['the new key alone', [policy, nextPolicy], [next], [next], 13, undefined],
    [
      'a trusted key that the log does not name',
      [nextPolicy, deposit],
      [key, next],
      [next],
      0,
      undefined
    ],
    ['a trusted key alone', [policy, nextPolicy], [key], [next], 51, 'signature_invalid'],
    ['no policy', [deposit, policy], [key], [key], 51, 'entries_invalid'],
    [
      'the policy of another log',
      [policyLeaf('a.example/log', makeKey('a.example/log', 1)), policy],
      [key],
      [key],
      51,
      'entries_invalid'
    ],
    [
      'a policy of a later version',
      ['{"type":"policy","v":2}', policy],
      [key],
      [key],
      51,
      'entries_invalid'
    ],
    ['a key without a leaf', [policy], [key, next], [key, next], 51, 'entries_invalid'],
    ['no leaves', [], [key], [key], 51, 'entries_invalid']
  ])('with %s', async (_, leaves, signers, named, status, reason) => {
    const folder = await writeLog(leaves, signers, named)
    const found = await verify(folder, '--key', key.vkey)
    expect([found.status, found.reason]).toEqual([status, reason])
  })
})

test.each([
  ['without a file or a log', []],
  ['with a file alone', ['a']],
  ['with a file and a log', ['a', '--log', 'b']],
  ['with three things', ['a', 'b', '--log', 'c']],
  ['with a wrong key', ['--log', 'b', '--key', 'x']],
  ['for a folder that is not there', ['--log', '/nowhere/at/all']],
  ['for an address that nobody serves', ['--log', 'http://localhost:9/log/']],
  ['for an address that is none', ['--log', 'http://[/log/']]
])('the program cannot be used %s', async (_, words) => {
  const found = await run(words)
  expect(found.status).toBe(64)
  expect(found.stderr).not.toContain('Traceback')
})

interface PublishedLog {
  company: CompanyId
  origin: string
  address: string
  /** The verifier key. */
  key: string
}

async function publishLog(company: CompanyId, size: number): Promise<PublishedLog> {
  const { rows } = await app.owner.query('select origin from log_head where company_id = $1', [
    company
  ])
  const { origin } = rows[0]
  await publishAll(app.deps, company)
  const { leaves } = await readPublished(app.deps.logFiles, origin)
  const key = JSON.parse(leaves[0] ?? '').log
  const log = { company, origin, address: `${address}/logs/${logIdOf(origin)}`, key }
  await growTo(log, size)
  return log
}

async function growTo({ company, origin }: Pick<PublishedLog, 'company' | 'origin'>, size: number) {
  const { checkpoint } = await readPublished(app.deps.logFiles, origin)
  await appendLeaves(app.owner, company, size - Number(checkpoint.size))
  await publishAll(app.deps, company)
}

/** Reads the files of a log at this size as a reader does, into a new folder. */
async function copyLog({ address, note }: { address: string; note: string }, size: number) {
  const folder = newFolder()
  for (const file of filesAt(size)) {
    const path = formatTilePath(file)
    await put(folder, path, await bytesAt(`${address}/${path}`))
  }
  await put(folder, 'policy', await bytesAt(`${address}/policy`))
  await put(folder, 'checkpoint', note)
  return folder
}

function filesAt(size: number): TileFile[] {
  const files: TileFile[] = []
  for (let [level, count] = [0, size]; count > 0; level++) {
    for (let index = 0; index * tileWidth < count; index++) {
      const width = Math.min(tileWidth, count - index * tileWidth)
      files.push({ kind: 'hashes', tile: { level, index }, width })
      if (level === 0) files.push({ kind: 'entries', index, width })
    }
    count = Math.floor(count / tileWidth)
  }
  return files
}

async function checkpointOf({ address }: PublishedLog): Promise<string> {
  return (await bytesAt(`${address}/checkpoint`)).toString()
}

async function bytesAt(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

/** Copies a folder with one file changed, or without it. */
async function changedCopy(
  folder: string,
  name: string,
  changed: (bytes: Buffer) => string | Buffer | undefined
): Promise<string> {
  const copy = newFolder()
  await cp(folder, copy, { recursive: true })
  const bytes = changed(await readFile(join(copy, name)))
  if (bytes === undefined) await rm(join(copy, name))
  else await writeFile(join(copy, name), bytes)
  return copy
}

/** Writes the files of a log with less than 256 leaves, by the definitions. */
async function writeLog(leaves: string[], signers: TestKey[], named: TestKey[]): Promise<string> {
  const folder = newFolder()
  const log = { origin: exampleOrigin, key: makeKey(exampleOrigin, 1), leaves }
  await put(folder, 'checkpoint', noteOf(bodyOf(log, leaves.length), signers))
  await put(folder, 'policy', `${named.map(({ vkey }) => `log ${vkey}\n`).join('')}quorum none\n`)
  const hashes = leaves.map(leaf => sha256('\0', leaf))
  await put(folder, `tile/0/000.p/${leaves.length}`, Buffer.concat(hashes))
  await put(folder, `tile/entries/000.p/${leaves.length}`, entriesOf(leaves))
  return folder
}

async function put(folder: string, path: string, bytes: string | Buffer): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true })
  await writeFile(join(folder, path), bytes)
}

let folders = 0
function newFolder(): string {
  return join(app.folder, 'copies', String(++folders))
}

interface Answer {
  status: number
  stderr: string
  [member: string]: unknown
}

function verify(log: string, ...options: string[]): Promise<Answer> {
  return run(['--log', log, '--json', ...options])
}

/** Runs the program while the server in this process answers. */
function run(words: string[]): Promise<Answer> {
  return new Promise(resolve => {
    execFile('python3', ['-B', program, ...words], (error, stdout, stderr) => {
      const status = error ? Number(error.code) : 0
      resolve({ status, stderr, ...JSON.parse(stdout || '{}') })
    })
  })
}
