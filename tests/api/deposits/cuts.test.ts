import { createHash, randomUUID } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { getRequest } from '../../../src/contract/requests.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { type Client, fetchAt, signUpAt } from '../../helpers/client.ts'
import { createRandom, type Random } from '../../helpers/random.ts'
import {
  type ConnectionCut,
  type FaultProxy,
  startFaultProxy
} from '../../helpers/servers/fault-proxy.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'

// C-06

const cutsWanted = runCount(6, 10_000)

let app: TestApp
let proxy: FaultProxy
let ada: Client
beforeAll(async () => {
  app = await makeApp()
  proxy = await startFaultProxy(await app.listen())
  ada = await signUpAt(await app.listen(), 'acme.localhost')
})
afterAll(async () => {
  await proxy[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

/** The step of a deposit in which the connection breaks. */
type Step = 'reserve' | 'transfer' | 'ask'

test(
  `makes exactly one document however the connection breaks (SEED=${seed})`,
  async () => {
    const random = createRandom(seed)
    const made: { id: string; sha256: string }[] = []
    while (proxy.cuts() < cutsWanted) {
      const bytes = random.bytes(random.pick([1, random.integer(2, 2000), 50_000, 200_000]))
      const step: Step = random.pick(['reserve', 'transfer', 'transfer', 'ask'])
      made.push(await deposit(bytes, step, cutIn(random, step, bytes.length)))
      proxy.forget()
    }
    for (const { id } of made) await done(id)

    const { rows: requests } = await app.owner.query('select id, state from request')
    expect(new Set(requests.map(row => row.id))).toEqual(new Set(made.map(each => each.id)))
    expect(requests.filter(row => row.state !== 'done')).toEqual([])
    const { rows: deposits } = await app.owner.query(
      'select request_id, company_id, blob_tag from deposit'
    )
    expect(deposits).toHaveLength(made.length)
    const sha256 = new Map(made.map(each => [each.id, each.sha256]))
    for (const { request_id, company_id, blob_tag } of deposits) {
      const kept = await app.deps.blobs.digestKept(company_id, blob_tag)
      expect(kept?.sha256.toString('hex')).toBe(sha256.get(request_id))
    }
    const { rows: usage } = await app.owner.query(
      'select kind, used::int, reserved::int from usage order by kind'
    )
    const { rows: stored } = await app.owner.query('select sum(size)::int as bytes from upload')
    expect(usage).toEqual([
      { kind: 'requests', used: made.length, reserved: 0 },
      { kind: 'storage', used: stored[0].bytes, reserved: 0 }
    ])
    expect(await stagedFiles()).toEqual([])
    expect(app.logged.filter(line => line.level === 'error')).toEqual([])
  },
  testTimeout(120_000)
)

test('goes on after a network that died silently, and ignores what it delivers later', async () => {
  const bytes = createRandom(seed).bytes(300_000)
  const { request, upload } = await ada.reserve(bytes, randomUUID())
  proxy.cutNext({ side: 'request', at: 100_000, how: 'silence' })
  await expect(
    ada.tus('PATCH', upload, { offset: 0, body: bytes, at: proxy.port })
  ).rejects.toThrow()
  const goOn = async () => {
    const head = await ada.tus('HEAD', upload)
    expect(head.status).toBe(200)
    const offset = Number(head.headers['upload-offset'])
    expect(offset).toBeLessThanOrEqual(100_000)
    return ada.tus('PATCH', upload, { offset, body: bytes.subarray(offset, 200_000) })
  }
  // a write that was under way may end after the HEAD: whoever is told of another offset asks again
  const first = await goOn()
  const { status } = first.status === 409 ? await goOn() : first
  expect(status).toBe(204)
  proxy.deliverLate()
  const rest = { offset: 200_000, body: bytes.subarray(200_000) }
  expect((await ada.tus('PATCH', upload, rest)).status).toBe(204)
  await done(request.id)
})

test('promises by a HEAD what it promises by the last PATCH', async () => {
  const bytes = createRandom(seed).bytes(100_000)
  const promise = async () => {
    const { request, upload } = await ada.reserve(bytes, randomUUID())
    const patch = ada.tus('PATCH', upload, { offset: 0, body: bytes })
    for (let offset = 0; offset < bytes.length; ) {
      const head = await ada.tus('HEAD', upload)
      expect(head.status).toBe(200)
      offset = Number(head.headers['upload-offset'])
    }
    const { state } = await ada.call(getRequest, { id: request.id })
    expect(['queued', 'processing', 'done']).toContain(state)
    await patch
    await done(request.id)
  }
  // as many at once as one person may have
  for (let round = 0; round < runCount(2, 300); round++)
    await Promise.all([promise(), promise(), promise()])
  expect(await stagedFiles()).toEqual([])
})

test('takes over an upload whose bytes are all there and whose last answer was lost', async () => {
  const bytes = createRandom(seed).bytes(10_000)
  const { request, upload } = await ada.reserve(bytes, randomUUID())
  const folder = join(app.deps.blobs.stagingDirectory, app.companies['acme.localhost'])
  await writeFile(join(folder, upload.slice('/uploads/'.length)), bytes)
  const head = await ada.tus('HEAD', upload)
  expect(head.headers['upload-offset']).toBe('10000')
  const { state } = await ada.call(getRequest, { id: request.id })
  expect(['queued', 'processing', 'done']).toContain(state)
  await done(request.id)
})

test('fails a document for good when the disk does not take it, and gives its quota back', async () => {
  const bytes = createRandom(seed).bytes(10_000)
  const { request, upload } = await ada.reserve(bytes, randomUUID())
  const { syncStaged } = app.deps.blobs
  app.deps.blobs.syncStaged = async () => {
    throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO', syscall: 'fsync' })
  }
  const answer = await ada.tus('PATCH', upload, { offset: 0, body: bytes })
  app.deps.blobs.syncStaged = syncStaged
  expect(answer.status).toBe(500)
  await done(request.id, 'failed')
  expect((await ada.tus('PATCH', upload, { offset: 0, body: bytes })).status).toBe(409)
  const { rows } = await app.owner.query('select sum(reserved)::int as reserved from usage')
  expect(rows[0].reserved).toBe(0)
})

test('never confirms the last byte of an upload that is cancelled meanwhile', async () => {
  const bytes = createRandom(seed).bytes(50_000)
  for (let tries = 0; tries < runCount(3, 1000); tries++) {
    const { request, upload } = await ada.reserve(bytes, randomUUID())
    const [patch, remove] = await Promise.all([
      ada.tus('PATCH', upload, { offset: 0, body: bytes }),
      ada.tus('DELETE', upload)
    ])
    const confirmed = patch.status === 204
    expect(confirmed).toBe(remove.status !== 204)
    await done(request.id, confirmed ? 'done' : 'cancelled')
  }
  expect(await stagedFiles()).toEqual([])
})

/**
 * Deposits one document through the proxy, and repeats each step until all bytes are acknowledged.
 * `cut` breaks the first connection of `step`.
 */
async function deposit(bytes: Buffer, step: Step, cut: ConnectionCut) {
  const key = randomUUID()
  const arm = (at: Step) => {
    if (at === step) proxy.cutNext(cut)
  }
  arm('reserve')
  const { request, upload } = await insist(() =>
    ada.reserve(bytes, key, { fetch: fetchAt(proxy.port) })
  )
  const half = bytes.subarray(0, Math.floor(bytes.length / 2))
  let offset = 0
  if (step === 'ask' && half.length > 0) {
    await ada.tus('PATCH', upload, { offset, body: half })
    arm('ask')
    offset = await insist(() => ask(upload))
  }
  arm('transfer')
  while (offset < bytes.length) {
    const sent = { offset, body: bytes.subarray(offset), at: proxy.port }
    const answer = await ada.tus('PATCH', upload, sent).catch(() => undefined)
    if (answer?.status === 204) break
    expect(answer?.status ?? 409).toBe(409) // no answer, or another offset than the server's
    offset = await insist(() => ask(upload))
  }
  return { id: request.id, sha256: createHash('sha256').update(bytes).digest('hex') }
}

async function ask(upload: string): Promise<number> {
  const head = await ada.tus('HEAD', upload, { at: proxy.port })
  expect(head.status).toBe(200)
  return Number(head.headers['upload-offset'])
}

/**
 * Repeats `work` immediately as long as the connection breaks. A pause would make it easier for the
 * server.
 */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      const isCut = error instanceof AppError ? error.code === 'offline' : isConnectionError(error)
      if (!isCut) throw error
    }
  }
}

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && /ECONNRESET|hang up|EPIPE|was cut|aborted/.test(String(error))
}

function cutIn(random: Random, step: Step, size: number): ConnectionCut {
  const side = random.pick(['request', 'response'] as const)
  const most = side === 'response' ? 700 : step === 'transfer' ? size + 450 : 900
  return { side, at: random.integer(0, most), how: random.pick(['reset', 'close'] as const) }
}

async function done(id: string, state = 'done') {
  for (let tries = 0; tries < 3000; tries++) {
    const found = await ada.call(getRequest, { id })
    if (found.state === state) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`request ${id} did not become ${state}`)
}

async function stagedFiles(): Promise<string[]> {
  const entries = await readdir(app.deps.blobs.stagingDirectory, {
    recursive: true,
    withFileTypes: true
  })
  return entries.filter(entry => entry.isFile()).map(entry => entry.name)
}
