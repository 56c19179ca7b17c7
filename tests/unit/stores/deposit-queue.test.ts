import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AppError } from '../../../src/contract/errors.ts'
import type { ProcessedRequest, RequestState } from '../../../src/contract/requests.ts'
import { createDepositQueue, type DepositParts } from '../../../src/stores/deposit-queue.ts'
import type { DepositState } from '../../../src/stores/deposit-states.ts'

const category = '0199f2a0-0000-7000-8000-000000000001'
const digest = 'a'.repeat(64)

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('takes a file from its fingerprint to the record', async () => {
  const { queue, world, seen } = makeQueue()
  queue.addFiles([fileOf('a.pdf', 10)], category)
  const states = seen(0)
  await world.run()
  expect(world.reserved).toEqual([
    {
      key: expect.any(String),
      name: 'a.pdf',
      size: 10,
      media_type: 'application/pdf',
      original: digest,
      stored: digest,
      category
    }
  ])
  queue.hear(requestOf('r0', 'done', 2))
  expect(states).toEqual([
    'hashing',
    'preparing',
    'waiting',
    'reserving',
    'uploading',
    'recording',
    'done'
  ])
})

test('sends the reduced copy of a picture with both fingerprints and its transform', async () => {
  const blob = new Blob(['small'], { type: 'image/jpeg' })
  const transform = {
    kind: 'image-recompress' as const,
    quality: 70 as const,
    tool: 'test canvas',
    from: { bytes: 100, w: 10, h: 10, type: 'image/png' },
    to: { bytes: 5, w: 6, h: 6, type: 'image/jpeg' }
  }
  const { queue, world } = makeQueue({
    hash: async file => (file === blob ? 'b'.repeat(64) : digest),
    reduce: async () => ({ blob, transform })
  })
  queue.addFiles([fileOf('a.png', 100, 'image/png')], category)
  await world.run()
  expect(world.reserved).toMatchObject([
    { original: digest, stored: 'b'.repeat(64), size: 5, media_type: 'image/jpeg', transform }
  ])
  expect(world.sent).toEqual([['/uploads/0', blob]])
})

test('fingerprints two files at once and sends two at once, in the order they came', async () => {
  const hashing = new Gate()
  const sending = new Gate()
  const { queue, world } = makeQueue({
    hash: async file => {
      await hashing.enter((file as File).name)
      return digest
    },
    send: (url: string) => sending.enter(url)
  })
  queue.addFiles(
    ['a', 'b', 'c', 'd'].map(name => fileOf(name, 10)),
    category
  )
  await world.run()
  expect(hashing.inside).toEqual(['a', 'b'])
  hashing.open('b')
  await world.run()
  expect(hashing.inside).toEqual(['a', 'c'])
  expect(sending.inside).toEqual(['/uploads/0'])
  for (const name of ['a', 'c', 'd']) {
    hashing.open(name)
    await world.run()
  }
  expect(sending.inside).toEqual(['/uploads/0', '/uploads/1'])
  expect(world.reserved.map(input => input.name)).toEqual(['b', 'a'])
  sending.open('/uploads/0')
  await world.run()
  expect(world.reserved.map(input => input.name)).toEqual(['b', 'a', 'c'])
})

