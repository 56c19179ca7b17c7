import { activityWindowMs, type CompanyActivityTracker } from '../../core/active-companies.ts'

/**
 * The name of a consumer: a party that gets a share of the database connections. It is the id of a
 * company, `background of <id>` for the long background work of a company, or
 * `consumerForNoCompany`.
 */
export type ConnectionConsumer = string

/**
 * The consumer for all transactions that belong to no company, such as those that look up a host or
 * list the companies. The allocator treats it like one company.
 */
export const consumerForNoCompany: ConnectionConsumer = 'platform'

/** What a transaction states when it asks the allocator for a database connection. */
export interface ConnectionRequestOptions {
  /**
   * Whether the transaction is a search, an export or another long read. All long reads together
   * get only a few connections.
   */
  isHeavy?: boolean
  /**
   * Whether the transaction is a step of background work that may last long, such as the run of an
   * import. Its connection does not count as one of the company's, so the company's calls need not
   * wait for it. The background work must itself limit the number of such transactions.
   */
  isBackground?: boolean
  /**
   * The client that waits for the HTTP response. When the client disconnects, the transaction no
   * longer waits for a connection.
   */
  caller?: WaitingClient | undefined
  /**
   * The longest time that the transaction waits for a connection, in milliseconds; 5 seconds by
   * default.
   */
  waitMs?: number | undefined
}

/**
 * A client that waits for an HTTP response. Node's response object fits this type: it emits `close`
 * when the client disconnects.
 */
export interface WaitingClient {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

interface Options {
  /**
   * The number of connections, apart from those of `reserve`. A company may hold all of them while
   * no other company is active.
   */
  size: number
  /**
   * The number of further connections, in addition to `size`. Only consumers that hold no
   * connection get them. Background work never gets them.
   */
  reserve: number
  /** Maximum number of connections that the long reads of all consumers hold together. */
  heavy: number
  /**
   * Maximum number of connections that one company may hold while other companies are active: for
   * short transactions (`usual`) and for long reads (`heavy`).
   */
  whenContended: { usual: number; heavy: number }
  /** The companies with an HTTP request within the last second. Only these count as active. */
  present: Pick<CompanyActivityTracker, 'hasOthers'>
  waitMs: number
}

/** The right to use one connection until `release` is called. */
export interface ConnectionSlot {
  /**
   * Whether other companies were active when the connection was given out. A long read then uses
   * smaller pages.
   */
  readonly isContended: boolean
  release(): void
}

interface Waiting {
  slot: Slot
  serve(): void
}

/**
 * The connections that a consumer uses now, and its transactions that wait for a connection.
 * Deleted when the consumer has neither.
 */
interface Account {
  isBackground: boolean
  /**
   * A number from a counter, taken when the consumer first asks for a connection and replaced each
   * time it gets one. Of several consumers that hold the same number of connections, the one with
   * the lowest number is served first.
   */
  turn: number
  /** The number of connections that the consumer holds, including those of long reads. */
  held: number
  heldHeavy: number
  /**
   * The consumer's short transactions that wait for a connection, in the order of their arrival.
   */
  usual: Waiting[]
  /** The consumer's long reads that wait for a connection, in the order of their arrival. */
  heavy: Waiting[]
}

/**
 * Divides the connections between companies.
 * - A free connection is given out immediately, so a company may hold all of them while no other
 *   company is active.
 * - While other companies are active, a company holds at most the number in `whenContended`. More
 *   would slow the other companies down.
 * - Of several waiting companies, the next connection goes to the company that holds the fewest. If
 *   several hold the same number, it goes to the company that got its last connection the longest
 *   time ago.
 * - A few connections are reserved for companies that hold none, so that these need not wait for
 *   the transactions of another company.
 * - The long background work of a company counts as a separate consumer. It limits its own number
 *   of transactions, so `whenContended` does not apply to it. It never gets a reserved connection.
 */
export class ConnectionAllocator {
  readonly #options: Options
  readonly #accounts = new Map<ConnectionConsumer, Account>()
  #recheck: NodeJS.Timeout | undefined
  #held = 0
  #heldHeavy = 0
  #turns = 0
  #waiting = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** The number of transactions that wait for a connection. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Returns a slot, which is the right to use a connection, or a promise of a slot if no connection
   * is free. The promise rejects with `WaitedTooLong` after the longest waiting time, and with
   * `HttpClientDisconnected` when the client disconnects.
   */
  take(
    company: ConnectionConsumer,
    options: ConnectionRequestOptions = {}
  ): ConnectionSlot | Promise<ConnectionSlot> {
    const { isHeavy = false, isBackground = false } = options
    const consumer = isBackground ? `background of ${company}` : company
    const account = this.#accountOf(consumer, isBackground)
    const slot = new Slot(this, consumer, account, isHeavy)
    const queue = queueOf(account, isHeavy)
    if (queue.length === 0 && this.#isFree(consumer, account, isHeavy)) {
      this.#give(slot)
      return slot
    }
    return this.#wait(slot, queue, options)
  }

  /**
   * Takes back the connection of a slot and gives it to the next waiting transaction. Only `Slot`
   * calls this method.
   */
  release({ consumer, account, isHeavy }: Slot): void {
    this.#held--
    account.held--
    if (isHeavy) {
      this.#heldHeavy--
      account.heldHeavy--
    }
    this.#forget(consumer, account)
    this.#serve()
  }

  #serve(): void {
    while (this.#waiting > 0 && this.#serveNext());
    // A company that waits because others were active may get a connection when they stop being
    // active, even though nobody has released one. So the queues are checked again after a second.
    if (this.#waiting === 0 || this.#recheck) return
    this.#recheck = setTimeout(() => {
      this.#recheck = undefined
      this.#serve()
    }, activityWindowMs)
    this.#recheck.unref()
  }

