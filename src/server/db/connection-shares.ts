import { type PresentCompanies, presentMs } from '../../core/present-companies.ts'

/** The user of a connection: a company, or the platform for host look-ups and maintenance jobs. */
export type ConnectionUser = string

/** The platform takes part like a company. */
export const platform: ConnectionUser = 'platform'

/** Options of a transaction that waits for a connection. */
export interface ConnectionOptions {
  /** Marks a search, an export or another long read. These hold few connections in total. */
  isHeavy?: boolean
  /** The waiting client. When it disconnects, the wait ends. */
  caller?: WaitingClient | undefined
  /** How long to wait, where the usual limit would end work that is half done. */
  waitMs?: number | undefined
}

/** A client that may disconnect before it is answered: an HTTP response. */
export interface WaitingClient {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

interface Options {
  /** Connections for everybody. */
  size: number
  /** Further connections for users that hold none. */
  reserve: number
  /** The most connections for long reads of all users. */
  heavy: number
  /**
   * The most connections of one company while other companies are at work, for usual and for long
   * transactions.
   */
  besideOthers: { usual: number; heavy: number }
  /** Which companies are at work. */
  present: Pick<PresentCompanies, 'hasOthers'>
  /** How long a transaction waits. */
  waitMs: number
}

/** The right to use one connection until it is given back. */
export interface ConnectionShare {
  /** Whether other companies are at work too. Long reads then use smaller pages. */
  readonly isBesideOthers: boolean
  giveBack(): void
}

interface Waiting {
  place: Place
  serve(): void
}

/** The connections that a user holds and waits for. Removed when there are none. */
interface Account {
  /** Order of the last service, or of the first request. */
  turn: number
  held: number
  heldHeavy: number
  usual: Waiting[]
  heavy: Waiting[]
}

/**
 * Divides connections between companies. A free connection is given at once, so a company that is
 * alone may hold all of them. Beside other companies it holds at most as many as the cores can
 * serve at a time, because more would slow the others down. Where several companies wait, the one
 * that holds fewest is served next, and among equals the one that has waited longest for its turn.
 * A few connections are reserved for companies that hold none, so that nobody waits for the
 * transactions of another company.
 */
export class Shares {
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

  /** The number of waiting transactions. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * Returns a share at once where one is free, else a promise of one. It rejects when the wait takes too
   * long or the caller disconnects.
   */
  take(
    user: ConnectionUser,
    options: ConnectionOptions = {}
  ): ConnectionShare | Promise<ConnectionShare> {
    const { isHeavy = false } = options
    const account = this.#accountOf(user)
    const place = new Place(this, user, account, isHeavy)
    const queue = queueOf(account, isHeavy)
    if (queue.length === 0 && this.#isFree(user, account, isHeavy)) {
      this.#give(place)
      return place
    }
    return this.#wait(place, queue, options)
  }

  /** Frees the connection of a place. Only `Place` calls this. */
  release({ user, account, isHeavy }: Place): void {
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
    // those who wait beside others are served once these have gone, though nobody gives back
    if (this.#waiting === 0 || this.#recheck) return
    this.#recheck = setTimeout(() => {
      this.#recheck = undefined
      this.#serve()
    }, presentMs)
    this.#recheck.unref()
  }

  #accountOf(user: ConnectionUser): Account {
    const found = this.#accounts.get(user)
    if (found) return found
    const turn = this.#turns++
    const account = { turn, held: 0, heldHeavy: 0, usual: [], heavy: [] }
    this.#accounts.set(user, account)
    return account
  }

  #isFree(user: ConnectionUser, account: Account, isHeavy: boolean): boolean {
    const { size, reserve, heavy, besideOthers } = this.#options
    if (isHeavy && this.#heldHeavy >= heavy) return false
    if (this.#options.present.hasOthers(user)) {
      const { held, heldHeavy } = account
      const isFull = isHeavy
        ? heldHeavy >= besideOthers.heavy
        : held - heldHeavy >= besideOthers.usual
      if (isFull) return false
    }
    return this.#held < (account.held === 0 ? size + reserve : size)
  }

  #give(place: Place): void {
    const { user, account, isHeavy } = place
    place.isBesideOthers = this.#options.present.hasOthers(user)
    account.turn = this.#turns++
    this.#held++
    account.held++
    if (!isHeavy) return
    this.#heldHeavy++
    account.heldHeavy++
  }

  #wait(place: Place, queue: Waiting[], options: ConnectionOptions): Promise<ConnectionShare> {
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
        this.#forget(place.user, place.account)
        reject(error)
      }
      const leave = () => give(new CallerGone())
      const waiting: Waiting = {
        place,
        serve: () => {
          stop()
          resolve(place)
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

  /** Serves one waiting transaction. Returns false where none can be served. */
  #serveNext(): boolean {
    const usual = this.#next(false, account => account.held)
    const heavy = this.#next(true, account => account.heldHeavy)
    const [next] = [usual, heavy].filter(each => each !== undefined).sort(byNeed)
    if (!next) return false
    const { account, isHeavy } = next.place
    queueOf(account, isHeavy).shift()
    this.#give(next.place)
    next.serve()
    return true
  }

  /** Returns the first waiting transaction of the user that holds the fewest connections. */
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

class Place implements ConnectionShare {
  readonly user: ConnectionUser
  readonly account: Account
  readonly isHeavy: boolean
  isBesideOthers = false
  readonly #shares: Shares

  constructor(shares: Shares, user: ConnectionUser, account: Account, isHeavy: boolean) {
    this.#shares = shares
    this.user = user
    this.account = account
    this.isHeavy = isHeavy
  }

  giveBack(): void {
    this.#shares.release(this)
  }
}

/** PostgreSQL's code too_many_connections, so that callers treat both failures alike. */
const tooManyConnections = '53300'

/** Thrown where the caller has disconnected while it waited. */
export class CallerGone extends Error {
  readonly code = tooManyConnections

  constructor() {
    super('the caller has gone')
  }
}

/** Thrown where no connection became free in time. */
class WaitedTooLong extends Error {
  readonly code = tooManyConnections

  constructor() {
    super('timeout exceeded when waiting for a connection')
  }
}

function queueOf(account: Account, isHeavy: boolean): Waiting[] {
  return isHeavy ? account.heavy : account.usual
}

/** Orders by the fewest connections held, then by the longest time since the last service. */
function byNeed({ place: { account: a } }: Waiting, { place: { account: b } }: Waiting): number {
  return a.held - b.held || a.turn - b.turn
}
