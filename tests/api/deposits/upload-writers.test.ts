import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout, setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { getDeposit } from '../../../src/contract/deposits.ts'
import { toCompanyId } from '../../../src/server/db/scope.ts'
import type { CompanyId } from '../../../src/server/domain/deps.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { startSlowPatch } from '../../helpers/deposits/slow-patch.ts'
import { retryWhileBusy } from '../../helpers/retry-while-busy.ts'
import { startSecondProcess } from '../../helpers/second-process.ts'
import { runCount, testTimeout } from '../../helpers/soak.ts'

let app: TestApp
let ada: TestPerson
let port: number
let company: CompanyId
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  port = await app.listen()
  company = ada.company
})
afterAll(() => app[Symbol.asyncDispose]())

const size = 3000
const firstSize = 1000

/** Begins an upload, and sends only its first `firstSize` bytes. The connection stays open. */
async function begin(person = ada) {
  const bytes = randomBytes(size)
  const { request, upload } = await retryWhileBusy(() => app.reserve(person, bytes))
  const first = bytes.subarray(0, firstSize)
  const silent = startSlowPatch(port, person, upload, { offset: 0, length: size, first })
  const file = join(app.folder, 'documents/staging', company, idOf(upload))
  await vi.waitFor(async () => expect((await stat(file)).size).toBe(firstSize))
  return { request, upload, bytes, silent, rest: { offset: firstSize, length: size - firstSize } }
}

const idOf = (upload: string) => upload.slice('/uploads/'.length)

async function offsetOf(upload: string, person = ada): Promise<number> {
  for (;;) {
    const head = await app.tus(person, 'HEAD', upload)
    if (head.status !== 503) return Number(head.headers['upload-offset'])
    await setTimeout(1000)
  }
}

async function rowOf(upload: string) {
  const { rows } = await app.owner.query('select * from upload where id = $1', [idOf(upload)])
  return rows[0]
}

/** Returns the sorted names of the staged files, whose uploads have not become deposits. */
async function staged(): Promise<string[]> {
  const names = await readdir(join(app.folder, 'documents/staging', company))
  return names.sort()
}

async function keptFile(id: string): Promise<string> {
  const { rows } = await app.owner.query('select blob_tag from deposit where id = $1', [id])
  const name = rows[0].blob_tag.toString('hex')
  return join(app.folder, 'documents/blobs', company, name.slice(0, 2), name)
}

/**
 * Waits until a request is done. Expects that the stored file has the fingerprint of the deposit.
 */
async function recorded(id: string, person = ada): Promise<void> {
  const { state, deposit_id = '' } = await retryWhileBusy(() =>
    app.until(person, id, ['done', 'failed'])
  )
  expect(state).toBe('done')
  const { rows } = await app.owner.query('select blob_tag from deposit where id = $1', [deposit_id])
  const kept = await app.deps.blobs.digestKept(company, rows[0].blob_tag)
  const { stored } = await person.call(getDeposit, { id: deposit_id })
  expect(kept?.sha256.toString('hex')).toBe(stored)
}

test('lets two calls wait for an upload, refuses the third, and does no work meanwhile', async () => {
  const { request, upload, bytes, silent, rest } = await begin()
  const waiting = [startSlowPatch(port, ada, upload, rest), startSlowPatch(port, ada, upload, rest)]
  const others = Array.from({ length: 8 }, () => startSlowPatch(port, ada, upload, rest))
  const refused = await Promise.race(others.map(({ answer }) => answer))
  expect(refused).toEqual({ status: 409, code: 'upload_busy', retryAfter: '1' })
  // those who wait hold a promise; a loop that looks again and again would stand here
  const held: number[] = []
  for (let turns = 0; turns < 20; turns++) {
    await turn()
    held.push(process.getActiveResourcesInfo().filter(name => name === 'Immediate').length)
  }
  expect(Math.min(...held)).toBe(0)
  // each silent one makes room for the next, until only one is left
  const open = new Set([silent, ...waiting, ...others])
  for (const call of open) {
    void call.answer.then(({ code }) => code === 'upload_busy' && open.delete(call))
  }
  await vi.waitFor(() => expect(open.size).toBe(1))
  const [last] = open
  last?.send(bytes.subarray(firstSize))
  expect((await last?.answer)?.status).toBe(204)
  await recorded(request.id)
})

