import { execFile } from 'node:child_process'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import http from 'node:http'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getDeposit, putDeposit } from '../../../src/contract/deposits.ts'
import { listRequests, ProcessedRequest } from '../../../src/contract/requests.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import {
  abandonDirectUpload,
  beginDirectUpload
} from '../../../src/server/domain/deposits/direct-uploads.ts'
import type { Upload } from '../../../src/server/domain/deposits/uploads.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { runCount } from '../../helpers/soak.ts'

let app: TestApp
let ada: TestPerson
let port: number
beforeAll(async () => {
  app = await makeApp({ limits: { max_storage: 20_000_000 } })
  ada = await app.signUp()
  port = await app.listen()
})
afterAll(() => app[Symbol.asyncDispose]())

const run = promisify(execFile)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/**
 * Deposits bytes with `curl -T`, as an integrator would. Returns the status and the body of the
 * response.
 */
async function curl(bytes: Uint8Array, query: string, ...more: string[]) {
  const path = join(app.folder, `${randomUUID()}.bin`)
  await writeFile(path, bytes)
  const host = `api.${ada.host}`
  const { stdout } = await run('curl', [
    '--silent',
    '--show-error',
    '--noproxy',
    '*',
    ...['--resolve', `${host}:${port}:127.0.0.1`],
    ...['--header', `Authorization: Bearer ${ada.token}`],
    ...['--write-out', '\n%{http_code}'],
    ...more,
    ...['-T', path],
    `http://${host}:${port}${putDeposit.path}?${query}`
  ])
  const [body = '', status = ''] = stdout.split(/\n(?=\d{3}$)/)
  return { status: Number(status), body: JSON.parse(body) }
}

const query = (more: Record<string, string> = {}) =>
  String(new URLSearchParams({ name: 'été.pdf', category: ada.category, ...more }))

test('whoever sends a file in another way is told where it belongs', async () => {
  const path = join(app.folder, 'form.pdf')
  await writeFile(path, 'x')
  const host = `api.${ada.host}`
  const ask = async (address: string, ...how: string[]) => {
    const { stdout } = await run('curl', [
      ...['--silent', '--noproxy', '*', '--resolve', `${host}:${port}:127.0.0.1`],
      ...['--header', `Authorization: Bearer ${ada.token}`],
      ...how,
      `http://${host}:${port}${address}`
    ])
    return JSON.parse(stdout)
  }
  const advice = expect.stringContaining('PUT /deposit?name=…')
  expect(await ask('/deposit', '-F', `file=@${path}`)).toMatchObject({
    code: 'unsupported_media_type',
    detail: advice
  })
  // curl adds the name of the file
  expect(await ask('/deposit/', '-T', path)).toMatchObject({
    code: 'method_not_allowed',
    detail: advice
  })
  expect(await ask('/deposit/', '-F', `file=@${path}`)).toMatchObject({
    code: 'not_found',
    detail: advice
  })
})

/** Returns the paths of the staged files, whose uploads have not become deposits. */
async function staged(): Promise<string[]> {
  const folder = join(app.folder, 'documents', 'staging')
  return readdir(folder, { recursive: true }).then(
    names => names.filter(name => name.includes('/')),
    () => []
  )
}

async function reserved(): Promise<number> {
  const { rows } = await app.owner.query('select coalesce(sum(reserved), 0)::int as sum from usage')
  return rows[0].sum
}

/** Returns the errors in the service's log, except those in its first `since` lines. */
function errors(since: number): string[] {
  const lines = app.logged.slice(since)
  return lines.filter(({ level }) => level === 'error').map(({ text }) => text)
}

test.each([
  ['small', 700],
  ['over a megabyte, for which curl asks first', 3_000_000]
])(
  'records a %s file that curl -T sends, with the fingerprint of its bytes',
  async (_size, length) => {
    const bytes = randomBytes(length)
    const { status, body } = await curl(bytes, query({ media_type: 'application/pdf' }))
    expect(status).toBe(201)
    const request = ProcessedRequest.parse(body)
    expect(request).toMatchObject({ state: 'done', name: 'été.pdf', size: length })
    expect(body).toMatchObject({ sha256: sha256(bytes) })
    const deposit = await ada.call(getDeposit, { id: request.deposit_id ?? '' })
    expect(deposit).toMatchObject({
      original: sha256(bytes),
      stored: sha256(bytes),
      media_type: 'application/pdf'
    })
    const { items } = await app.call(ada.host, verify, { items: [{ sha256: sha256(bytes) }] })
    expect(items[0]).toMatchObject({ verdict: 'authentic' })
    expect(await staged()).toEqual([])
    expect(await reserved()).toBe(0)
  }
)

