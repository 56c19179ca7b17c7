import { readInPieces } from './fingerprint.ts'
import type { PoolWorker } from './pool.ts'
import type { ReadWorkerReply, ReadWorkerRequest } from './read.ts'

// the hash worker reads smaller files itself, because messages would take longer
const aloneBytes = 8 * 1024 * 1024
const pieceBytes = 1024 * 1024
// one being hashed, one being filled, and one on its way in each direction
const bufferCount = 4
// browsers do not always report the end of a worker; reading a piece takes a few milliseconds
const silenceMs = 30_000

/**
 * A second worker reads large files, so that the hash worker only hashes. If it dies, the hash
 * worker reads the rest itself.
 */
export function createPieceReader(start: () => PoolWorker = startWorker): (file: Blob) => Pieces {
  let started: Promise<PoolWorker> | undefined

  async function* read(file: Blob): Pieces {
    if (file.size < aloneBytes) return yield* readInPieces(file)
    started ??= ready(start)
    const worker = await started.catch(() => undefined)
    if (!worker) return yield* readInPieces(file)
    let isWhole = false
    let done = 0
    try {
      for await (const bytes of readWith(worker, file)) {
        done += bytes.length
        yield bytes
      }
      isWhole = true
    } catch (error) {
      if (!(error instanceof WorkerDied)) throw error
    } finally {
      if (!isWhole) {
        // buffers of this file are still on their way
        worker.terminate()
        started = undefined
      }
    }
    if (!isWhole) yield* readInPieces(file.slice(done))
  }

  return read
}

type Pieces = AsyncGenerator<Uint8Array, void>

async function* readWith(worker: PoolWorker, file: Blob): Pieces {
  const arrived: (ReadWorkerReply | { kind: 'died' })[] = []
  let hear = () => {}
  const take = (reply: ReadWorkerReply | { kind: 'died' }) => {
    arrived.push(reply)
    hear()
  }
  worker.onmessage = ({ data }: MessageEvent<ReadWorkerReply>) => take(data)
  worker.onerror = () => take({ kind: 'died' })
  const ask = (request: ReadWorkerRequest, transfer: Transferable[] = []) =>
    worker.postMessage(request, transfer)
  ask({ file })
  let out = bufferCount
  let silence: ReturnType<typeof setTimeout> | undefined
  for (let count = 0; count < bufferCount; count++) {
    const buffer = new ArrayBuffer(pieceBytes)
    ask({ buffer }, [buffer])
  }
  while (out > 0) {
    const next = arrived.shift()
    if (!next) {
      await new Promise<void>(resolve => {
        hear = resolve
        silence = setTimeout(() => take({ kind: 'died' }), silenceMs)
      })
      clearTimeout(silence)
    } else if (next.kind === 'died') throw new WorkerDied()
    else if (next.kind === 'failed') throw new Error(next.detail)
    else if (next.kind === 'filled' && next.length === 0) out -= 1
    else if (next.kind === 'filled') {
      const { buffer, length } = next
      yield new Uint8Array(buffer, 0, length)
      ask({ buffer }, [buffer])
    }
  }
}

class WorkerDied extends Error {}

// after its first message, which says that it has been loaded
function ready(start: () => PoolWorker): Promise<PoolWorker> {
  return new Promise((resolve, reject) => {
    const worker = start()
    worker.onmessage = () => resolve(worker)
    worker.onerror = () => reject(new Error('The reading worker failed'))
  })
}

function startWorker(): PoolWorker {
  return new Worker(new URL('./read.ts', import.meta.url), { type: 'module' })
}
