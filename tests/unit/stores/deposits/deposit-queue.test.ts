import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import type { ProcessedRequest, RequestState } from '../../../../src/contract/requests.ts'
import type { DepositQueueDependencies } from '../../../../src/stores/deposits/deposit-desk.ts'
import { createDepositQueue } from '../../../../src/stores/deposits/deposit-queue.ts'
import type {
  DepositCategory,
  DepositState
} from '../../../../src/stores/deposits/deposit-states.ts'
import type { RememberedUpload } from '../../../../src/stores/uploads/remembered-uploads.ts'

const category: DepositCategory = {
  id: '0199f2a0-0000-7000-8000-000000000001',
  keep_originals: 'no',
  store: 'file',
  media_types: null
}
const digest = digestOf('a.pdf')
const blob = new Blob(['small'], { type: 'image/jpeg' })
const transform = {
  kind: 'image-recompress' as const,
  quality: 70 as const,
  tool: 'test canvas',
  from: { bytes: 100, w: 10, h: 10, type: 'image/png' },
  to: { bytes: 5, w: 6, h: 6, type: 'image/jpeg' }
}

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
      category: category.id
    }
  ])
  queue.updateRequest(requestOf('r0', 'done', 2))
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

test('adds up at once for whoever leaves, and for the others after a moment', async () => {
  const { queue, add } = makeQueue()
  await add([fileOf('a.pdf', 10)])
  queue.updateRequest(requestOf('r0', 'done', 2))
  expect(queue.$summary.get()).toMatchObject({ active: 1, done: 0 })
  expect(queue.updateSummary()).toMatchObject({ active: 0, done: 1 })
})

test('sends the reduced copy of a picture with both fingerprints and its transform', async () => {
  const { world, add } = makeQueue({
    hash: async file => (file === blob ? 'b'.repeat(64) : digest),
    reduce: async () => ({ blob, transform })
  })
  await add([fileOf('a.png', 100, 'image/png')])
  expect(world.reserved).toMatchObject([
    { original: digest, stored: 'b'.repeat(64), size: 5, media_type: 'image/jpeg', transform }
  ])
  expect(world.sent).toEqual([['/uploads/0', blob]])
})

