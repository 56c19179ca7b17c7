import { type ActiveCompanies, activeMs } from '../../core/active-companies.ts'

/**
 * Names who uses a database connection: the id of a company, the long background work of a company,
 * or `noCompany`.
 */
export type ConnectionUser = string

/**
 * The user of connections that serve no single company, such as those of host look-ups and jobs. It
 * gets a share of the connections as if it were a company.
 */
export const noCompany: ConnectionUser = 'platform'

/** How a transaction waits for a database connection. */
export interface ConnectionOptions {
  /**
   * Whether the transaction is a search, an export or another long read. All long reads together
   * get only a few connections.
   */
  isHeavy?: boolean
  /**
   * Whether the transaction is a step of background work that may last long, such as the run of an
   * import. It does not count as a connection of its company, so the company's calls need not wait
   * for its end. The background work must itself limit the number of such transactions.
   */
  isBackground?: boolean
  /**
   * The HTTP response of the client for whom the transaction runs. When the client disconnects, the
   * transaction no longer waits for a connection.
   */
  caller?: WaitingClient | undefined
  /**
   * The longest time that the transaction waits for a connection, in milliseconds; 5 seconds by
   * default.
   */
  waitMs?: number | undefined
}

/** The HTTP response of a client, which may disconnect before it gets the response. */
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
   * The number of additional connections. Only users that hold no other connection can get them.
   */
  reserve: number
  /** The most connections that the long reads of all users hold together. */
  heavy: number
  /**
   * The most connections that one company may hold while other companies are active: for short
   * transactions (`usual`) and for long reads (`heavy`).
   */
  whenContended: { usual: number; heavy: number }
  /** The companies that made a call within the last second. Only these count as active. */
  present: Pick<ActiveCompanies, 'hasOthers'>
  /**
   * The longest time that a transaction waits for a connection, in milliseconds, unless it sets its
   * own limit.
   */
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
 * The connections that a user holds, and its transactions that wait for one. Deleted when the user
 * has neither.
 */
interface Account {
  /** Whether the user is the background work of a company. */
  isBackground: boolean
  /**
   * The number of the turn in which the user last got a connection. Each connection that is given
   * out is one turn.
   */
  turn: number
  /** The number of connections that the user holds, including those of long reads. */
  held: number
  /** The number of connections that the user holds for long reads. */
  heldHeavy: number
  /** The user's short transactions that wait for a connection, in the order of their arrival. */
  usual: Waiting[]
  /** The user's long reads that wait for a connection, in the order of their arrival. */
  heavy: Waiting[]
}

/**
 * Divides the connections between companies.
 * - A free connection is given out immediately, so a company may hold all of them while no other is
 *   active.
 * - While other companies are active, a company holds at most as many as the machine has cores.
 *   More would slow the other companies down.
 * - Of several waiting companies, the next connection goes to the one that holds the fewest. Among
 *   equals it goes to the one that got its last connection the longest time ago.
 * - A few connections are reserved for companies that hold none, so that these need not wait for
 *   the transactions of another company.
 * - The long background work of a company counts as a user of its own. Because it limits itself, it
 *   gets a connection also while other companies are active, but never a reserved one.
 */
export class ConnectionShares {
  readonly #options: Options
  readonly #accounts = new Map<ConnectionUser, Account>()
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
   * Returns the right to use a connection, or a promise of it if none is free. The promise rejects
   * with `WaitedTooLong` after the longest waiting time, and with `ClientDisconnected` when the
   * client disconnects.
   */
  take(
    company: ConnectionUser,
    options: ConnectionOptions = {}
  ): ConnectionSlot | Promise<ConnectionSlot> {
    const { isHeavy = false, isBackground = false } = options
    const user = isBackground ? `background of ${company}` : company
    const account = this.#accountOf(user, isBackground)
    const slot = new Slot(this, user, account, isHeavy)
    const queue = queueOf(account, isHeavy)
    if (queue.length === 0 && this.#isFree(user, account, isHeavy)) {
      this.#give(slot)
      return slot
    }
    return this.#wait(slot, queue, options)
  }