test('stops a call whose client has gone silent, and goes on with the next one', async () => {
  const { request, upload, bytes, silent } = await begin()
  expect((await app.patch(ada, upload, bytes.subarray(firstSize), firstSize)).status).toBe(204)
  expect(await silent.answer).toEqual({ status: 409, code: 'upload_busy', retryAfter: '1' })
  await recorded(request.id)
})

test('does not stop a call whose bytes come, and refuses another with an offset of before', async () => {
  const { request, upload, bytes, silent } = await begin()
  const late = await app.patch(ada, upload, bytes.subarray(5), 5)
  expect([late.status, JSON.parse(late.body.toString()).code]).toEqual([409, 'upload_offset'])
  const second = startSlowPatch(port, ada, upload, { offset: firstSize, length: size - firstSize })
  silent.send(bytes.subarray(firstSize))
  expect((await silent.answer).status).toBe(204)
  expect((await second.answer).status).toBe(409)
  await recorded(request.id)
})

test('gives the place of a waiting call that has gone to the next', async () => {
  const { request, upload, bytes, rest } = await begin()
  const gone = [startSlowPatch(port, ada, upload, rest), startSlowPatch(port, ada, upload, rest)]
  for (const each of gone) each.breakConnection()
  await Promise.all(gone.map(each => each.answer))
  expect((await app.patch(ada, upload, bytes.subarray(firstSize), firstSize)).status).toBe(204)
  await recorded(request.id)
})

test('cancels an upload whose call still holds, and leaves no file', async () => {
  const { upload, silent } = await begin()
  expect((await app.tus(ada, 'DELETE', upload)).status).toBe(204)
  expect(await silent.answer).toMatchObject({ status: 409, code: 'cancelled' })
  expect(await staged()).toEqual([])
})

/**
 * How many seconds the clock of the second process is ahead. By this clock, every lease of the
 * first process has expired.
 */
const aheadSeconds = 11

test('takes over from a process that stands still, and gives it no way to the bytes any more', async () => {
  await using other = await startSecondProcess(app, { aheadSeconds })
  const { request, upload, bytes, silent, rest } = await begin()
  const next = startSlowPatch(other.port, ada, upload, rest)
  next.send(bytes.subarray(firstSize, firstSize + 5))
  await vi.waitFor(async () => expect(await staged()).toEqual([`${idOf(upload)}.1`]))
  // the first process wakes and writes all that it was sent
  silent.send(Buffer.alloc(size - firstSize, 'late'))
  expect(await silent.answer).toEqual({ status: 409, code: 'upload_busy', retryAfter: '1' })
  next.send(bytes.subarray(firstSize + 5))
  expect((await next.answer).status).toBe(204)
  await recorded(request.id)
  expect(await staged()).toEqual([])
})

test('goes on with the bytes of a process that died while it wrote', async () => {
  const { request, upload, bytes, silent } = await begin()
  silent.breakConnection()
  await vi.waitFor(async () => expect((await rowOf(upload)).writer).toBe(null))
  const dead = [idOf(upload), randomUUID(), new Date(app.deps.clock().getTime() + 9000)]
  await app.owner.query('update upload set writer = $2, writer_until = $3 where id = $1', dead)
  expect(await offsetOf(upload)).toBe(firstSize)
  // nobody answers, so the lease is not waited for
  expect((await app.patch(ada, upload, bytes.subarray(firstSize), firstSize)).status).toBe(204)
  expect(await rowOf(upload)).toMatchObject({ generation: 1, writer: null })
  await recorded(request.id)
  expect(await staged()).toEqual([])
})

test('finds the bytes again when the process that took over has died before it copied them', async () => {
  const { request, upload, bytes, silent } = await begin()
  silent.breakConnection()
  await vi.waitFor(async () => expect((await rowOf(upload)).writer).toBe(null))
  await app.owner.query(
    `update upload set generation = 1, writer = $2, writer_until = now() - interval '1 s'
      where id = $1`,
    [idOf(upload), randomUUID()]
  )
  expect(await offsetOf(upload)).toBe(0)
  expect((await app.patch(ada, upload, bytes)).status).toBe(409)
  expect(await offsetOf(upload)).toBe(firstSize)
  expect((await app.patch(ada, upload, bytes.subarray(firstSize), firstSize)).status).toBe(204)
  await recorded(request.id)
})