describe('a small file', () => {
  type Send = DepositQueueDependencies['sendBatch']
  type Files = Parameters<Send>[0]
  const recorded = (files: Files) =>
    files.map(({ item }) => ({ request: requestOf(`r ${item.name}`, 'done', 2) }))
  const make = (sendBatch: Send, parts: Partial<DepositQueueDependencies> = {}) => {
    const calls: Files[] = []
    const made = makeQueue({
      maxBatchedBytes: 100,
      sendBatch: (files, options) => {
        calls.push(files)
        return sendBatch(files, options)
      },
      ...parts
    })
    return { ...made, calls }
  }

  test('goes with others from its fingerprint to the record, without a reservation', async () => {
    const { queue, world, seen, calls } = make(async (files, { onProgress }) => {
      onProgress(1)
      return recorded(files)
    })
    queue.addFiles([fileOf('a.pdf', 10), fileOf('b.pdf', 20), fileOf('c.pdf', 101)], category)
    const states = seen(0)
    await world.run()
    expect(calls.flat().map(({ item }) => item)).toMatchObject([
      { name: 'a.pdf', size: 10, original: digest, stored: digest, category: category.id },
      { name: 'b.pdf', size: 20 }
    ])
    expect(states).toEqual(['hashing', 'preparing', 'waiting', 'uploading', 'recording', 'done'])
    expect(world.reserved).toMatchObject([{ name: 'c.pdf', size: 101 }])
    expect(queue.updateSummary()).toMatchObject({ done: 2, active: 1 })
    expect(world.remembered.size).toBe(0)
  })

  test('is sent again with the same key where the answer is lost', async () => {
    let isLost = true
    const { queue, world, state, calls, add } = make(async (files, { onProgress }) => {
      onProgress(1)
      if (!isLost) return recorded(files)
      isLost = false
      throw new AppError('offline', 'lost')
    })
    await add([fileOf('a.pdf', 10)])
    queue.retryNow()
    await world.run()
    expect(state(0).status).toBe('done')
    const keys = calls.flat().map(({ item }) => item.key)
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(2)
  })

  test('is refused alone, and a reached limit pauses those that are not recorded', async () => {
    const figures = { used: 2, limit: 2, resets_at: null }
    const problem = { status: 429, code: 'request_limit_reached', detail: 'full', ...figures }
    const { queue, world, state, statuses } = make(async files =>
      files.map(({ item }, at) =>
        item.name === 'c.pdf' ? { problem } : (recorded(files)[at] ?? { problem })
      )
    )
    const names = ['a.pdf', 'b.pdf', 'c.pdf', 'd.pdf']
    queue.addFiles(
      names.map(name => fileOf(name, 10)),
      category
    )
    await world.run()
    const states = statuses()
    expect(states).toEqual(['done', 'done', 'paused', 'done'])
    expect(state(2)).toMatchObject({ by: 'limit', error: { figures } })
  })

  test('asks about a duplicate, and is deposited again when told', async () => {
    const request = requestOf('r-first', 'done', 1)
    const { state, calls, add, act } = make(async files =>
      files.map(
        ({ item }, at) => (item.again ? recorded(files)[at] : undefined) ?? { duplicate: request }
      )
    )
    await add([fileOf('a.pdf', 10)])
    expect(state(0)).toEqual({ status: 'duplicate', request })
    await act('depositAgain', 0)
    expect(state(0).status).toBe('done')
    const [first, second] = calls.flat().map(({ item }) => item.key)
    expect(first).not.toBe(second)
  })

  test('is paused on its way, and the others of its call go on', async () => {
    let isStuck = true
    const { state, calls, add, act, statuses } = make((files, { signal }) => {
      if (!isStuck) return Promise.resolve(recorded(files))
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new AppError('offline', 'cut')))
      })
    })
    await add([fileOf('a.pdf', 10), fileOf('b.pdf', 10)])
    const [first] = calls
    expect(first?.map(({ item }) => item.name)).toEqual(['a.pdf'])
    isStuck = false
    await act('pause', 0)
    expect(statuses()).toEqual(['paused', 'done'])
    await act('resume', 0)
    expect(state(0).status).toBe('done')
  })

  test.each([
    ['not recorded it', 'uploading', 'cancelled'],
    ['recorded it', 'done', 'done']
  ] as const)('that is cancelled on its way where the server has %s', async (_what, at, shown) => {
    const { world, state, add, act } = make(
      (_files, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new AppError('offline', 'cut')))
        }),
      {
        reserve: async () => ({
          request: requestOf('r0', at, 2),
          ...(at === 'done' ? {} : { upload: '/uploads/0' })
        })
      }
    )
    await add([fileOf('a.pdf', 10)])
    await act('cancel', 0)
    expect(state(0).status).toBe(shown)
    expect(world.released).toEqual(at === 'done' ? [] : ['/uploads/0'])
  })

  test('waits for the same person when the session ends', async () => {
    let isOver = true
    const { queue, world, state, add } = make(async (files, { onProgress }) => {
      onProgress(1)
      if (isOver) throw new AppError('unauthenticated', 'over')
      return recorded(files)
    })
    await add([fileOf('a.pdf', 10)])
    expect(state(0)).toMatchObject({ status: 'paused', by: 'session' })
    isOver = false
    queue.endSuspension()
    await world.run()
    expect(state(0).status).toBe('done')
  })

  test('goes on with an upload of the same bytes that is open', async () => {
    const upload = '/uploads/open'
    const { world, state, add } = make(async files =>
      files.map(() => ({ request: requestOf('r0', 'uploading', 1), upload, continued: true }))
    )
    await add([fileOf('a.pdf', 10)])
    expect(world.sent.map(([url]) => url)).toEqual([upload])
    expect(state(0).status).toBe('recording')
  })

  test('keeps its fingerprint alone where the category takes fingerprints', async () => {
    const { world, calls, add } = make(async files => recorded(files))
    await add([fileOf('a.pdf', 10)], { ...category, store: 'fingerprint' })
    expect([calls.length, world.reserved.length]).toEqual([0, 1])
  })
})

describe('a picture that would be reduced', () => {
  const open: DepositCategory = { ...category, keep_originals: 'person' }
  const make = () =>
    makeQueue({
      hash: async file => (file === blob ? 'b'.repeat(64) : digestOf((file as File).name)),
      reduce: async file => (file.type === 'image/png' ? { blob, transform } : undefined)
    })
  const picture = (name = 'a.png') => fileOf(name, 100, 'image/png')

  test('waits for the choice with its sizes and fingerprints, while other files go on', async () => {
    const { queue, world, state, add } = make()
    await add([picture(), fileOf('b.pdf', 10)], open)
    const fingerprints = { original: digestOf('a.png'), stored: 'b'.repeat(64) }
    expect(state(0)).toEqual({ status: 'choosing', ...fingerprints })
    expect(queue.$deposits.get()[0]?.reduction).toMatchObject({ to: transform.to })
    expect(world.reserved).toMatchObject([{ name: 'b.pdf' }])
    expect(queue.updateSummary()).toMatchObject({ choosing: 1, active: 1 })
  })

  test('is sent as chosen', async () => {
    const { queue, world, add } = make()
    await add([picture('a.png'), picture('c.png')], open)
    queue.choosePicture(idOf(queue, 0), 'original')
    queue.choosePicture(idOf(queue, 1), 'reduced')
    await world.run()
    const original = digestOf('a.png')
    expect(world.reserved).toMatchObject([
      { name: 'a.png', size: 100, original, stored: original, media_type: 'image/png' },
      { name: 'c.png', size: 5, stored: 'b'.repeat(64), transform }
    ])
    expect(world.reserved[0]).not.toHaveProperty('transform')
  })

  test('follows a choice for all, also where it is still being prepared', async () => {
    const { queue, world, add } = make()
    queue.addFiles([picture('a.png'), picture('c.png')], open)
    queue.choosePictureVersionForAll('original')
    await world.run()
    expect(world.reserved.map(({ size }) => size)).toEqual([100, 100])
    await add([picture('d.png')], open)
    expect(queue.updateSummary()).toMatchObject({ choosing: 1 })
  })

  test('is reduced without a question where the category keeps no originals', async () => {
    const { world, add } = make()
    await add([picture()])
    expect(world.reserved).toMatchObject([{ transform }])
  })

  test('can be cancelled while it waits', async () => {
    const { queue, world, state, add } = make()
    await add([picture()], open)
    queue.cancelAll()
    expect(state(0)).toEqual({ status: 'cancelled' })
    expect(world.reserved).toEqual([])
  })
})