  #accountOf(consumer: ConnectionConsumer, isBackground: boolean): Account {
    const found = this.#accounts.get(consumer)
    if (found) return found
    const turn = this.#turns++
    const account = { isBackground, turn, held: 0, heldHeavy: 0, usual: [], heavy: [] }
    this.#accounts.set(consumer, account)
    return account
  }

  #isFree(consumer: ConnectionConsumer, account: Account, isHeavy: boolean): boolean {
    const { size, reserve, heavy, whenContended } = this.#options
    if (isHeavy && this.#heldHeavy >= heavy) return false
    if (!account.isBackground && this.#options.present.hasOthers(consumer)) {
      const { held, heldHeavy } = account
      const isFull = isHeavy
        ? heldHeavy >= whenContended.heavy
        : held - heldHeavy >= whenContended.usual
      if (isFull) return false
    }
    const mayUseReserve = account.held === 0 && !account.isBackground
    return this.#held < (mayUseReserve ? size + reserve : size)
  }

  #give(slot: Slot): void {
    const { consumer, account, isHeavy } = slot
    slot.isContended = this.#options.present.hasOthers(consumer)
    account.turn = this.#turns++
    this.#held++
    account.held++
    if (!isHeavy) return
    this.#heldHeavy++
    account.heldHeavy++
  }

  #wait(slot: Slot, queue: Waiting[], options: ConnectionRequestOptions): Promise<ConnectionSlot> {
    const { caller, waitMs = this.#options.waitMs } = options
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        caller?.off('close', leave)
        this.#waiting--
      }
      const give = (error: Error) => {
        const at = queue.indexOf(waiting)
        if (at < 0) return // it was served meanwhile
        queue.splice(at, 1)
        stop()
        this.#forget(slot.consumer, slot.account)
        reject(error)
      }
      const leave = () => give(new HttpClientDisconnected())
      const waiting: Waiting = {
        slot,
        serve: () => {
          stop()
          resolve(slot)
        }
      }
      const timer = setTimeout(() => give(new WaitedTooLong()), waitMs)
      // before `#serve`, which may serve this transaction and must then remove the listener
      caller?.once('close', leave)
      this.#waiting++
      queue.push(waiting)
      if (caller?.destroyed) leave()
      else this.#serve()
    })
  }

  #serveNext(): boolean {
    const usual = this.#next(false, account => account.held)
    const heavy = this.#next(true, account => account.heldHeavy)
    const [next] = [usual, heavy].filter(each => each !== undefined).sort(byNeed)
    if (!next) return false
    const { account, isHeavy } = next.slot
    queueOf(account, isHeavy).shift()
    this.#give(next.slot)
    next.serve()
    return true
  }

  /**
   * Returns the transaction that gets the next connection: a long read if `isHeavy`, otherwise a
   * short transaction. `holds` counts the connections of a consumer; the consumer with the fewest
   * is served first. Returns undefined if no waiting transaction may get a connection now.
   */
  #next(isHeavy: boolean, holds: (account: Account) => number): Waiting | undefined {
    let best: Account | undefined
    for (const [consumer, account] of this.#accounts) {
      if (queueOf(account, isHeavy).length === 0) continue
      if (!this.#isFree(consumer, account, isHeavy)) continue
      const more = best ? holds(account) - holds(best) : -1
      if (!best || more < 0 || (more === 0 && account.turn < best.turn)) best = account
    }
    return best && queueOf(best, isHeavy)[0]
  }

  #forget(consumer: ConnectionConsumer, account: Account): void {
    const isIdle = account.held === 0 && account.usual.length + account.heavy.length === 0
    if (isIdle) this.#accounts.delete(consumer)
  }
}

class Slot implements ConnectionSlot {
  readonly consumer: ConnectionConsumer
  readonly account: Account
  readonly isHeavy: boolean
  isContended = false
  readonly #allocator: ConnectionAllocator

  constructor(
    allocator: ConnectionAllocator,
    consumer: ConnectionConsumer,
    account: Account,
    isHeavy: boolean
  ) {
    this.#allocator = allocator
    this.consumer = consumer
    this.account = account
    this.isHeavy = isHeavy
  }

  release(): void {
    this.#allocator.release(this)
  }
}

/**
 * PostgreSQL's code `too_many_connections`. `HttpClientDisconnected` and `WaitedTooLong` have it
 * too, so that they are handled like the error of PostgreSQL itself.
 */
const tooManyConnections = '53300'

/**
 * Thrown when the client of a call disconnects while the call waits for a connection to PostgreSQL.
 * It has the code of PostgreSQL's error `too_many_connections`, so that both are handled alike.
 */
export class HttpClientDisconnected extends Error {
  readonly code = tooManyConnections

  constructor() {
    super('the caller has gone')
  }
}

class WaitedTooLong extends Error {
  readonly code = tooManyConnections

  constructor() {
    super('timeout exceeded when waiting for a connection')
  }
}

function queueOf(account: Account, isHeavy: boolean): Waiting[] {
  return isHeavy ? account.heavy : account.usual
}

/**
 * Compares two waiting transactions for sorting. The transaction whose consumer holds fewer
 * connections comes first. If both consumers hold the same number, the transaction whose consumer
 * got its last connection earlier comes first.
 */
function byNeed({ slot: { account: a } }: Waiting, { slot: { account: b } }: Waiting): number {
  return a.held - b.held || a.turn - b.turn
}
