import { AppError } from '../contract/kit/errors.ts'

/** `progress` any number of times, then `done` or `failed`. */
export type WorkerReply<Result> =
  | { kind: 'progress'; bytesDone: number }
  | { kind: 'done'; result: Result }
  | { kind: 'failed'; detail: string }

/** `onProgress` gets the number of bytes that the worker has processed. */
export interface WorkerTaskOptions {
  onProgress?: ((bytesDone: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Tests pass an object with these members instead of a real worker. */
export type PoolWorker = Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>

interface Pool<Message, Result> {
  (message: Message, options?: WorkerTaskOptions): Promise<Result>
  prepare(): void
}

/**
 * At most `max` workers run, each with one message at a time; others wait in order. `prepare()`
 * starts a worker ahead. Aborting `signal` ends the worker, and the call rejects with
 * `Error('terminated')`.
 */
export function createPool<Message, Result>(
  max: number,
  start: () => PoolWorker
): Pool<Message, Result> {
  const idle: PoolWorker[] = []
  // started ahead, and have not answered yet
  const untried = new WeakSet<PoolWorker>()
  const waiting: (() => void)[] = []
  let running = 0

  async function ask(message: Message, options: WorkerTaskOptions = {}): Promise<Result> {
    await waitForSlot(options.signal)
    try {
      if (options.signal?.aborted) throw terminated()
      const tried = idle.pop()
      const worker = tried ?? start()
      const isLoaded = tried !== undefined && !untried.delete(tried)
      const result = await serve<Message, Result>(worker, message, options, isLoaded)
      idle.push(worker)
      return result
    } finally {
      releaseSlot()
    }
  }

  function waitForSlot(signal: AbortSignal | undefined): Promise<void> {
    if (running < max) {
      running += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener('abort', cancel)
        resolve()
      }
      const cancel = () => {
        waiting.splice(waiting.indexOf(proceed), 1)
        reject(terminated())
      }
      waiting.push(proceed)
      signal?.addEventListener('abort', cancel, { once: true })
      if (signal?.aborted) cancel()
    })
  }

  function releaseSlot(): void {
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }

  // its code is then there when the network is not
  function prepare(): void {
    if (running > 0 || idle.length > 0) return
    const worker = start()
    untried.add(worker)
    idle.push(worker)
    worker.onerror = () => {
      worker.terminate()
      if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1)
    }
  }

  return Object.assign(ask, { prepare })
}

function serve<Message, Result>(
  worker: PoolWorker,
  message: Message,
  { onProgress, signal }: WorkerTaskOptions,
  isLoaded: boolean
): Promise<Result> {
  let hasSpoken = isLoaded
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      signal?.removeEventListener('abort', kill)
      worker.terminate()
      reject(error)
    }
    const kill = () => fail(terminated())
    signal?.addEventListener('abort', kill, { once: true })
    worker.onmessage = ({ data }: MessageEvent<WorkerReply<Result>>) => {
      hasSpoken = true
      if (data.kind === 'progress') onProgress?.(data.bytesDone)
      else if (data.kind === 'failed')
        fail(logAndReturnError(new AppError('file_unreadable', data.detail)))
      else {
        signal?.removeEventListener('abort', kill)
        resolve(data.result)
      }
    }
    worker.onerror = event => {
      // a worker that never sent a message could not be loaded, as without a network
      const code = hasSpoken ? 'internal' : 'offline'
      fail(logAndReturnError(new AppError(code, `A worker failed: ${detailOf(event)}`)))
    }
    worker.postMessage(message)
  })
}

export function logAndReturnError(error: AppError): AppError {
  // biome-ignore lint/suspicious/noConsole: the browser's log is where the specification wants it
  console.error(error)
  return error
}

function detailOf(event: Event | string): string {
  if (typeof event === 'string') return event
  return 'message' in event ? String(event.message) : event.type
}

function terminated(): Error {
  return new Error('terminated')
}
