import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCheckpoint } from '../../../src/core/evidence/checkpoints.ts'
import { parseLogPolicy } from '../../../src/core/evidence/log-policy.ts'
import { findSigners } from '../../../src/core/evidence/signed-notes.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import {
  bodyOf,
  depositLeaf,
  makeKey,
  noteOf,
  policyLeaf,
  rootOf,
  sha256,
  type TestLog
} from '../../helpers/evidence/evidence-log.ts'
import { publishAll } from '../../helpers/evidence/published-log.ts'
import { entriesOf, writeTestLog } from '../../helpers/evidence/written-log.ts'

const name = 'Marked plan of the orchard.pdf'
const bytes = Buffer.from('the marked bytes of a deposit')

let app: TestApp
let ada: TestPerson
let acme: TestLog
let beta: TestLog
beforeAll(async () => {
  app = await makeApp({ maxLogSendingBytes: 8_000_000 })
  ada = await app.signUp()
  await app.deposit(ada, bytes, name)
  acme = await logOf('acme.localhost', 700)
  beta = await logOf('beta.localhost', 3)
  await writeTestLog(app.deps.logFiles, acme, 600)
  await writeTestLog(app.deps.logFiles, beta)
})
afterAll(() => app[Symbol.asyncDispose]())

/** The log of a company with the leaves of its deposits, and others up to `size`. */
async function logOf(host: 'acme.localhost' | 'beta.localhost', size: number): Promise<TestLog> {
  const company = [app.companies[host]]
  const heads = await app.owner.query('select origin from log_head where company_id = $1', company)
  const { origin } = heads.rows[0]
  const { rows } = await app.owner.query(
    'select leaf from log_leaf where company_id = $1 and idx > 0 order by idx',
    company
  )
  const key = makeKey(origin, 1)
  const real = [policyLeaf(origin, key), ...rows.map(({ leaf }) => leaf)]
  const more = Array.from({ length: size - real.length }, (_, i) =>
    depositLeaf({ name: `${i}.txt` }, origin)
  )
  return { origin, key, leaves: [...real, ...more] }
}

const idOf = ({ origin }: TestLog) => sha256(origin).toString('hex')
const get = (path: string, host = 'acme.localhost', method = 'GET') =>
  app.request(host, { path, method })
const filesOf = (log: TestLog) => `/logs/${idOf(log)}`
const hashes = (from: number, to: number) =>
  acme.leaves.slice(from, to).map(leaf => sha256('\0', leaf))

const forEver = 'public, max-age=31536000, immutable'
const text = 'text/plain; charset=utf-8'
const binary = 'application/octet-stream'

test('answers with each published file, as C2SP tlog-tiles names them', async () => {
  const checkpoint = noteOf(bodyOf(acme, 600), [acme.key])
  const policy = `log ${acme.key.vkey}\nquorum none\n`
  const entries = (from: number, to: number) => entriesOf(acme.leaves.slice(from, to))
  const files: [path: string, body: string | Buffer, type: string, cache: string][] = [
    ['checkpoint', checkpoint, text, 'no-cache'],
    ['policy', policy, text, 'public, max-age=60'],
    ['tile/0/000', Buffer.concat(hashes(0, 256)), binary, forEver],
    ['tile/0/001', Buffer.concat(hashes(256, 512)), binary, forEver],
    ['tile/0/002.p/88', Buffer.concat(hashes(512, 600)), binary, forEver],
    ['tile/0/002.p/1', Buffer.concat(hashes(512, 513)), binary, forEver],
    ['tile/0/000.p/255', Buffer.concat(hashes(0, 255)), binary, forEver],
    ['tile/1/000.p/1', rootOf(hashes(0, 256)), binary, forEver],
    [
      'tile/1/000.p/2',
      Buffer.concat([rootOf(hashes(0, 256)), rootOf(hashes(256, 512))]),
      binary,
      forEver
    ],
    ['tile/entries/000', entries(0, 256), binary, forEver],
    ['tile/entries/001', entries(256, 512), binary, forEver],
    ['tile/entries/002.p/88', entries(512, 600), binary, forEver],
    ['tile/entries/000.p/1', entries(0, 1), binary, forEver]
  ]
  for (const [path, body, type, cache] of files) {
    const answer = await get(`${filesOf(acme)}/${path}`)
    expect([path, answer.status, answer.body.toString('hex')]).toEqual([
      path,
      200,
      Buffer.from(body).toString('hex')
    ])
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'cache-control': cache,
      'content-length': String(Buffer.byteLength(body)),
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin'
    })
    const head = await get(`${filesOf(acme)}/${path}`, 'acme.localhost', 'HEAD')
    expect([path, head.status, head.body.length]).toEqual([path, 200, 0])
    expect({ ...head.headers, date: '' }).toEqual({ ...answer.headers, date: '' })
    // the alias may be that of another log tomorrow
    const alias = await get(`/log/${path}`)
    expect([path, alias.status, alias.body.equals(answer.body)]).toEqual([path, 200, true])
    expect(alias.headers['cache-control']).toBe(cache === forEver ? 'no-cache' : cache)
  }
})

