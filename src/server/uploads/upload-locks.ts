import { AppError } from '../../contract/kit/errors.ts'
import { uploadBusyError } from '../domain/deposits/uploads.ts'

/** Maximum number of calls that may wait for the lock of one upload. Further calls are refused. */
const maxWaiting = 2
/**
 * A call that holds a lock is ended if its client sends nothing for this many milliseconds while
 * another call waits for the lock.
 */
const quietMs = 500

/**
 * The right of one call to write the bytes of an upload. The lock only excludes other calls of the
 * same process.
 */
export interface UploadLock extends Disposable {
  /**
   * Aborted when the call that holds the lock must stop writing, for example because its client
   * sends nothing while another call waits.
   */
  readonly stopped: AbortSignal
  /**
   * Notes that the upload now has `offset` bytes, and that the call waits for its client to send
   * more.
   */
  awaitBytes(offset: number): void
  /** Ends what `awaitBytes` has begun: the call no longer waits for bytes of its client. */
  finish(): void
  /**
   * Returns whether the client of this call has sent bytes in the last `ms` milliseconds, or the
   * server is still processing bytes of this client.
   */
  isActive(ms: number): boolean
  /** Returns whether the call that holds this lock has written any bytes. */
  hasProgress(): boolean
}

interface AcquireOptions {
  /**
   * The position at which the call wants to write. The call is refused if the upload already has
   * more bytes.
   */
  offset?: number
  /** Aborted when the client of the call has disconnected. */
  gone: AbortSignal
}

export interface UploadLocks {
  /**
   * Waits for the lock of the upload `key`. Calls get the lock in the order of their arrival.
   * Throws `upload_busy` when too many calls wait. Throws `upload_offset` when the upload already
   * has more bytes than the caller's offset.
   */
  acquire(key: string, options: AcquireOptions): Promise<UploadLock>
  /**
   * Ends the call that holds the lock of the upload `key` if its client has sent nothing for
   * `quietMs` milliseconds. Returns true if that call may continue, and false if it is ended or if
   * no call holds the lock.
   */
  requestRelease(key: string): boolean
  /** Ends the call that holds the lock of the upload `key`. That call then throws `reason`. */
  stop(key: string, reason: AppError): void
}

/**
 * Returns the error for a call that wants to write at the wrong position of an upload.
 * `receivedBytes` is the number of bytes that the upload has.
 */
export function wrongOffsetError(receivedBytes: number): AppError {
  return new AppError('upload_offset', `The upload has ${receivedBytes} bytes`)
}

/** Creates the upload locks of this process. */
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
  /**
   * When the call began to wait for bytes of its client, in milliseconds of `performance.now()`.
   * Undefined while the server processes bytes.
   */
  waitsSince: number | undefined
  /** The position at which the call began to write. Undefined before that. */
  from: number | undefined
}

/** The call that holds the lock of an upload, and the calls that wait for it. */
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

  /**
   * While another call waits for the lock: ends the call that holds it as soon as its client has
   * sent nothing for `quietMs`. Does nothing if no call waits, or while the server processes bytes.
   */
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