test('needs no category where the caller has one', async () => {
  const { status, body } = await curl(randomBytes(10), 'name=report.pdf')
  expect([status, body.category_id]).toEqual([201, ada.category])
})

test('takes bytes of no known type without a word about it', async () => {
  const { body } = await curl(randomBytes(10), query({ name: 'a.unheard' }))
  expect(body).toMatchObject({ state: 'done', media_type: 'application/octet-stream' })
})

test.each([
  [{}, [], 'application/pdf'],
  [{}, ['--header', 'Content-Type: text/html; charset=utf-8'], 'text/html'],
  [{}, ['--header', 'Content-Type: application/x-www-form-urlencoded'], 'application/pdf'],
  [{ media_type: 'image/png' }, ['--header', 'Content-Type: text/html'], 'image/png'],
  [{ media_type: 'application/octet-stream' }, [], 'application/pdf']
])('reads the type of %j with %j as %s', async (more, headers, media_type) => {
  const { body } = await curl(randomBytes(10), query(more), ...headers)
  expect(body).toMatchObject({ state: 'done', media_type })
})

test('takes a name with a question mark in it, encoded or not', async () => {
  const { body } = await curl(randomBytes(10), `category=${ada.category}&name=why?.pdf`)
  expect(body).toMatchObject({ name: 'why?.pdf' })
})

test('refuses before the bytes are sent what has no place for them', async () => {
  const before = await ada.call(getOwnAccount, {})
  const { status, body } = await curl(randomBytes(21_000_000), query(), '--expect100-timeout', '30')
  expect([status, body.code]).toEqual([413, 'storage_limit_reached'])
  expect((await ada.call(getOwnAccount, {})).usage_remaining).toEqual(before.usage_remaining)
})

test('needs to know the length', async () => {
  const { status, body } = await curl(
    randomBytes(10),
    query(),
    '--header',
    'Transfer-Encoding: chunked'
  )
  expect([status, body.code]).toEqual([411, 'length_required'])
})

test.each([
  ['a missing name', () => `category=${ada.category}`, 400, 'invalid_input'],
  ['an unknown field', () => query({ colour: 'red' }), 400, 'invalid_input'],
  ['a field twice', () => `${query()}&name=b`, 400, 'invalid_input'],
  ['an unknown category', () => query({ category: randomUUID() }), 422, 'category_unknown']
])('refuses %s', async (_title, text, status, code) => {
  const answer = await curl(randomBytes(10), text())
  expect([answer.status, answer.body.code]).toEqual([status, code])
})

test('deposits once for one key, and refuses the key for other bytes of the same length', async () => {
  const bytes = randomBytes(5000)
  const key = ['--header', `Idempotency-Key: ${randomUUID()}`]
  const first = await curl(bytes, query(), ...key)
  expect(first.status).toBe(201)
  const again = await curl(bytes, query(), ...key)
  expect(again).toEqual(first)
  for (const other of [randomBytes(5000), randomBytes(5001)]) {
    const refused = await curl(other, query(), ...key)
    expect([refused.status, refused.body.code]).toEqual([422, 'idempotency_key_reused'])
  }
})

/**
 * Begins a `PUT /deposit`: sends the headers and `bytes`, which are only part of the body. Returns
 * the open connection.
 */
async function begin(key: string, length: number, bytes: Uint8Array) {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `PUT ${putDeposit.path}?${query()} HTTP/1.1\r\nhost: api.${ada.host}\r\n` +
      `authorization: Bearer ${ada.token}\r\nidempotency-key: ${key}\r\n` +
      `content-length: ${length}\r\n\r\n`
  )
  socket.write(bytes)
  for (let tries = 0; (await staged()).length === 0 && tries < 3000; tries++) await sleep(10)
  return socket
}

test('keeps nothing of a connection that breaks, gives the place back and frees the key', async () => {
  const bytes = randomBytes(200_000)
  const key = randomUUID()
  const before = app.logged.length
  const socket = await begin(key, bytes.length, bytes.subarray(0, 50_000))
  expect(await reserved()).toBeGreaterThan(0)
  const running = await curl(bytes, query(), '--header', `Idempotency-Key: ${key}`)
  expect([running.status, running.body.code]).toEqual([409, 'idempotency_in_flight'])
  socket.destroy()
  for (let tries = 0; (await reserved()) > 0 && tries < 3000; tries++) await sleep(10)
  expect(await reserved()).toBe(0)
  // the file goes after the commit
  for (let tries = 0; (await staged()).length > 0 && tries < 3000; tries++) await sleep(10)
  expect(await staged()).toEqual([])
  const [newest] = await ada.call(listRequests, { limit: 1 })
  expect(newest).toMatchObject({ state: 'cancelled' })
  expect(errors(before)).toEqual([]) // it is the caller's own connection
  const retried = await curl(bytes, query(), '--header', `Idempotency-Key: ${key}`)
  expect(retried.status).toBe(201)
})