test('answers with nothing that the checkpoint does not cover, although the files have it', async () => {
  const beyond = [
    'tile/0/002',
    'tile/0/002.p/89',
    'tile/0/002.p/188',
    'tile/0/003.p/1',
    'tile/1/000',
    'tile/1/000.p/3',
    'tile/1/001.p/1',
    'tile/2/000.p/1',
    'tile/63/000.p/1',
    'tile/entries/002',
    'tile/entries/002.p/89',
    'tile/entries/003.p/1',
    'tile/0/x999/x999/x999/x999/999',
    'tile/entries/x009/x007/x199/x254/x740/991'
  ]
  for (const path of beyond) expect(await get(`${filesOf(acme)}/${path}`)).toMatchObject(notFound)
})

const notFound = {
  status: 404,
  headers: {
    'content-type': text,
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff'
  },
  body: Buffer.from('not_found: The log has not published such a file\n')
}

test('finds a file by one path only', async () => {
  const base = filesOf(acme)
  const garbage = [
    '/log/',
    '/logs/',
    '/log/x',
    `${base}/`,
    base.replace('/logs', '/log'),
    `${base}/checkpoint?`,
    `${base}/checkpoint?a=b`,
    `${base}/checkpoint/`,
    `${base}//checkpoint`,
    `${base}/./checkpoint`,
    `${base}/../${idOf(acme)}/checkpoint`,
    `${base}/%63heckpoint`,
    `${base}/checkpoint%00`,
    `${base}/checkpoint.gz`,
    `${base}/Checkpoint`,
    `${base.toUpperCase().replace('/LOGS', '/logs')}/checkpoint`,
    `/logs/${idOf(acme).slice(1)}/checkpoint`,
    `/logs/${idOf(acme)}0/checkpoint`,
    `/logs/${'0'.repeat(64)}/checkpoint`,
    '/logs/../checkpoint',
    '/logs/..%2f..%2fkeys/checkpoint',
    `/logs/${'%c3%a9'.repeat(32)}/checkpoint`,
    `${base}/tile/0/0`,
    `${base}/tile/0/0000`,
    `${base}/tile/0/x000/000`,
    `${base}/tile/00/000`,
    `${base}/tile/-1/000`,
    `${base}/tile/64/000`,
    `${base}/tile/0/000.p/0`,
    `${base}/tile/0/000.p/256`,
    `${base}/tile/0/000.p/01`,
    `${base}/tile/0/000.p/1e1`,
    `${base}/tile/0/000.p/`,
    `${base}/tile/0/000.p`,
    `${base}/tile/0/../../checkpoint`,
    `${base}/tile/entries/000.gz`,
    `${base}/tile/0/${'x999/'.repeat(2000)}999`,
    `${base}/entries/000/000/000.gz`
  ]
  for (const path of garbage) {
    const answer = await get(path)
    expect([path, answer]).toEqual([path, expect.objectContaining({ status: 404 })])
    expect(answer).toMatchObject(notFound)
  }
})

test('a log is read at every host of ours, and at no other', async () => {
  const here = await get(`${filesOf(beta)}/checkpoint`, 'acme.localhost')
  const there = await get('/log/checkpoint', 'beta.localhost')
  expect(here.body.toString()).toBe(noteOf(bodyOf(beta, 3), [beta.key]))
  expect(there.body.equals(here.body)).toBe(true)
  for (const path of [`${filesOf(beta)}/checkpoint`, '/log/checkpoint']) {
    expect((await get(path, 'nobody.localhost')).status).toBe(421)
  }
  // it has calls of its own
  expect((await get('/log/checkpoint', 'api.acme.localhost')).status).toBe(404)
})

test('a log has files once it is published, and its policy has the key that signs them', async () => {
  const company = await app.addCompany('Gamma', 'gamma.localhost')
  for (const path of ['checkpoint', 'policy', 'tile/0/000.p/1']) {
    expect(await get(`/log/${path}`, 'gamma.localhost')).toMatchObject(notFound)
  }
  await publishAll(app.deps, company)
  const [checkpoint, policy] = await Promise.all(
    ['checkpoint', 'policy'].map(async path =>
      (await get(`/log/${path}`, 'gamma.localhost')).body.toString()
    )
  )
  const { logs } = parseLogPolicy(policy ?? '')
  const { origin, size, note } = parseCheckpoint(checkpoint ?? '')
  expect([origin, size, logs.length]).toEqual(['gamma.localhost/log', 1n, 1])
  expect(findSigners(note, logs)).toEqual(logs)
})

test('the log of a suspended company stays readable', async () => {
  const company = [app.companies['beta.localhost']]
  const suspend = `update company set disabled = $2 where id = $1`
  const mark = { reason: 'payment', since: new Date().toISOString() }
  await app.owner.query(suspend, [...company, JSON.stringify(mark)])
  app.deps.signals.companies.send(app.companies['beta.localhost'])
  expect((await app.tenants.resolve('beta.localhost'))?.disabled).toBeTruthy()
  expect((await get('/log/checkpoint', 'beta.localhost')).status).toBe(200)
  expect((await get(`${filesOf(beta)}/tile/entries/000.p/3`, 'beta.localhost')).status).toBe(200)
  await app.owner.query(suspend, [...company, null])
  app.deps.signals.companies.send(app.companies['beta.localhost'])
})