test('fingerprints two files at once and sends two at once, in the order they came', async () => {
  const hashing = new Gate()
  const sending = new Gate()
  const { queue, world } = makeQueue({
    hash: async file => {
      const { name } = file as File
      await hashing.enter(name)
      return digestOf(name)
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
  const { world, state, add } = makeQueue({
    send: async () => {
      tries += 1
      if (tries < 4) throw new AppError('offline', 'cut')
    }
  })
  await add([fileOf('a', 10)])
  expect(state(0)).toMatchObject({ status: 'uploading', cut: true })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(state(0).status).toBe('recording')
  expect(tries).toBe(4)
  expect(world.reserved).toHaveLength(1)
})

test('waits before it sends again for as long as the server asks', async () => {
  let isFull = true
  const { world, state, add } = makeQueue({
    send: async () => {
      if (isFull) throw new AppError('rate_limited', 'full', { retryAfter: 30 })
    }
  })
  await add([fileOf('a.pdf', 10)])
  isFull = false
  await vi.advanceTimersByTimeAsync(29_000)
  expect(state(0)).toMatchObject({ status: 'uploading', cut: true })
  expect(world.sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1000)
  expect(world.sent).toHaveLength(2)
  expect(state(0).status).toBe('recording')
})

test('gives up after six pauses, and tries at once when the network is back', async () => {
  let tries = 0
  const { queue, world, state, add } = makeQueue({
    send: async () => {
      tries += 1
      throw new AppError('offline', 'cut')
    }
  })
  await add([fileOf('a', 10)])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(tries).toBe(7)
  expect(state(0)).toMatchObject({ status: 'failed', retryable: true, error: { code: 'offline' } })
  queue.retryNow()
  await world.run()
  expect(tries).toBeGreaterThan(7)
})

test('keeps the idempotency key over retries whose outcome is unknown', async () => {
  let broken = true
  const { world, state, add, act } = makeQueue({
    reserve: async () => {
      if (broken) throw new AppError('offline', 'no answer')
      return { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
    }
  })
  await add([fileOf('a', 10)])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(state(0).status).toBe('failed')
  broken = false
  await act('retry', 0)
  expect(state(0).status).toBe('recording')
  expect(new Set(world.reserved.map(input => input.key)).size).toBe(1)
})

test('takes another key once the server has refused', async () => {
  let full = true
  const figures = { used: 10, limit: 10, resets_at: null }
  const { world, state, add, act } = makeQueue({
    reserve: async () => {
      if (full) throw new AppError('request_limit_reached', 'full', { figures })
      return { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
    }
  })
  await add([fileOf('a', 10)])
  expect(state(0)).toMatchObject({ status: 'paused', by: 'limit', error: { figures } })
  full = false
  await act('resume', 0)
  expect(state(0).status).toBe('recording')
  expect(new Set(world.reserved.map(input => input.key)).size).toBe(2)
})

test('keeps the key of a try whose answer was lost when a known limit stops the next one', async () => {
  let [isLost, full] = [true, true]
  const { queue, world, state, add, act } = makeQueue({
    reserve: async ({ name }) => {
      if (name === 'a' && isLost) throw new AppError('offline', 'lost')
      if (full) throw new AppError('storage_limit_reached', 'full')
      return { request: requestOf(`r-${name}`, 'uploading', 1), upload: `/uploads/${name}` }
    }
  })
  await add([fileOf('a', 60)])
  await add([fileOf('b', 50)])
  expect(state(1)).toMatchObject({ status: 'paused', by: 'limit' })
  queue.suspend()
  await world.run()
  isLost = false
  queue.endSuspension()
  await world.run()
  expect(state(0)).toMatchObject({ status: 'paused', by: 'limit' })
  full = false
  await act('resume', 0)
  expect(state(0).status).toBe('recording')
  expect(
    new Set(world.reserved.filter(({ name }) => name === 'a').map(({ key }) => key)).size
  ).toBe(1)
})

test('goes on once more is left, and leaves what the person has paused', async () => {
  let full = true
  const { queue, world, state, add, act } = makeQueue({
    reserve: async ({ name }) => {
      if (full) throw new AppError('request_limit_reached', 'full')
      return { request: requestOf(`r-${name}`, 'uploading', 1), upload: `/uploads/${name}` }
    }
  })
  await add([fileOf('a', 10), fileOf('b', 10)])
  expect([state(0), state(1)]).toMatchObject([{ by: 'limit' }, { by: 'limit' }])
  await act('resume', 1)
  await act('pause', 1)
  full = false
  queue.resumeLimited()
  await world.run()
  expect(state(0).status).toBe('recording')
})

test('goes on with the same upload after its room was taken meanwhile', async () => {
  let full = true
  const sent: string[] = []
  const { world, state, add, act } = makeQueue({
    send: async url => {
      if (full) throw new AppError('storage_limit_reached', 'full')
      sent.push(url)
    }
  })
  await add([fileOf('a', 10)])
  expect(state(0)).toMatchObject({ status: 'paused', by: 'limit' })
  full = false
  await act('resume', 0)
  expect(state(0).status).toBe('recording')
  expect(sent).toEqual(['/uploads/0'])
  expect(world.reserved).toHaveLength(1)
})

test('pauses in the middle of an upload and resumes without a second reservation', async () => {
  const sending = new Gate()
  const { queue, world, state, add, act } = makeQueue({
    send: async (url, _bytes, options) => {
      options?.onProgress?.(4)
      await sending.enter(url)
    }
  })
  await add([fileOf('a', 10)])
  queue.pause(idOf(queue, 0))
  expect(state(0)).toEqual({ status: 'paused', by: 'person', ratio: 0.4 })
  sending.open('/uploads/0')
  await world.run()
  expect(state(0).status).toBe('paused')
  await act('resume', 0)
  sending.open('/uploads/0')
  await world.run()
  expect(state(0).status).toBe('recording')
  expect(world.reserved).toHaveLength(1)
})

test('gives the reservation back when a started upload is cancelled', async () => {
  const sending = new Gate()
  const { queue, world, act, statuses } = makeQueue({ send: url => sending.enter(url) })
  queue.addFiles([fileOf('a', 10), fileOf('b', 10)], category)
  await act('cancel', 1)
  await act('cancel', 0)
  expect(world.released).toEqual(['/uploads/0'])
  expect(statuses()).toEqual(['cancelled', 'cancelled'])
})

test('gives the reservation back when it is answered after the cancellation', async () => {
  const reserving = new Gate()
  const { queue, world, state, add } = makeQueue({
    reserve: async () => {
      await reserving.enter('a')
      return { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
    }
  })
  await add([fileOf('a', 10)])
  queue.cancel(idOf(queue, 0))
  reserving.open('a')
  await world.run()
  expect(world.released).toEqual(['/uploads/0'])
  expect(world.sent).toEqual([])
  expect(state(0).status).toBe('cancelled')
})

test('says the truth when the last byte had arrived before the cancellation', async () => {
  const sending = new Gate()
  const { state, add, act } = makeQueue({
    send: url => sending.enter(url),
    cancelUpload: async () => {
      throw new AppError('upload_state', 'received')
    }
  })
  await add([fileOf('a', 10)])
  await act('cancel', 0)
  expect(state(0).status).toBe('recording')
})

test('waits for the same person when the session ends, and then goes on', async () => {
  let signedIn = false
  const { queue, world, state, add, statuses } = makeQueue({
    send: async () => {
      if (!signedIn) throw new AppError('unauthenticated', 'ended')
    }
  })
  await add([fileOf('a', 10), fileOf('b', 10), fileOf('c', 10)])
  expect([0, 1, 2].map(index => state(index))).toMatchObject([
    { status: 'paused', by: 'session' },
    { status: 'paused', by: 'session' },
    { status: 'paused', by: 'session' }
  ])
  signedIn = true
  queue.endSuspension()
  await world.run()
  expect(statuses()).toEqual(['recording', 'recording', 'recording'])
})

test('asks for the outcome itself while the stream is silent', async () => {
  const { state, add } = makeQueue({
    getRequest: async () => ({ ...requestOf('r0', 'done', 3), leaf_hash: digest })
  })
  await add([fileOf('a', 10)])
  expect(state(0).status).toBe('recording')
  await vi.advanceTimersByTimeAsync(2000)
  expect(state(0)).toMatchObject({ status: 'done', request: { leaf_hash: digest } })
})

test('believes the newest sequence when the record is told before the last byte is answered', async () => {
  const sending = new Gate()
  const { queue, world, state, add } = makeQueue({ send: url => sending.enter(url) })
  await add([fileOf('a', 10)])
  queue.updateRequest(requestOf('r0', 'done', 5))
  queue.updateRequest(requestOf('r0', 'queued', 4))
  sending.open('/uploads/0')
  await world.run()
  expect(state(0).status).toBe('done')
})

test('shows a record as sealed when that is told, also where the answer comes later', async () => {
  const seal = { rung: 'sealed', sealed: '2026-05-03T12:00:01.000Z' } as const
  const told = new Set<string>()
  const { queue, state, add } = makeQueue({
    sealedIfReached: request => (told.has(request.id) ? { ...request, ...seal } : request)
  })
  await add([fileOf('a', 10), fileOf('b', 10)])
  queue.updateRequest({ ...requestOf('r0', 'done', 5), rung: 'recorded' })
  expect(state(0)).toMatchObject({ status: 'done', request: { rung: 'recorded' } })
  expect(queue.updateSummary()).toMatchObject({ done: 1, sealed: 0 })
  queue.updateRequest({ ...requestOf('r0', 'done', 5), ...seal })
  expect(state(0)).toMatchObject({ status: 'done', request: seal })
  told.add('r1')
  queue.updateRequest({ ...requestOf('r1', 'done', 6), rung: 'recorded' })
  expect(state(1)).toMatchObject({ status: 'done', request: seal })
  expect(queue.updateSummary()).toMatchObject({ done: 2, sealed: 2 })
})

test('names the code with which a deposit ended badly and starts anew on retry', async () => {
  const { queue, world, state, add, act } = makeQueue()
  await add([fileOf('a', 10)])
  queue.updateRequest({ ...requestOf('r0', 'failed', 2), code: 'transfer_corrupt' })
  expect(state(0)).toMatchObject({ status: 'failed', error: { code: 'transfer_corrupt' } })
  await act('retry', 0)
  expect(world.hashed).toBe(2)
  expect(new Set(world.reserved.map(input => input.key)).size).toBe(2)
})

test.each([
  [fileOf('empty.txt', 0), 'file_empty'],
  [fileOf(`${'n'.repeat(256)}`, 1), 'invalid_input'],
  [fileOf('bell\u0007.txt', 1), 'invalid_input']
])('refuses what the server would refuse before reading it', async (file, code) => {
  const { world, state, add } = makeQueue()
  await add([file])
  expect(state(0)).toMatchObject({ status: 'failed', retryable: false, error: { code } })
  expect(world.hashed).toBe(0)
})

test('takes a thousand files, turns the rest away and does not tell each step of each', async () => {
  const { queue, world } = makeQueue()
  const told = vi.fn()
  queue.$summary.listen(told)
  const files = Array.from({ length: 1001 }, (_, index) => fileOf(`${index}`, 10))
  expect(queue.addFiles(files, category)).toBe(1000)
  await world.run()
  await vi.advanceTimersByTimeAsync(1000)
  expect(queue.$summary.get()).toMatchObject({ total: 1000 })
  expect(told.mock.calls.length).toBeLessThan(20)
})

test('keeps the list until it is dismissed, then only what is still on its way', async () => {
  const { queue, add } = makeQueue({ getRequest: async () => requestOf('r0', 'queued', 1) })
  await add([fileOf('a', 10), fileOf('b', 0), fileOf('c', 10)])
  queue.updateRequest(requestOf('r0', 'done', 2))
  await vi.advanceTimersByTimeAsync(200)
  expect(queue.$summary.get()).toMatchObject({ total: 3, done: 1, failed: 1, active: 1 })
  queue.removeEnded()
  expect(queue.$deposits.get().map(deposit => deposit.name)).toEqual(['c'])
})

test('forgets everything when it is cleared', async () => {
  const hashing = new Gate()
  const { queue, world, add } = makeQueue({
    hash: async file => {
      await hashing.enter((file as File).name)
      return digest
    }
  })
  await add([fileOf('a', 10), fileOf('b', 10), fileOf('c', 10)])
  queue.clear()
  hashing.open('a')
  hashing.open('b')
  await world.run()
  expect(queue.$deposits.get()).toEqual([])
  expect(queue.$summary.get().total).toBe(0)
  expect(world.reserved).toEqual([])
})

test('starts a second batch at 0 %, however much the first one weighed', async () => {
  const { queue, world } = makeQueue({ getRequest: async id => requestOf(id, 'done', 2) })
  queue.addFiles([fileOf('a', 1000)], category)
  await vi.advanceTimersByTimeAsync(3000)
  expect(queue.$summary.get()).toMatchObject({ done: 1, percent: 100 })
  queue.addFiles([fileOf('b', 10)], category)
  expect(queue.$summary.get()).toMatchObject({ total: 2, percent: 0 })
  await vi.advanceTimersByTimeAsync(3000)
  expect(queue.$summary.get()).toMatchObject({ done: 2, percent: 100 })
  expect(world.reserved).toHaveLength(2)
})

test('lets the files that fit go on where the room is short, and asks no more for the others', async () => {
  const { queue, world, statuses } = makeQueue({
    reserve: async ({ size }) => {
      if (size > 10) throw new AppError('storage_limit_reached', 'short')
      return { request: requestOf(`r${size}`, 'uploading', 1), upload: `/uploads/${size}` }
    }
  })
  const sizes = [10, 50, 60, 5, 55]
  queue.addFiles(
    sizes.map(size => fileOf(`${size}`, size)),
    category
  )
  await world.run()
  expect(statuses()).toEqual(['recording', 'paused', 'paused', 'recording', 'paused'])
  expect(world.reserved.filter(({ size }) => size > 10).length).toBeLessThanOrEqual(2)
})

test('pauses all the rest where no request is left, without reading them, and resumes them together', async () => {
  let full = true
  const { queue, world, state } = makeQueue({
    reserve: async input => {
      if (full) throw new AppError('request_limit_reached', 'full')
      return { request: requestOf(input.name, 'uploading', 1), upload: `/uploads/${input.name}` }
    }
  })
  const files = Array.from({ length: 100 }, (_, index) => fileOf(`${index}`, 10))
  queue.addFiles(files, category)
  await vi.advanceTimersByTimeAsync(20)
  expect(files.every((_file, index) => state(index).status === 'paused')).toBe(true)
  expect(world.hashed).toBeLessThan(10)
  expect(world.reserved.length).toBeLessThanOrEqual(2)
  full = false
  queue.resumeAll()
  await vi.advanceTimersByTimeAsync(20)
  expect(files.every((_file, index) => state(index).status === 'recording')).toBe(true)
})

test('tries again only what failed and may succeed', async () => {
  let broken = true
  const { queue, world, add, statuses } = makeQueue({
    send: async url => {
      if (broken && url.endsWith('1')) throw new AppError('not_found', 'gone')
    }
  })
  await add([fileOf('a', 10), fileOf('b', 10), fileOf('c', 0)])
  expect(statuses()).toEqual(['recording', 'failed', 'failed'])
  broken = false
  queue.retryAll()
  await world.run()
  expect(statuses()).toEqual(['recording', 'recording', 'failed'])
  expect(world.reserved.map(({ name }) => name)).toEqual(['a', 'b', 'b'])
})

test('tells of a file that was deposited before, and deposits it again only when told to', async () => {
  const before = { ...requestOf('r9', 'done', 1), name: 'old.pdf' }
  const { world, state, add, act } = makeQueue({
    reserve: async input =>
      input.again
        ? { request: requestOf('r0', 'uploading', 2), upload: '/uploads/0' }
        : { duplicate: before }
  })
  await add([fileOf('a', 10)])
  expect(state(0)).toEqual({ status: 'duplicate', request: before })
  expect([world.sent, world.remembered.size]).toEqual([[], 0])
  await act('depositAgain', 0)
  expect(state(0).status).toBe('recording')
  expect(new Set(world.reserved.map(({ key }) => key)).size).toBe(2)
})

test('lets the same file wait for what comes of the first, which is then its duplicate', async () => {
  const before = { ...requestOf('r0', 'done', 2), leaf_hash: digest }
  const { queue, world, state, add, statuses } = makeQueue({
    reserve: async () =>
      world.reserved.length === 2
        ? { duplicate: before }
        : { request: requestOf('r0', 'uploading', 1), upload: '/uploads/0' }
  })
  await add([fileOf('a', 10), fileOf('a, copy', 10)])
  expect(statuses()).toEqual(['recording', 'waiting'])
  expect(world.reserved).toHaveLength(1)
  queue.updateRequest(before)
  await world.run()
  expect(state(0).status).toBe('done')
  expect(state(1)).toEqual({ status: 'duplicate', request: before })
})

test('asks anew for what was recorded while the first was paused, and gives its place back', async () => {
  const sending = new Gate()
  const done = requestOf('r1', 'done', 2)
  const { queue, world, add, act, statuses } = makeQueue({
    send: url => sending.enter(url),
    reserve: async () => {
      const index = world.reserved.length - 1
      if (index === 2) return { duplicate: done }
      return { request: requestOf(`r${index}`, 'uploading', 1), upload: `/uploads/${index}` }
    }
  })
  await add([fileOf('a', 10), fileOf('a, copy', 10)])
  queue.pause(idOf(queue, 0))
  sending.open('/uploads/0')
  await world.run()
  expect(statuses()).toEqual(['paused', 'uploading'])
  await act('resume', 0)
  expect(statuses()).toEqual(['waiting', 'uploading'])
  sending.open('/uploads/1')
  await world.run()
  queue.updateRequest(done)
  await world.run()
  expect(statuses()).toEqual(['duplicate', 'done'])
  expect(world.released).toEqual(['/uploads/0'])
})

test.each(['pause', 'cancel'] as const)(
  'lets the same file go once the first is not on its way: %s',
  async verb => {
    const sending = new Gate()
    const { queue, world, state, add, statuses } = makeQueue({
      send: (url: string) => sending.enter(url)
    })
    await add([fileOf('a', 10), fileOf('a, copy', 10), fileOf('b', 10)])
    expect(statuses()).toEqual(['uploading', 'waiting', 'uploading'])
    queue[verb](idOf(queue, 0))
    sending.open('/uploads/0')
    await world.run()
    expect(state(1).status).toBe('uploading')
  }
)

test('waits while another tab sends the same file, and then asks the server about it', async () => {
  const before = { ...requestOf('r9', 'done', 2), leaf_hash: digest }
  const other = new Gate()
  const { world, state, add } = makeQueue({
    lockFile: async original => {
      await other.enter(original)
      return () => {}
    },
    reserve: async () => ({ duplicate: before })
  })
  await add([fileOf('a', 10)])
  expect([state(0).status, other.inside, world.reserved]).toEqual(['waiting', [digest], []])
  other.open(digest)
  await world.run()
  expect(state(0)).toEqual({ status: 'duplicate', request: before })
})

test('keeps other tabs from sending a file until it is recorded', async () => {
  let locks = 0
  const { queue, add } = makeQueue({
    lockFile: async () => {
      locks += 1
      return () => {
        locks -= 1
      }
    }
  })
  await add([fileOf('a', 10)])
  expect(locks).toBe(1)
  queue.updateRequest(requestOf('r0', 'done', 2))
  expect(locks).toBe(0)
})

test('lets other tabs send a file that is paused', async () => {
  const sending = new Gate()
  const signals: AbortSignal[] = []
  const { queue, add } = makeQueue({
    send: url => sending.enter(url),
    lockFile: async (_original, signal) => {
      signals.push(signal)
      return () => {}
    }
  })
  await add([fileOf('a', 10)])
  queue.pauseAll()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('reduces no picture and sends no byte where the category says so', async () => {
  const done = { ...requestOf('r0', 'done', 1), leaf_hash: digest }
  let reduced = 0
  const reduce = async () => {
    reduced += 1
    return undefined
  }
  const { queue, world, state, add, statuses } = makeQueue({
    reduce,
    reserve: async () => ({ request: done })
  })
  queue.addFiles([fileOf('a.jpg', 10, 'image/jpeg')], { ...category, store: 'fingerprint' })
  queue.addFiles([fileOf('b.jpg', 10, 'image/jpeg')], { ...category, keep_originals: 'yes' })
  await add([fileOf('c.jpg', 10)], { ...category, media_types: ['image/png'] })
  expect(statuses()).toEqual(['done', 'done', 'failed'])
  expect(state(2)).toMatchObject({ status: 'failed', error: { code: 'type_not_allowed' } })
  expect([reduced, world.sent]).toEqual([0, []])
})

describe('after a reload', () => {
  const remembered: RememberedUpload = {
    id: 'u0',
    person: 'p',
    owner: 'o',
    address: '/uploads/0',
    request_id: 'r0',
    key: 'k',
    again: false,
    name: 'a',
    size: 10,
    type: 'application/pdf',
    original: digest,
    stored: digest,
    bytes: 10,
    category
  }
  const uploading = {
    getRequest: async () => requestOf('r0', 'uploading', 1),
    getOffset: async () => 4
  }

  test('remembers an upload from its reservation to its last byte', async () => {
    const sending = new Gate()
    const { world, add } = makeQueue({ send: url => sending.enter(url) })
    await add([fileOf('a', 10)])
    expect([...world.remembered.values()]).toMatchObject([
      { address: '/uploads/0', request_id: 'r0', name: 'a', size: 10, original: digest, bytes: 10 }
    ])
    sending.open('/uploads/0')
    await world.run()
    expect(world.remembered.size).toBe(0)
  })

  test('asks for the file and goes on with the same upload, however it was chosen', async () => {
    for (const choose of ['row', 'queue']) {
      const { queue, world, state } = makeQueue({ ...uploading, hash: async () => digest })
      await queue.restore([remembered])
      expect(state(0)).toEqual({ status: 'missing', ratio: 0.4, wrong: false })
      if (choose === 'row') queue.chooseFile('u0', fileOf('renamed', 10))
      else queue.addFiles([fileOf('a', 10)], category)
      await world.run()
      expect(state(0).status).toBe('recording')
      expect(world.sent.map(([url]) => url)).toEqual(['/uploads/0'])
      expect([world.reserved, queue.$deposits.get().length]).toEqual([[], 1])
    }
  })

  test('shows what the server has while the file is read again', async () => {
    const [hashing, sending] = [new Gate(), new Gate()]
    const { queue, world, state } = makeQueue({
      ...uploading,
      hash: async (_file, { onProgress }) => {
        await hashing.enter('a')
        onProgress?.(5)
        await hashing.enter('a')
        return digest
      },
      send: url => sending.enter(url)
    })
    await queue.restore([remembered])
    queue.chooseFile('u0', fileOf('a', 10))
    await world.run()
    expect(state(0)).toEqual({ status: 'hashing', ratio: 0, sent: 0.4 })
    hashing.open('a')
    await vi.advanceTimersByTimeAsync(200)
    expect(queue.updateSummary().percent).toBe(40)
    hashing.open('a')
    await world.run()
    expect(state(0)).toMatchObject({ status: 'uploading', ratio: 0.4 })
    queue.pauseAll()
    queue.resumeAll()
    expect([state(0).status, queue.updateSummary().percent]).toEqual(['waiting', 40])
  })

  test('goes on by itself with a file that the browser may still open', async () => {
    const handle = {} as FileSystemFileHandle
    const { queue, world, state } = makeQueue({
      ...uploading,
      openHandle: async () => fileOf('a', 10)
    })
    await queue.restore([{ ...remembered, handle }])
    await world.run()
    expect(state(0).status).toBe('recording')
  })

  test('takes no other file for the row, by its size or by its fingerprint', async () => {
    const { queue, world, state, add, statuses } = makeQueue({
      ...uploading,
      hash: async () => 'b'.repeat(64)
    })
    await queue.restore([remembered])
    queue.chooseFile('u0', fileOf('a', 11))
    expect(state(0)).toEqual({ status: 'missing', ratio: 0.4, wrong: true })
    queue.chooseFile('u0', fileOf('a', 10))
    await world.run()
    expect(state(0)).toEqual({ status: 'missing', ratio: 0.4, wrong: true })
    // of the same name and size, and not meant for the row: a deposit of its own
    await add([fileOf('a', 10)])
    expect(statuses()).toEqual(['missing', 'recording'])
  })

  test('starts anew where the picture was reduced to other bytes', async () => {
    const { queue, world, state } = makeQueue({
      ...uploading,
      hash: async file => (file === blob ? 'c'.repeat(64) : digest),
      reduce: async () => ({ blob, transform }),
      reserve: async () => ({ request: requestOf('r1', 'uploading', 2), upload: '/uploads/1' })
    })
    await queue.restore([{ ...remembered, stored: 'b'.repeat(64), bytes: 6 }])
    queue.chooseFile('u0', fileOf('a', 10))
    await world.run()
    expect(world.released).toEqual(['/uploads/0'])
    expect(world.sent).toEqual([['/uploads/1', blob]])
    expect(state(0).status).toBe('recording')
  })

  test('asks again under the old key where the reservation was never answered', async () => {
    const { queue, world } = makeQueue()
    const { address: _address, request_id: _request, ...unanswered } = remembered
    await queue.restore([unanswered])
    queue.chooseFile('u0', fileOf('a', 10))
    await world.run()
    expect(world.reserved).toMatchObject([{ key: 'k' }])
  })

  test('asks for a picture again that waited for its choice, and asks for the choice', async () => {
    const open: DepositCategory = { ...category, keep_originals: 'person' }
    const parts: Partial<DepositQueueDependencies> = {
      hash: async file => (file === blob ? 'b'.repeat(64) : digest),
      reduce: async () => ({ blob, transform })
    }
    const before = makeQueue(parts)
    await before.add([fileOf('a', 10)], open)
    const [waiting] = before.world.remembered.values()
    expect(before.state(0).status).toBe('choosing')
    const { queue, world, state } = makeQueue(parts)
    await queue.restore([{ ...remembered, ...waiting, address: undefined, request_id: undefined }])
    expect(state(0)).toEqual({ status: 'missing', ratio: 0, wrong: false })
    queue.chooseFile(idOf(queue, 0), fileOf('a', 10))
    await world.run()
    expect(state(0)).toEqual({ status: 'choosing', original: digest, stored: 'b'.repeat(64) })
    queue.choosePicture(idOf(queue, 0), 'reduced')
    await world.run()
    const { kind } = transform
    expect(world.reserved).toMatchObject([{ stored: 'b'.repeat(64), transform: { kind } }])
  })

  test('forgets what has ended meanwhile, and follows what was complete', async () => {
    const { queue, world, state } = makeQueue({
      getRequest: async id => requestOf(id, id === 'r0' ? 'lapsed' : 'queued', 1)
    })
    world.remembered.set('u0', remembered)
    await queue.restore([remembered, { ...remembered, id: 'u1', request_id: 'r1' }])
    expect([queue.$deposits.get().length, state(0).status]).toEqual([1, 'recording'])
    expect(world.remembered.has('u0')).toBe(false)
  })
})

/** Holds each call of `enter` until `open` is called with the same name. */
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

function makeQueue(parts: Partial<DepositQueueDependencies> = {}) {
  const world = {
    hashed: 0,
    reserved: [] as ({ key: string } & Parameters<DepositQueueDependencies['reserve']>[0])[],
    sent: [] as [string, Blob][],
    remembered: new Map<string, Parameters<DepositQueueDependencies['remember']>[0]>(),
    released: [] as string[],
    run: () => vi.advanceTimersByTimeAsync(1)
  }
  const given: DepositQueueDependencies = {
    hash: async file => digestOf((file as File).name),
    reduce: async () => undefined,
    reserve: async () => {
      const index = world.reserved.length - 1
      return { request: requestOf(`r${index}`, 'uploading', 1), upload: `/uploads/${index}` }
    },
    getRequest: async id => requestOf(id, 'queued', 1),
    sealedIfReached: request => request,
    getOffset: async () => 0,
    remember: upload => void world.remembered.set(upload.id, upload),
    forget: id => void world.remembered.delete(id),
    handleOf: () => undefined,
    nameOf: file => file.name.normalize('NFC'),
    openHandle: async () => undefined,
    lockFile: async () => () => {},
    send: async () => undefined,
    cancelUpload: async () => undefined,
    maxBatchedBytes: 0,
    sendBatch: async () => [],
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
    cancelUpload: url => {
      world.released.push(url)
      return given.cancelUpload(url)
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
  const add = async (files: readonly File[], to = category) => {
    queue.addFiles(files, to)
    await world.run()
  }
  type Verb = 'pause' | 'resume' | 'cancel' | 'retry' | 'depositAgain'
  const act = async (verb: Verb, index: number) => {
    queue[verb](idOf(queue, index))
    await world.run()
  }
  const statuses = () => queue.$deposits.get().map(({ $state }) => $state.get().status)
  return { queue, world, state, statuses, seen, add, act }
}

function idOf(queue: ReturnType<typeof createDepositQueue>, index: number): string {
  return at(queue.$deposits.get(), index).id
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index]
  if (item === undefined) throw new Error(`There is no item ${index}`)
  return item
}

/**
 * Returns the fingerprint of the file with this name. Files are equal if their names begin with the
 * same word.
 */
function digestOf(name: string): string {
  return createHash('sha256')
    .update(name.split(/\W/)[0] ?? '')
    .digest('hex')
}

function fileOf(name: string, size: number, type = 'application/pdf'): File {
  return new File([new Uint8Array(size)], name, { type })
}

function requestOf(id: string, state: RequestState, seq: number): ProcessedRequest {
  return { id, kind: 'deposit', created: '2026-11-20T11:00:00.000Z', seq, state }
}
