import { AppError } from '../../contract/kit/errors.ts'
import { uploadBusyError } from '../domain/deposits/uploads.ts'

const maxWaiting = 2
// a call that holds a lock is ended if its client sends nothing for so long while another waits
const quietMs = 500

/** Excludes other calls of this process only. */
export interface UploadLock extends Disposable {
  /**
   * Aborted when the call must stop writing, for example because its client sends nothing while
   * another call waits.
   */
  readonly stopped: AbortSignal
  /**
   * Notes that the upload has `offset` bytes, and that the call waits for its client to send more.
   */
  awaitBytes(offset: number): void
  finish(): void
  /** Whether bytes came in the last `ms` milliseconds, or are still being processed. */
  isActive(ms: number): boolean
  hasProgress(): boolean
}

interface AcquireOptions {
  /** The call is refused if the upload already has more bytes. */
  offset?: number
  /** Aborted when the client of the call has disconnected. */
  gone: AbortSignal
}

export interface UploadLocks {
  /**
   * In the order of arrival. Throws `upload_busy` when too many calls wait, and `upload_offset`
   * when the upload already has more bytes than the caller's offset.
   */
  acquire(key: string, options: AcquireOptions): Promise<UploadLock>
  /**
   * Ends the call that holds the lock if its client has sent nothing for `quietMs`. Returns whether
   * that call may continue.
   */
  requestRelease(key: string): boolean
  /** The call that holds the lock then throws `reason`. */
  stop(key: string, reason: AppError): void
}

export function wrongOffsetError(receivedBytes: number): AppError {
  return new AppError('upload_offset', `The upload has ${receivedBytes} bytes`)
}

export function createUploadLocks(): UploadLocks {
  const queues = new Map<string, Queue>()
  return {
    async acquire(key, options) {
      options.gone.throwIfAborted()
      const queue = queues.get(key) ?? new Queue(() => queues.delete(key))
      queues.set(key, queue)
      return queue.enter(options)
    },
    requestRelease: key => queues.get(key)?.requestRelease() ?? false,
    stop: (key, reason) => queues.get(key)?.stop(reason)
  }
}

interface Waiter extends AcquireOptions {
  admit(lock: UploadLock): void
  refuse(error: unknown): void
}

interface Holder {
  stop: AbortController
  /** In milliseconds of `performance.now()`. Undefined while the server processes bytes. */
  waitsSince: number | undefined
  /** Where the call began to write. Undefined before that. */
  from: number | undefined
}

class Queue {
  readonly #onEmpty: () => void
  readonly #waiting: Waiter[] = []
  #holder: Holder | undefined
  #offset = 0
  #timer: NodeJS.Timeout | undefined

  constructor(onEmpty: () => void) {
    this.#onEmpty = onEmpty
  }

  async enter(options: AcquireOptions): Promise<UploadLock> {
    if (!this.#holder) return this.#hold()
    if (this.#isPassed(options)) throw wrongOffsetError(this.#offset)
    if (this.#waiting.length >= maxWaiting) throw uploadBusyError()
    return new Promise((admit, reject) => {
      const leave = () => waiter.refuse(options.gone.reason)
      const done = () => {
        options.gone.removeEventListener('abort', leave)
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      }
      const waiter: Waiter = {
        ...options,
        admit(lock) {
          done()
          admit(lock)
        },
        refuse(error) {
          done()
          reject(error)
        }
      }
      options.gone.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiter)
      this.#watch()
    })
  }

  requestRelease(): boolean {
    if (!this.#holder) return false
    if (this.#silentMs() >= quietMs) this.stop()
    return !this.#holder.stop.signal.aborted
  }

  stop(reason = uploadBusyError()): void {
    this.#holder?.stop.abort(reason)
  }

  #hold(): UploadLock {
    const holder: Holder = { stop: new AbortController(), waitsSince: undefined, from: undefined }
    this.#holder = holder
    return {
      stopped: holder.stop.signal,
      awaitBytes: offset => {
        holder.waitsSince = performance.now()
        holder.from ??= offset
        this.#offset = offset
        if (this.#waiting.length === 0) return
        for (const waiter of this.#waiting.filter(each => this.#isPassed(each))) {
          waiter.refuse(wrongOffsetError(offset))
        }
        this.#watch()
      },
      finish() {
        holder.waitsSince = undefined
      },
      isActive: ms => this.#silentMs() < ms,
      hasProgress: () => holder.from !== undefined && this.#offset > holder.from,
      [Symbol.dispose]: () => this.#release()
    }
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#holder = undefined
    const [next] = this.#waiting
    if (next) next.admit(this.#hold())
    else this.#onEmpty()
  }

  #watch(): void {
    if (this.#timer || this.#waiting.length === 0 || this.#holder?.waitsSince === undefined) return
    const left = quietMs - this.#silentMs()
    if (left <= 0) {
      this.stop()
      return
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#watch()
    }, left)
  }

  #silentMs(): number {
    const since = this.#holder?.waitsSince
    return since === undefined ? 0 : performance.now() - since
  }

  #isPassed({ offset }: AcquireOptions): boolean {
    return offset !== undefined && offset < this.#offset
  }
}