test('asks another process to make room, which does so once its client is silent', async () => {
  const notifications = {
    send(text: string) {
      const [, first = '', second = ''] = text.split(' ')
      app.deps.signals.writers.send({ company: toCompanyId(first), upload: second })
    },
    listen: () => undefined
  }
  await using other = await startSecondProcess(app, { notifications })
  const { request, upload, bytes, silent, rest } = await begin()
  const resume = () => {
    const next = startSlowPatch(other.port, ada, upload, rest)
    next.send(bytes.subarray(firstSize))
    return next.answer
  }
  let answer = await resume()
  // it had sent its bytes a moment ago, so the first try may find it alive
  while (answer.code === 'upload_busy') answer = await resume()
  expect(answer.status).toBe(204)
  expect((await silent.answer).code).toBe('upload_busy')
  // given back, so nothing had to be copied
  expect((await rowOf(upload)).generation).toBe(0)
  await recorded(request.id)
})

test('keeps the file of a document when its bytes are deposited again', async () => {
  const bytes = randomBytes(size)
  const first = await app.deposit(ada, bytes)
  const file = await keptFile(first.deposit_id ?? '')
  const { ino } = await stat(file)
  expect((await app.deposit(ada, bytes)).state).toBe('done')
  expect((await stat(file)).ino).toBe(ino)
  expect(await staged()).toEqual([])
})

test.each([
  ['cut', (bytes: Buffer) => bytes.subarray(1)],
  ['changed', () => randomBytes(size)]
])('replaces the file of a document that is %s when its bytes come again', async (_how, damage) => {
  const bytes = randomBytes(size)
  const { deposit_id = '' } = await app.deposit(ada, bytes)
  const file = await keptFile(deposit_id)
  await writeFile(file, damage(bytes))
  expect((await app.deposit(ada, bytes)).state).toBe('done')
  expect((await readFile(file)).equals(bytes)).toBe(true)
})

const rounds = runCount(3, 10_000)

// C-10
test(
  `records no byte of ${rounds} documents that was not announced, while two processes write them`,
  async () => {
    await using other = await startSecondProcess(app, { aheadSeconds })
    const people = await Promise.all(
      Array.from({ length: Math.min(12, rounds) }, () => app.signUp())
    )
    let begun = 0
    const ends = { done: 0, failed: 0 }
    await Promise.all(
      people.map(async person => {
        while (begun < rounds) ends[await race(person, other.port, begun++ % 3)]++
      })
    )
    expect(ends.done + ends.failed).toBe(rounds)
    expect(ends.done).toBeGreaterThanOrEqual(Math.floor(rounds / 3))
    // the file of a failed deposit is deleted only after its state has changed
    await expect.poll(staged).toEqual([])
  },
  testTimeout(60_000)
)

/**
 * Uploads one document through two processes. The first one gets wrong bytes: before the second one
 * gets the right bytes (`late` 0), meanwhile (1), or after the deposit is recorded (2). Returns how
 * the request has ended.
 */
async function race(person: TestPerson, otherPort: number, late: number) {
  const { request, upload, bytes, silent, rest } = await begin(person)
  const evil = Buffer.alloc(size - firstSize, 'late')
  // the other process believes that the first one is dead
  const next = startSlowPatch(otherPort, person, upload, rest)
  if (late === 0) silent.send(evil)
  next.send(bytes.subarray(firstSize))
  if (late === 1) silent.send(evil)
  const { status } = await next.answer
  // a busy database refuses now and then
  if (late === 2 && status !== 503) {
    expect(status).toBe(204)
    await recorded(request.id, person)
    silent.send(evil)
    expect((await silent.answer).status).toBe(409)
  }
  await silent.answer
  for (let offset = 0; offset < size; ) {
    offset = await offsetOf(upload, person)
    if (offset < size) await app.patch(person, upload, bytes.subarray(offset), offset)
  }
  const { state, code } = await retryWhileBusy(() =>
    app.until(person, request.id, ['done', 'failed'])
  )
  if (state === 'done') {
    await recorded(request.id, person)
    return 'done'
  }
  // the late bytes were here first, and are others than were announced
  expect([late === 2, code]).toEqual([false, 'transfer_corrupt'])
  return 'failed'
}
