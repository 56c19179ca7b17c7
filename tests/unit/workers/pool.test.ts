import { expect, onTestFinished, test, vi } from 'vitest'
import { createPool, type PoolWorker, type WorkerReply } from '../../../src/workers/pool.ts'

class FakeWorker implements PoolWorker {
  onmessage: PoolWorker['onmessage'] = null
  onerror: PoolWorker['onerror'] = null
  asked: unknown[] = []
  ended = false
  postMessage(message: unknown): void {
    this.asked.push(message)
  }
  terminate(): void {
    this.ended = true
  }
  fail(): void {
    const event = new Event('error') as ErrorEvent // as: what a script that cannot load gives
    this.onerror?.call(this as unknown as Worker, event) // as: the pool never reads `this`
  }
  say(answer: WorkerReply<string>): void {
    const event = new MessageEvent('message', { data: answer })
    this.onmessage?.call(this as unknown as Worker, event) // as: the pool never reads `this`
  }
}

function makePool(max: number) {
  const workers: FakeWorker[] = []
  const ask = createPool<string, string>(max, () => {
    const worker = new FakeWorker()
    workers.push(worker)
    return worker
  })
  const worker = (index: number): FakeWorker => {
    const found = workers[index]
    if (!found) throw new Error(`No worker ${index} was started`)
    return found
  }
  return { ask, workers, worker }
}

test('serves two at once, the rest in order, with the same two workers', async () => {
  const { ask, workers, worker } = makePool(2)
  const answers = [ask('a'), ask('b'), ask('c'), ask('d')]
  await vi.waitFor(() => expect(workers).toHaveLength(2))
  worker(1).say({ kind: 'done', result: 'B' })
  await vi.waitFor(() => expect(worker(1).asked).toEqual(['b', 'c']))
  worker(0).say({ kind: 'done', result: 'A' })
  await vi.waitFor(() => expect(worker(0).asked).toEqual(['a', 'd']))
  worker(0).say({ kind: 'done', result: 'D' })
  worker(1).say({ kind: 'done', result: 'C' })
  expect(await Promise.all(answers)).toEqual(['A', 'B', 'C', 'D'])
  expect(workers).toHaveLength(2)
})

test('passes progress on', async () => {
  const { ask, worker } = makePool(1)
  const told: number[] = []
  const answer = ask('a', { onProgress: bytesDone => told.push(bytesDone) })
  await vi.waitFor(() => expect(worker(0).asked).toHaveLength(1))
  worker(0).say({ kind: 'progress', bytesDone: 7 })
  worker(0).say({ kind: 'done', result: 'A' })
  expect(await answer).toBe('A')
  expect(told).toEqual([7])
})

test('rejects with terminated when killed, and serves the next with a new worker', async () => {
  const { ask, workers, worker } = makePool(1)
  const stop = new AbortController()
  const killed = ask('a', { signal: stop.signal })
  const next = ask('b')
  await vi.waitFor(() => expect(workers).toHaveLength(1))
  stop.abort()
  await expect(killed).rejects.toThrow('terminated')
  expect(worker(0).ended).toBe(true)
  await vi.waitFor(() => expect(workers).toHaveLength(2))
  worker(1).say({ kind: 'done', result: 'B' })
  expect(await next).toBe('B')
})

test('forgets whoever gives up while waiting', async () => {
  const { ask, worker } = makePool(1)
  const stop = new AbortController()
  const first = ask('a')
  const second = ask('b', { signal: stop.signal })
  const third = ask('c')
  stop.abort()
  await expect(second).rejects.toThrow('terminated')
  await vi.waitFor(() => expect(worker(0).asked).toEqual(['a']))
  worker(0).say({ kind: 'done', result: 'A' })
  await first
  await vi.waitFor(() => expect(worker(0).asked).toEqual(['a', 'c']))
  worker(0).say({ kind: 'done', result: 'C' })
  expect(await third).toBe('C')
})

test('logs what a worker fails with, and nothing of one that is killed', async () => {
  const log = quieten()
  const { ask, worker } = makePool(1)
  const stop = new AbortController()
  const killed = ask('a', { signal: stop.signal })
  await vi.waitFor(() => expect(worker(0).asked).toHaveLength(1))
  stop.abort()
  await expect(killed).rejects.toThrow('terminated')
  expect(log).not.toHaveBeenCalled()
  const failed = ask('b')
  await vi.waitFor(() => expect(worker(1).asked).toHaveLength(1))
  worker(1).fail()
  await expect(failed).rejects.toMatchObject({ code: 'offline' })
  expect(log.mock.calls).toEqual([[expect.objectContaining({ code: 'offline' })]])
})

test('names an unreadable file by its code', async () => {
  quieten()
  const { ask, worker } = makePool(1)
  const answer = ask('a')
  await vi.waitFor(() => expect(worker(0).asked).toHaveLength(1))
  worker(0).say({ kind: 'failed', detail: 'NotReadableError' })
  await expect(answer).rejects.toMatchObject({ code: 'file_unreadable' })
})

test('says offline of a worker that never spoke, and internal of one that did', async () => {
  quieten()
  const { ask, worker } = makePool(1)
  const first = ask('a')
  await vi.waitFor(() => expect(worker(0).asked).toHaveLength(1))
  worker(0).fail()
  await expect(first).rejects.toMatchObject({ code: 'offline' })
  const second = ask('b')
  await vi.waitFor(() => expect(worker(1).asked).toHaveLength(1))
  worker(1).say({ kind: 'progress', bytesDone: 1 })
  worker(1).fail()
  await expect(second).rejects.toMatchObject({ code: 'internal' })
  const third = ask('c')
  await vi.waitFor(() => expect(worker(2).asked).toHaveLength(1))
  worker(2).say({ kind: 'done', result: 'C' })
  await third
  const fourth = ask('d')
  await vi.waitFor(() => expect(worker(2).asked).toHaveLength(2))
  worker(2).fail()
  await expect(fourth).rejects.toMatchObject({ code: 'internal' })
})

/** Replaces `console.error`, so that expected errors are not printed. */
function quieten() {
  const log = vi.spyOn(console, 'error').mockReturnValue()
  onTestFinished(() => log.mockRestore())
  return log
}

test('starts a worker ahead, and forgets one that could not be loaded', async () => {
  const { ask, workers, worker } = makePool(2)
  ask.prepare()
  ask.prepare()
  expect(workers).toHaveLength(1)
  const first = ask('a')
  await vi.waitFor(() => expect(worker(0).asked).toEqual(['a']))
  worker(0).say({ kind: 'done', result: 'A' })
  expect(await first).toBe('A')
  expect(workers).toHaveLength(1)

  const lost = makePool(2)
  vi.spyOn(console, 'error').mockReturnValue()
  lost.ask.prepare()
  lost.worker(0).fail()
  expect(lost.worker(0).ended).toBe(true)
  lost.ask.prepare()
  const asked = lost.ask('b')
  await vi.waitFor(() => expect(lost.worker(1).asked).toEqual(['b']))
  lost.worker(1).fail()
  await expect(asked).rejects.toMatchObject({ code: 'offline' })
})
