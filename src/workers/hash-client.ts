import { AppError } from '../contract/errors.ts'

export type HashAnswer =
  | { kind: 'progress'; bytesDone: number }
  | { kind: 'done'; sha256: string }
  | { kind: 'failed'; detail: string }

export interface HashOptions {
  onProgress?: (bytesDone: number) => void
  signal?: AbortSignal | undefined
}

export type HashFile = (file: Blob, options?: HashOptions) => Promise<string>

/** Two files at once: one disk and a phone's cores gain nothing from more. */
const maxWorkers = 2

/**
 * Hex SHA-256 of a file, computed in a worker; further files wait for one of two workers. Rejects
 * with `file_unreadable`, or with `Error('terminated')` once `signal` has killed the worker.
 */
export const hashFile: HashFile = createHashPool(
  () => new Worker(new URL('./hash.ts', import.meta.url), { type: 'module' })
)

/** What the pool needs of a `Worker`. */
export type HashWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

export function createHashPool(startWorker: () => HashWorker): HashFile {
  const idle: HashWorker[] = []
  const waiting: (() => void)[] = []
  let running = 0

  async function hash(file: Blob, options: HashOptions = {}): Promise<string> {
    await enter(options.signal)
    try {
      if (options.signal?.aborted) throw terminated()
      const worker = idle.pop() ?? startWorker()
      const sha256 = await run(worker, file, options)
      idle.push(worker)
      return sha256
    } finally {
      leave()
    }
  }

  function enter(signal: AbortSignal | undefined): Promise<void> {
    if (running < maxWorkers) {
      running += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', give)
        resolve()
      }
      const give = () => {
        waiting.splice(waiting.indexOf(go), 1)
        reject(terminated())
      }
      waiting.push(go)
      signal?.addEventListener('abort', give, { once: true })
      if (signal?.aborted) give()
    })
  }

  /** Hands the place to whoever waits longest, so that a newcomer cannot take it in between. */
  function leave(): void {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }

  return hash
}

function run(worker: HashWorker, file: Blob, { onProgress, signal }: HashOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      signal?.removeEventListener('abort', kill)
      worker.terminate()
      reject(error)
    }
    const kill = () => fail(terminated())
    signal?.addEventListener('abort', kill, { once: true })
    worker.onmessage = ({ data }: MessageEvent<HashAnswer>) => {
      if (data.kind === 'progress') onProgress?.(data.bytesDone)
      else if (data.kind === 'failed') fail(new AppError('file_unreadable', data.detail))
      else {
        signal?.removeEventListener('abort', kill)
        resolve(data.sha256)
      }
    }
    worker.onerror = event => {
      fail(new AppError('internal', `The hash worker failed: ${messageOf(event)}`))
    }
    worker.postMessage(file)
  })
}

function messageOf(event: Event | string): string {
  return typeof event === 'string' ? event : 'message' in event ? String(event.message) : event.type
}

function terminated(): Error {
  return new Error('terminated')
}
