import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createUploadLocks } from '../../../../src/server/uploads/upload-locks.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const stays = { gone: new AbortController().signal }

/** Waits for the lock. Adds `name` to `order` when it gets the lock. */
function call(locks: ReturnType<typeof createUploadLocks>, name: string, order: string[]) {
  return locks.acquire('a', stays).then(lock => {
    order.push(name)
    return lock
  })
}

test('admits calls in the order in which they came, and the next one only when one has ended', async () => {
  const locks = createUploadLocks()
  const order: string[] = []
  const calls = ['first', 'second', 'third'].map(name => call(locks, name, order))
  for (const each of calls) {
    const lock = await each
    expect(order.at(-1)).toBe(['first', 'second', 'third'][order.length - 1])
    const before = order.length
    await Promise.resolve()
    expect(order.length).toBe(before)
    lock[Symbol.dispose]()
  }
  expect(order).toEqual(['first', 'second', 'third'])
})

test('keeps uploads apart, and forgets one that nobody holds', async () => {
  const locks = createUploadLocks()
  const first = await locks.acquire('a', stays)
  first.awaitBytes(100)
  await locks.acquire('b', { ...stays, offset: 0 })
  first[Symbol.dispose]()
  // what the upload has is known while a call holds it, and then the file says
  await locks.acquire('a', { ...stays, offset: 0 })
})

test('refuses a fourth call, and admits one again when a waiting one has gone', async () => {
  const locks = createUploadLocks()
  const order: string[] = []
  const first = await call(locks, 'first', order)
  const leaving = new AbortController()
  const second = locks.acquire('a', { gone: leaving.signal })
  const third = call(locks, 'third', order)
  await expect(locks.acquire('a', stays)).rejects.toMatchObject({
    code: 'upload_busy',
    retryAfter: 1
  })
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  const fourth = call(locks, 'fourth', order)
  first[Symbol.dispose]()
  const next = await third
  next[Symbol.dispose]()
  await fourth
  expect(order).toEqual(['first', 'third', 'fourth'])
})

test('does not admit a caller that has gone before', async () => {
  const gone = AbortSignal.abort(new Error('gone'))
  await expect(createUploadLocks().acquire('a', { gone })).rejects.toThrow('gone')
})

test('makes a holder end whose client is silent for half a second while somebody waits', async () => {
  const locks = createUploadLocks()
  const first = await locks.acquire('a', stays)
  first.awaitBytes(10)
  vi.advanceTimersByTime(60_000)
  expect(first.stopped.aborted).toBe(false) // nobody wants its place
  first.awaitBytes(20)
  void locks.acquire('a', stays)
  vi.advanceTimersByTime(499)
  expect(first.stopped.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(first.stopped.reason).toMatchObject({ code: 'upload_busy' })
})

test('does not end a holder that is at work itself, however long that takes', async () => {
  const locks = createUploadLocks()
  const first = await locks.acquire('a', stays)
  void locks.acquire('a', stays)
  vi.advanceTimersByTime(60_000)
  first.awaitBytes(10)
  first.finish()
  vi.advanceTimersByTime(60_000)
  expect(first.stopped.aborted).toBe(false)
  expect(locks.requestRelease('a')).toBe(true)
})

test('refuses who waits at an offset that the holder passes, and then ends nobody', async () => {
  const locks = createUploadLocks()
  const first = await locks.acquire('a', stays)
  first.awaitBytes(10)
  const second = locks.acquire('a', { ...stays, offset: 10 })
  first.awaitBytes(20)
  await expect(second).rejects.toMatchObject({ code: 'upload_offset' })
  await expect(locks.acquire('a', { ...stays, offset: 19 })).rejects.toMatchObject({
    code: 'upload_offset'
  })
  vi.advanceTimersByTime(60_000)
  expect(first.stopped.aborted).toBe(false)
})

test('asks a holder for another process: a silent one ends, a live one goes on', async () => {
  const locks = createUploadLocks()
  expect(locks.requestRelease('a')).toBe(false)
  const first = await locks.acquire('a', stays)
  first.awaitBytes(10)
  vi.advanceTimersByTime(400)
  expect(locks.requestRelease('a')).toBe(true)
  expect(first.isActive(401)).toBe(true)
  expect(first.isActive(400)).toBe(false)
  vi.advanceTimersByTime(100)
  expect(locks.requestRelease('a')).toBe(false)
  expect(first.stopped.aborted).toBe(true)
})
