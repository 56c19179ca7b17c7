import { createHash, randomBytes } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { createBufferFiller } from '../../../src/workers/buffer-filler.ts'
import { fingerprintInPieces } from '../../../src/workers/fingerprint.ts'
import type { PoolWorker } from '../../../src/workers/pool.ts'
import type { ReadWorkerReply, ReadWorkerRequest } from '../../../src/workers/read.ts'
import { createPieceReader } from '../../../src/workers/read-client.ts'

const megabyte = 1024 * 1024

/** Creates a read worker that runs in the thread of the test. */
function makeWorker({
  failsAfter = Number.POSITIVE_INFINITY,
  diesAfter = Number.POSITIVE_INFINITY,
  isSilent = false,
  loads = true
} = {}) {
  let fill: ReturnType<typeof createBufferFiller> | undefined
  let turn = Promise.resolve()
  let filled = 0
  const worker = {
    onmessage: null as PoolWorker['onmessage'],
    onerror: null as PoolWorker['onerror'],
    ended: false,
    postMessage(message: ReadWorkerRequest) {
      if ('file' in message) fill = createBufferFiller(message.file)
      else turn = turn.then(() => serve(message.buffer))
    },
    terminate() {
      worker.ended = true
    }
  }
  async function serve(buffer: ArrayBuffer): Promise<void> {
    filled += 1
    if (filled > diesAfter) {
      const event = new Event('error') as ErrorEvent // as: what an uncaught fault gives
      if (!isSilent && filled === diesAfter + 1)
        worker.onerror?.call(worker as unknown as Worker, event) // as: nobody reads `this`
      return
    }
    if (filled > failsAfter || !fill) return say({ kind: 'failed', detail: 'NotReadableError' })
    say({ kind: 'filled', ...(await fill(buffer)) })
  }
  function say(data: ReadWorkerReply): void {
    const event = new MessageEvent('message', { data })
    worker.onmessage?.call(worker as unknown as Worker, event) // as: nobody reads `this`
  }
  queueMicrotask(() => {
    const event = new Event('error') as ErrorEvent // as: what a script that cannot load gives
    if (loads) say({ kind: 'ready' })
    else worker.onerror?.call(worker as unknown as Worker, event) // as: nobody reads `this`
  })
  return worker
}

function makeReader(options?: Parameters<typeof makeWorker>[0]) {
  const workers: ReturnType<typeof makeWorker>[] = []
  const read = createPieceReader(() => {
    const worker = makeWorker(options)
    workers.push(worker)
    return worker
  })
  return { read, workers }
}

function makeFile(size: number) {
  const bytes = randomBytes(size)
  return { file: new Blob([bytes]), sha256: createHash('sha256').update(bytes).digest('hex') }
}

test.each([8 * megabyte, 8 * megabyte + 1, 11 * megabyte - 1, 20 * megabyte])(
  'hands over every byte of a file of %d in order, file after file',
  async size => {
    const { read, workers } = makeReader()
    for (const { file, sha256 } of [makeFile(size), makeFile(size)]) {
      expect(await fingerprintInPieces(file, { read })).toBe(sha256)
    }
    expect(workers).toHaveLength(1)
  }
)

test('reads small files without another worker', async () => {
  const { read, workers } = makeReader()
  const { file, sha256 } = makeFile(8 * megabyte - 1)
  expect(await fingerprintInPieces(file, { read })).toBe(sha256)
  expect(workers).toHaveLength(0)
})

test('reads by itself where the worker cannot be loaded', async () => {
  const { read } = makeReader({ loads: false })
  const { file, sha256 } = makeFile(9 * megabyte)
  expect(await fingerprintInPieces(file, { read })).toBe(sha256)
})

test('fails with a file that can no longer be read, and reads the next with a new worker', async () => {
  const broken = makeReader({ failsAfter: 6 })
  const { file } = makeFile(20 * megabyte)
  await expect(fingerprintInPieces(file, { read: broken.read })).rejects.toThrow('NotReadableError')
  expect(broken.workers.map(({ ended }) => ended)).toEqual([true])
  await expect(fingerprintInPieces(file, { read: broken.read })).rejects.toThrow('NotReadableError')
  expect(broken.workers).toHaveLength(2)
})

test('fills from slices where streams fill no buffers', async () => {
  const { read } = makeReader()
  const { file, sha256 } = makeFile(9 * megabyte + 5)
  file.stream = () => {
    throw new TypeError('no byte stream')
  }
  expect(await fingerprintInPieces(file, { read })).toBe(sha256)
})

test('reads on by itself where the worker dies, and starts another one for the next file', async () => {
  const { read, workers } = makeReader({ diesAfter: 5 })
  for (const size of [11 * megabyte, 12 * megabyte - 1]) {
    const { file, sha256 } = makeFile(size)
    expect(await fingerprintInPieces(file, { read })).toBe(sha256)
  }
  expect(workers.map(({ ended }) => ended)).toEqual([true, true])
})

test('takes a worker for dead that says nothing for half a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const { read, workers } = makeReader({ diesAfter: 5, isSilent: true })
    const { file, sha256 } = makeFile(11 * megabyte)
    const found = fingerprintInPieces(file, { read })
    await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await found).toBe(sha256)
    expect(workers[0]?.ended).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})