test('leaves the key to the call that has taken it over', async () => {
  const { discardStaged } = app.deps.blobs
  const file = {
    company_id: ada.company,
    user_id: ada.id,
    actor: ada.id,
    key: randomUUID(),
    name: 'a.pdf',
    category: ada.category,
    media_type: 'application/pdf',
    size: 1000
  }
  const begun = async () => {
    const upload = await beginDirectUpload(app.deps, file)
    if (upload.kind !== 'new') throw new Error(`the call is ${upload.kind}`)
    return upload.upload
  }
  const first = await begun()
  let second: Upload | undefined
  // by then the first one is cancelled, and has not come to its end
  app.deps.blobs.discardStaged = async () => {
    second = await begun()
  }
  await abandonDirectUpload(app.deps, file, first, 'cancelled')
  app.deps.blobs.discardStaged = discardStaged
  expect(second).toBeDefined()
  await expect(begun()).rejects.toMatchObject({ code: 'idempotency_in_flight' })
  if (second) await abandonDirectUpload(app.deps, file, second, 'cancelled')
  expect(await reserved()).toBe(0)
})

test.each([
  ['a full disk', { stagingFile: () => '/dev/full' }],
  [
    'a folder that is not flushed',
    {
      prepareStaging: async () => {
        throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' })
      }
    }
  ]
])('says that the failure is ours at %s, and keeps and charges nothing', async (_what, fault) => {
  const sound = { ...app.deps.blobs }
  Object.assign(app.deps.blobs, fault)
  const failures = app.logged.length
  const key = ['--header', `Idempotency-Key: ${randomUUID()}`]
  const bytes = randomBytes(100_000)
  const failed = await curl(bytes, query(), ...key)
  Object.assign(app.deps.blobs, sound)
  expect([failed.status, failed.body.code]).toEqual([500, 'internal'])
  expect(errors(failures)).toEqual(['upload failed'])
  expect(await reserved()).toBe(0)
  const [newest] = await ada.call(listRequests, { limit: 1 })
  expect(newest).toMatchObject({ state: 'failed', code: 'not_stored' })
  expect((await curl(bytes, query(), ...key)).status).toBe(201)
})

test('takes the key over from a call whose server died', async () => {
  const bytes = randomBytes(2000)
  const key = randomUUID()
  const first = await curl(bytes, query(), '--header', `Idempotency-Key: ${key}`)
  // as the kill left it: a place is held, bytes may lie about, and nobody is there
  await app.owner.query(`update upload set state = 'uploading' where request_id = $1`, [
    first.body.id
  ])
  await app.owner.query(`update request set state = 'uploading' where id = $1`, [first.body.id])
  await app.owner.query('update usage set reserved = case kind when $1 then 1 else 2000 end', [
    'requests'
  ])
  const early = await curl(bytes, query(), '--header', `Idempotency-Key: ${key}`)
  expect(early.body.code).toBe('idempotency_in_flight')
  app.wait(61)
  const later = await curl(bytes, query(), '--header', `Idempotency-Key: ${key}`)
  expect(later.status).toBe(201)
  expect(later.body.id).not.toBe(first.body.id)
  expect(await reserved()).toBe(0)
})

test('gives back what many broken calls had reserved', async () => {
  // two calls each, because the bytes of no more than three may move
  const people = await Promise.all(Array.from({ length: runCount(3, 50) }, () => app.signUp()))
  for (let round = 0; round < runCount(2, 10); round++) {
    await Promise.all(
      [...people, ...people].map(async (person, index) => {
        const outgoing = http.request({
          host: '127.0.0.1',
          port,
          method: 'PUT',
          path: `${putDeposit.path}?${query()}`,
          headers: {
            host: `api.${ada.host}`,
            authorization: `Bearer ${person.token}`,
            'content-length': '1000'
          }
        })
        const closed = new Promise(resolve => outgoing.on('close', resolve))
        outgoing.on('error', () => undefined)
        outgoing.write(randomBytes(Math.floor((index / people.length) * 250)))
        await sleep((index / people.length) * 50)
        outgoing.destroy()
        await closed
      })
    )
  }
  await expect.poll(reserved).toBe(0)
  // a file is deleted only after its reservation has been given back
  await expect.poll(staged).toEqual([])
})
