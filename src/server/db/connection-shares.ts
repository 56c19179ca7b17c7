import { type PresentCompanies, presentMs } from '../../core/present-companies.ts'

/** A company, or the platform for host look-ups and maintenance jobs. */
export type Sharer = string

/** The platform has a share as a company has. */
export const platform: Sharer = 'platform'

/** How a transaction waits for a connection. */
export interface Wish {
  /** Marks a search, an export or another long read. These hold few connections in total. */
  isHeavy?: boolean
  /** The waiting client. When it disconnects, the wait ends. */
  caller?: Leaver | undefined
  /** How long to wait, where the usual time would abort something half done. */
  waitMs?: number | undefined
}

/** A client that may disconnect before it is answered: an HTTP response. */
export interface Leaver {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

interface Options {
  /** Connections for everybody. */
  size: number
  /** Further connections for sharers that hold none. */
  reserve: number
  /** The most connections for long reads of all sharers. */
  heavy: number
  /** What one company holds at most, by kind of wish, while other companies are at work too. */
  besideOthers: { usual: number; heavy: number }
  /** Which companies are at work. */
  present: Pick<PresentCompanies, 'hasOthers'>
  /** How long a transaction waits. */
  waitMs: number
}

/** The right to use one connection until it is given back. */
export interface Share {
  /** Whether other companies are at work too; whoever reads much then reads it in smaller pieces. */
  readonly isBesideOthers: boolean
  giveBack(): void
}

interface Waiting {
  place: Place
  serve(): void
}

/** What a sharer holds and waits for. Removed when it is idle. */
interface Account {
  /** When it was served last, or came. */
  turn: number
  held: number
  heldHeavy: number
  usual: Waiting[]
  heavy: Waiting[]
}

/**
 * Divides connections between companies. A free connection is given at once, so one company alone may
 * hold all of them; beside others it holds as many as the cores serve, since each one more makes the
 * transactions of the others wait for a core. Where several companies wait, the one that holds fewest is served next; among equals,
 * the one that was served longest ago. A few connections are reserved for companies that hold none, so
 * that nobody waits for another company's transactions to end.
 */
export class Shares {
  readonly #options: Options
  readonly #accounts = new Map<Sharer, Account>()
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
  take(sharer: Sharer, wish: Wish = {}): Share | Promise<Share> {
    const { isHeavy = false } = wish
    const account = this.#accountOf(sharer)
    const place = new Place(this, sharer, account, isHeavy)
    const queue = queueOf(account, isHeavy)
    if (queue.length === 0 && this.#isFree(sharer, account, isHeavy)) {
      this.#give(place)
      return place
    }
    return this.#wait(place, queue, wish)
  }

  /** For `Place` alone. */
  release({ sharer, account, isHeavy }: Place): void {
    this.#held--
    account.held--
    if (isHeavy) {
      this.#heldHeavy--
      account.heldHeavy--
    }
    this.#forget(sharer, account)
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

  #accountOf(sharer: Sharer): Account {
    const found = this.#accounts.get(sharer)
    if (found) return found
    const turn = this.#turns++
    const account = { turn, held: 0, heldHeavy: 0, usual: [], heavy: [] }
    this.#accounts.set(sharer, account)
    return account
  }

  #isFree(sharer: Sharer, account: Account, isHeavy: boolean): boolean {
    const { size, reserve, heavy, besideOthers } = this.#options
    if (isHeavy && this.#heldHeavy >= heavy) return false
    if (this.#options.present.hasOthers(sharer)) {
      const { held, heldHeavy } = account
      const isFull = isHeavy
        ? heldHeavy >= besideOthers.heavy
        : held - heldHeavy >= besideOthers.usual
      if (isFull) return false
    }
    return this.#held < (account.held === 0 ? size + reserve : size)
  }

  #give(place: Place): void {
    const { sharer, account, isHeavy } = place
    place.isBesideOthers = this.#options.present.hasOthers(sharer)
    account.turn = this.#turns++
    this.#held++
    account.held++
    if (!isHeavy) return
    this.#heldHeavy++
    account.heldHeavy++
  }

  #wait(place: Place, queue: Waiting[], wish: Wish): Promise<Share> {
    const { caller, waitMs = this.#options.waitMs } = wish
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        caller?.off('close', leave)
        this.#waiting--
      }
      const give = (error: Error) => {
        queue.splice(queue.indexOf(waiting), 1)
        stop()
        this.#forget(place.sharer, place.account)
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

  /** Returns the first waiting transaction of the sharer that holds the fewest connections. */
  #next(isHeavy: boolean, holds: (account: Account) => number): Waiting | undefined {
    let best: Account | undefined
    for (const [sharer, account] of this.#accounts) {
      if (queueOf(account, isHeavy).length === 0) continue
      if (!this.#isFree(sharer, account, isHeavy)) continue
      const more = best ? holds(account) - holds(best) : -1
      if (!best || more < 0 || (more === 0 && account.turn < best.turn)) best = account
    }
    return best && queueOf(best, isHeavy)[0]
  }

  #forget(sharer: Sharer, account: Account): void {
    const isIdle = account.held === 0 && account.usual.length + account.heavy.length === 0
    if (isIdle) this.#accounts.delete(sharer)
  }
}

class Place implements Share {
  readonly sharer: Sharer
  readonly account: Account
  readonly isHeavy: boolean
  isBesideOthers = false
  readonly #shares: Shares

  constructor(shares: Shares, sharer: Sharer, account: Account, isHeavy: boolean) {
    this.#shares = shares
    this.sharer = sharer
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