test('a host that moved shows its new owner’s log, and its old one by its name', async () => {
  await app.addCompany('Delta', 'delta.localhost')
  const move = (host: string) =>
    app.owner.query('update domain set company_id = $1 where host = $2', [
      app.companies['beta.localhost'],
      host
    ])
  const old = { ...acme, origin: 'delta.localhost/log', leaves: acme.leaves.slice(0, 2) }
  await writeTestLog(app.deps.logFiles, old)
  const before = await get('/log/checkpoint', 'delta.localhost')
  expect(before.body.toString()).toMatch(/^delta\.localhost\/log\n2\n/)
  await move('delta.localhost')
  app.deps.signals.domains.send('delta.localhost')
  const after = await get('/log/checkpoint', 'delta.localhost')
  expect(after.body.toString()).toMatch(/^beta\.localhost\/log\n3\n/)
  const named = await get(`${filesOf(old)}/checkpoint`, 'delta.localhost')
  expect(named.body.equals(before.body)).toBe(true)
})

test('pages of any origin may read, and nobody may write', async () => {
  for (const path of [`${filesOf(acme)}/checkpoint`, '/log/tile/0/000', '/log/nothing']) {
    const preflight = await app.request('acme.localhost', {
      method: 'OPTIONS',
      path,
      headers: {
        origin: 'https://reader.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'cache-control'
      }
    })
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        'access-control-allow-headers': '*'
      }
    })
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE']) {
      const answer = await get(path, 'acme.localhost', method)
      expect([method, answer.status]).toEqual([method, 405])
      expect(answer.headers).toMatchObject({
        allow: 'GET, HEAD, OPTIONS',
        'cache-control': 'no-store',
        'access-control-allow-origin': '*'
      })
    }
  }
})

test('no answer has a name, a size, a time or a fingerprint of a document', async () => {
  const paths = ['checkpoint', 'policy', 'tile/0/000', 'tile/entries/000', 'nothing']
  const answers = await Promise.all(paths.map(path => get(`${filesOf(acme)}/${path}`)))
  const all = Buffer.concat(answers.map(({ body }) => body)).toString('latin1')
  const { rows } = await app.owner.query('select id, recorded_at from deposit')
  const [deposit] = rows
  expect(all).toContain(deposit.id)
  const digest = sha256(bytes)
  const plain = [
    name,
    'Marked',
    'application/pdf',
    'Lovelace',
    ada.id,
    ada.category,
    ada.company,
    digest.toString('hex'),
    digest.toString('base64'),
    digest.toString('base64url'),
    digest.toString('latin1'),
    deposit.recorded_at.toISOString().slice(0, 10),
    `"${bytes.length}"`
  ]
  for (const each of plain) expect([each, all.includes(each)]).toEqual([each, false])
})

test('a file that is missing is not said to be unpublished', async () => {
  const lost = { ...acme, origin: 'lost.localhost/log', leaves: acme.leaves.slice(0, 300) }
  await app.deps.logFiles.writeCheckpoint(
    idOf(lost),
    noteOf(bodyOf(lost, 300), [lost.key]),
    undefined
  )
  await app.deps.logFiles.writeTile(idOf(lost), { level: 0, index: 0 }, Buffer.alloc(32 * 255))
  for (const path of ['policy', 'tile/0/000', 'tile/0/001.p/44', 'tile/entries/000']) {
    const answer = await get(`${filesOf(lost)}/${path}`)
    expect([path, answer.status, answer.headers['cache-control']]).toEqual([path, 503, 'no-store'])
  }
})

test('readers that take nothing are given up when bodies take up much memory', async () => {
  const leaf = JSON.stringify({ type: 'long', v: 2, x: 'x'.repeat(60_000) })
  const leaves = [acme.leaves[0] ?? '', ...Array.from({ length: 99 }, () => leaf)]
  const long = { ...acme, origin: 'long.localhost/log', leaves }
  await writeTestLog(app.deps.logFiles, long)
  const path = `${filesOf(long)}/tile/entries/000.p/100`
  const { length } = entriesOf(leaves)
  const first = await readSlowly(path)
  // more than half of what may be on its way
  const second = await readSlowly(path)
  expect(await first.readOn()).toBeLessThan(length)
  expect(await second.readOn()).toBeGreaterThan(length)
  expect((await get(path)).body.length).toBe(length)
})

/** Begins to read an answer, and then takes nothing until `readOn` reads the rest of its bytes. */
async function readSlowly(path: string) {
  const socket = connect(await app.listen(), '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nhost: acme.localhost\r\nconnection: close\r\n\r\n`)
  const [begun] = await once(socket, 'data')
  socket.pause()
  return {
    async readOn(): Promise<number> {
      let read = begun.length
      socket.on('data', piece => {
        read += piece.length
      })
      const ended = new Promise(resolve => socket.once('close', resolve))
      socket.on('error', () => undefined).resume()
      await ended
      return read
    }
  }
}