test('goes on from what the server holds when an upload is cut', async () => {
  let tries = 0
  const { queue, world, state } = makeQueue({
    send: async () => {
      tries += 1
      if (tries < 4) throw new AppError('offline', 'cut')
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  expect(state(0)).toMatchObject({ status: 'uploading', cut: true })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state(0).status).toBe('recording')
  expect(tries).toBe(4)
  expect(world.reserved).toHaveLength(1)
})

test('gives up after six pauses, and tries at once when the network is back', async () => {
  let tries = 0
  const { queue, world, state } = makeQueue({
    send: async () => {
      tries += 1
      throw new AppError('offline', 'cut')
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(tries).toBe(7)
  expect(state(0)).toMatchObject({ status: 'failed', retryable: true, error: { code: 'offline' } })
  queue.networkIsBack()
  await world.run()
  expect(tries).toBeGreaterThan(7)
})

test('keeps the idempotency key over retries whose outcome is unknown', async () => {
  let broken = true
  const { queue, world, state } = makeQueue({
    reserve: async () => {
      if (broken) throw new AppError('offline', 'no answer')
      return { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(state(0).status).toBe('failed')
  broken = false
  queue.retry(idOf(queue, 0))
  await world.run()
  expect(state(0).status).toBe('recording')
  expect(new Set(world.reserved.map(input => input.key)).size).toBe(1)
})

test('takes another key once the server has refused', async () => {
  let full = true
  const figures = { used: 10, limit: 10, resets_at: null }
  const { queue, world, state } = makeQueue({
    reserve: async () => {
      if (full) throw new AppError('request_limit_reached', 'full', { figures })
      return { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  expect(state(0)).toMatchObject({ status: 'failed', error: { figures }, retryable: true })
  full = false
  queue.retry(idOf(queue, 0))
  await world.run()
  expect(state(0).status).toBe('recording')
  expect(new Set(world.reserved.map(input => input.key)).size).toBe(2)
})

test('pauses in the middle of an upload and resumes without a second reservation', async () => {
  const sending = new Gate()
  const { queue, world, state } = makeQueue({
    send: async (url, _bytes, options) => {
      options?.onProgress?.(4)
      await sending.enter(url)
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  queue.pause(idOf(queue, 0))
  expect(state(0)).toEqual({ status: 'paused', by: 'person', ratio: 0.4 })
  sending.open('/uploads/0')
  await world.run()
  expect(state(0).status).toBe('paused')
  queue.resume(idOf(queue, 0))
  await world.run()
  sending.open('/uploads/0')
  await world.run()
  expect(state(0).status).toBe('recording')
  expect(world.reserved).toHaveLength(1)
})

test('gives the reservation back when a started upload is cancelled', async () => {
  const sending = new Gate()
  const { queue, world, state } = makeQueue({ send: url => sending.enter(url) })
  queue.addFiles([fileOf('a', 10), fileOf('b', 10)], category)
  queue.cancel(idOf(queue, 1))
  await world.run()
  queue.cancel(idOf(queue, 0))
  await world.run()
  expect(world.released).toEqual(['/uploads/0'])
  expect([state(0).status, state(1).status]).toEqual(['cancelled', 'cancelled'])
})

test('gives the reservation back when it is answered after the cancellation', async () => {
  const reserving = new Gate()
  const { queue, world, state } = makeQueue({
    reserve: async () => {
      await reserving.enter('a')
      return { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  queue.cancel(idOf(queue, 0))
  reserving.open('a')
  await world.run()
  expect(world.released).toEqual(['/uploads/0'])
  expect(world.sent).toEqual([])
  expect(state(0).status).toBe('cancelled')
})

test('says the truth when the last byte had arrived before the cancellation', async () => {
  const sending = new Gate()
  const { queue, world, state } = makeQueue({
    send: url => sending.enter(url),
    release: async () => {
      throw new AppError('upload_state', 'received')
    }
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  queue.cancel(idOf(queue, 0))
  await world.run()
  expect(state(0).status).toBe('recording')
})

test('waits for the same person when the session ends, and then goes on', async () => {
  let signedIn = false
  const { queue, world, state } = makeQueue({
    send: async () => {
      if (!signedIn) throw new AppError('unauthenticated', 'ended')
    }
  })
  queue.addFiles([fileOf('a', 10), fileOf('b', 10), fileOf('c', 10)], category)
  await world.run()
  expect([0, 1, 2].map(index => state(index))).toMatchObject([
    { status: 'paused', by: 'session' },
    { status: 'paused', by: 'session' },
    { status: 'paused', by: 'session' }
  ])
  signedIn = true
  queue.endSuspension()
  await world.run()
  expect([0, 1, 2].map(index => state(index).status)).toEqual([
    'recording',
    'recording',
    'recording'
  ])
})

test('asks for the outcome itself while the stream is silent', async () => {
  const { queue, world, state } = makeQueue({
    look: async () => ({ ...requestOf('r0', 'done', 3), leaf_hash: digest })
  })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  expect(state(0).status).toBe('recording')
  await vi.advanceTimersByTimeAsync(2000)
  expect(state(0)).toMatchObject({ status: 'done', request: { leaf_hash: digest } })
})

test('believes the newest sequence when the record is told before the last byte is answered', async () => {
  const sending = new Gate()
  const { queue, world, state } = makeQueue({ send: url => sending.enter(url) })
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  queue.hear(requestOf('r0', 'done', 5))
  queue.hear(requestOf('r0', 'queued', 4))
  sending.open('/uploads/0')
  await world.run()
  expect(state(0).status).toBe('done')
})

test('names the code with which a deposit ended badly and starts anew on retry', async () => {
  const { queue, world, state } = makeQueue()
  queue.addFiles([fileOf('a', 10)], category)
  await world.run()
  queue.hear({ ...requestOf('r0', 'failed', 2), code: 'transfer_corrupt' })
  expect(state(0)).toMatchObject({ status: 'failed', error: { code: 'transfer_corrupt' } })
  queue.retry(idOf(queue, 0))
  await world.run()
  expect(world.hashed).toBe(2)
  expect(new Set(world.reserved.map(input => input.key)).size).toBe(2)
})

test.each([
  [fileOf('empty.txt', 0), 'file_empty'],
  [fileOf(`${'n'.repeat(256)}`, 1), 'invalid_input'],
  [fileOf('bell\u0007.txt', 1), 'invalid_input']
])('refuses what the server would refuse before reading it', async (file, code) => {
  const { queue, world, state } = makeQueue()
  queue.addFiles([file], category)
  await world.run()
  expect(state(0)).toMatchObject({ status: 'failed', retryable: false, error: { code } })
  expect(world.hashed).toBe(0)
})

test('takes a thousand files, turns the rest away and does not tell each step of each', async () => {
  const { queue, world } = makeQueue()
  const told = vi.fn()
  queue.$summary.listen(told)
  const files = Array.from({ length: 1001 }, (_, index) => fileOf(`${index}`, 10))
  expect(queue.addFiles(files, category)).toBe(1)
  await world.run()
  await vi.advanceTimersByTimeAsync(1000)
  expect(queue.$summary.get()).toMatchObject({ total: 1000 })
  expect(told.mock.calls.length).toBeLessThan(20)
})

test('keeps the list until it is dismissed, then only what is still on its way', async () => {
  const { queue, world } = makeQueue({ look: async () => requestOf('r0', 'queued', 1) })
  queue.addFiles([fileOf('a', 10), fileOf('b', 0), fileOf('c', 10)], category)
  await world.run()
  queue.hear(requestOf('r0', 'done', 2))
  await vi.advanceTimersByTimeAsync(200)
  expect(queue.$summary.get()).toMatchObject({ total: 3, done: 1, failed: 1, active: 1 })
  queue.dismiss()
  expect(queue.$deposits.get().map(deposit => deposit.name)).toEqual(['c'])
})

test('forgets everything when it is cleared', async () => {
  const hashing = new Gate()
  const { queue, world } = makeQueue({
    hash: async file => {
      await hashing.enter((file as File).name)
      return digest
    }
  })
  queue.addFiles([fileOf('a', 10), fileOf('b', 10), fileOf('c', 10)], category)
  await world.run()
  queue.clear()
  hashing.open('a')
  hashing.open('b')
  await world.run()
  expect(queue.$deposits.get()).toEqual([])
  expect(queue.$summary.get().total).toBe(0)
  expect(world.reserved).toEqual([])
})

test('starts a second batch at 0 %, however much the first one weighed', async () => {
  const { queue, world } = makeQueue({ look: async id => requestOf(id, 'done', 2) })
  queue.addFiles([fileOf('a', 1000)], category)
  await vi.advanceTimersByTimeAsync(3000)
  expect(queue.$summary.get()).toMatchObject({ done: 1, percent: 100 })
  queue.addFiles([fileOf('b', 10)], category)
  expect(queue.$summary.get()).toMatchObject({ total: 2, percent: 0 })
  await vi.advanceTimersByTimeAsync(3000)
  expect(queue.$summary.get()).toMatchObject({ done: 2, percent: 100 })
  expect(world.reserved).toHaveLength(2)
})

/** Holds calls until each is let go by its name. */
class Gate {
  inside: string[] = []
  #open = new Map<string, () => void>()

  enter(name: string): Promise<void> {
    this.inside.push(name)
    return new Promise(resolve => this.#open.set(name, resolve))
  }

  open(name: string): void {
    this.inside.splice(this.inside.indexOf(name), 1)
    this.#open.get(name)?.()
  }
}

function makeQueue(parts: Partial<DepositParts> = {}) {
  const world = {
    hashed: 0,
    reserved: [] as ({ key: string } & Parameters<DepositParts['reserve']>[0])[],
    sent: [] as [string, Blob][],
    released: [] as string[],
    run: () => vi.advanceTimersByTimeAsync(1)
  }
  const given: DepositParts = {
    hash: async () => digest,
    reduce: async () => undefined,
    reserve: async () => {
      const index = world.reserved.length - 1
      return { request: requestOf(`r${index}`, 'uploading', 1), upload: `/uploads/${index}` }
    },
    look: async id => requestOf(id, 'queued', 1),
    send: async () => undefined,
    release: async () => undefined,
    now: () => Date.now(),
    random: () => 0.5,
    after: (ms, run) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    ...parts
  }
  const queue = createDepositQueue({
    ...given,
    hash: (file, options) => {
      world.hashed += 1
      return given.hash(file, options)
    },
    reserve: (input, key) => {
      world.reserved.push({ key, ...input })
      return given.reserve(input, key)
    },
    send: (url, bytes, options) => {
      world.sent.push([url, bytes])
      return given.send(url, bytes, options)
    },
    release: url => {
      world.released.push(url)
      return given.release(url)
    }
  })
  const state = (index: number): DepositState => at(queue.$deposits.get(), index).$state.get()
  const seen = (index: number): string[] => {
    const states: string[] = []
    at(queue.$deposits.get(), index).$state.subscribe(({ status }) => {
      if (states.at(-1) !== status) states.push(status)
    })
    return states
  }
  return { queue, world, state, seen }
}

function idOf(queue: ReturnType<typeof createDepositQueue>, index: number): string {
  return at(queue.$deposits.get(), index).id
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index]
  if (item === undefined) throw new Error(`There is no item ${index}`)
  return item
}

function fileOf(name: string, size: number, type = 'application/pdf'): File {
  return new File([new Uint8Array(size)], name, { type })
}

function requestOf(id: string, state: RequestState, seq: number): ProcessedRequest {
  return { id, kind: 'deposit', created: '2026-11-20T11:00:00.000Z', seq, state }
}