  /**
   * Takes back the connection of `slot` and gives it to the next waiting transaction. Only `Slot`
   * calls this method.
   */
  release({ user, account, isHeavy }: Slot): void {
    this.#held--
    account.held--
    if (isHeavy) {
      this.#heldHeavy--
      account.heldHeavy--
    }
    this.#forget(user, account)
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
    }, activeMs)
    this.#recheck.unref()
  }

  #accountOf(user: ConnectionUser, isBackground: boolean): Account {
    const found = this.#accounts.get(user)
    if (found) return found
    const turn = this.#turns++
    const account = { isBackground, turn, held: 0, heldHeavy: 0, usual: [], heavy: [] }
    this.#accounts.set(user, account)
    return account
  }

  #isFree(user: ConnectionUser, account: Account, isHeavy: boolean): boolean {
    const { size, reserve, heavy, whenContended } = this.#options
    if (isHeavy && this.#heldHeavy >= heavy) return false
    if (!account.isBackground && this.#options.present.hasOthers(user)) {
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
    const { user, account, isHeavy } = slot
    slot.isContended = this.#options.present.hasOthers(user)
    account.turn = this.#turns++
    this.#held++
    account.held++
    if (!isHeavy) return
    this.#heldHeavy++
    account.heldHeavy++
  }

  #wait(slot: Slot, queue: Waiting[], options: ConnectionOptions): Promise<ConnectionSlot> {
    const { caller, waitMs = this.#options.waitMs } = options
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        caller?.off('close', leave)
        this.#waiting--
      }
      const give = (error: Error) => {
        queue.splice(queue.indexOf(waiting), 1)
        stop()
        this.#forget(slot.user, slot.account)
        reject(error)
      }
      const leave = () => give(new ClientDisconnected())
      const waiting: Waiting = {
        slot,
        serve: () => {
          stop()
          resolve(slot)
        }
      }
      const timer = setTimeout(() => give(new WaitedTooLong()), waitMs)
      this.#waiting++
      queue.push(waiting)
      this.#serve()
      if (caller?.destroyed) leave()
      else caller?.once('close', leave)
    })
  }

  /**
   * Gives a connection to one waiting transaction. Returns false when no waiting transaction can
   * get one now.
   */
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
   * Returns the next transaction to get a connection: a long read if `isHeavy`, otherwise a short
   * transaction. Chooses among the users that may get one, by the lowest number that `holds`
   * returns.
   */
  #next(isHeavy: boolean, holds: (account: Account) => number): Waiting | undefined {
    let best: Account | undefined
    for (const [user, account] of this.#accounts) {
      if (queueOf(account, isHeavy).length === 0) continue
      if (!this.#isFree(user, account, isHeavy)) continue
      const more = best ? holds(account) - holds(best) : -1
      if (!best || more < 0 || (more === 0 && account.turn < best.turn)) best = account
    }
    return best && queueOf(best, isHeavy)[0]
  }

  #forget(user: ConnectionUser, account: Account): void {
    const isIdle = account.held === 0 && account.usual.length + account.heavy.length === 0
    if (isIdle) this.#accounts.delete(user)
  }
}

class Slot implements ConnectionSlot {
  readonly user: ConnectionUser
  readonly account: Account
  readonly isHeavy: boolean
  isContended = false
  readonly #shares: ConnectionShares

  constructor(shares: ConnectionShares, user: ConnectionUser, account: Account, isHeavy: boolean) {
    this.#shares = shares
    this.user = user
    this.account = account
    this.isHeavy = isHeavy
  }

  release(): void {
    this.#shares.release(this)
  }
}

/**
 * PostgreSQL's code `too_many_connections`. `ClientDisconnected` and `WaitedTooLong` have it too,
 * so that they are handled like the error of PostgreSQL itself.
 */
const tooManyConnections = '53300'

/** Thrown when the client of a call disconnects while the call waits for a connection. */
export class ClientDisconnected extends Error {
  readonly code = tooManyConnections

  constructor() {
    super('the caller has gone')
  }
}

/** Thrown when a transaction has waited too long for a connection. */
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
 * Compares two waiting transactions for sorting. The one whose user holds fewer connections comes
 * first; among equals, the one whose user got its last connection earlier.
 */
function byNeed({ slot: { account: a } }: Waiting, { slot: { account: b } }: Waiting): number {
  return a.held - b.held || a.turn - b.turn
}
