import { AppError } from '../../contract/kit/errors.ts'
import type { WaitingClient } from '../api/kit/context.ts'
import { interruptedRequestError } from '../api/kit/refused-fields.ts'

export interface PlaceCounts {
  all: number
  /** Only for companies that hold none. */
  reserve: number
  /** Held by one company while other companies are present. */
  besideOthers: number
  /** The most that may wait of one company. */
  waiting: number
}

const defaultWaitMs = 5000
/** how long a company counts as present after a request */
export const presentMs = 1000

interface Line {
  company: string
  held: number
  turn: number
  waiting: (() => void)[]
}

interface Taker {
  client?: WaitingClient | undefined
  waitMs?: number | undefined
}

/**
 * Of the companies that wait, the one that holds the fewest places is served first. A place that
 * comes back is free in the next turn of the event loop, so a company begins only as many requests
 * a turn as it may hold places.
 */
export class Places {
  readonly #counts: PlaceCounts
  readonly #hasOthers: (company: string) => boolean
  readonly #lines = new Map<string, Line>()
  readonly #returned: Line[] = []
  #held = 0
  #turns = 0
  #recheck: NodeJS.Timeout | undefined

  constructor(counts: PlaceCounts, hasOthers: (company: string) => boolean) {
    this.#counts = counts
    this.#hasOthers = hasOthers
  }

  async run<T>(company: string, work: () => Promise<T>, taker?: Taker): Promise<T> {
    const giveBack = await this.take(company, taker)
    try {
      return await work()
    } finally {
      giveBack()
    }
  }

  /** Returns the function that gives the place back, to be called once. */
  async take(company: string, taker: Taker = {}): Promise<() => void> {
    const line = this.#lineOf(company)
    if (line.waiting.length === 0 && this.#isFree(line)) return this.#give(line)
    if (line.waiting.length >= this.#counts.waiting) throw busyError()
    const { client } = taker
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer)
        client?.off('close', leave)
      }
      const serve = () => {
        stop()
        resolve(this.#give(line))
      }
      const refuse = (error: AppError) => {
        stop()
        line.waiting.splice(line.waiting.indexOf(serve), 1)
        this.#forgetIfIdle(line)
        reject(error)
      }
      const leave = () => refuse(interruptedRequestError())
      const timer = setTimeout(() => refuse(busyError()), taker.waitMs ?? defaultWaitMs)
      client?.once('close', leave)
      line.waiting.push(serve)
      if (client?.destroyed) leave()
      else this.#serve()
    })
  }

  #lineOf(company: string): Line {
    const found = this.#lines.get(company)
    if (found) return found
    const line = { company, held: 0, turn: this.#turns++, waiting: [] }
    this.#lines.set(company, line)
    return line
  }

  #isFree({ company, held }: Line): boolean {
    const { all, reserve, besideOthers } = this.#counts
    if (held >= besideOthers && this.#hasOthers(company)) return false
    return this.#held < (held === 0 ? all + reserve : all)
  }

  #give(line: Line): () => void {
    line.turn = this.#turns++
    line.held++
    this.#held++
    return () => {
      if (this.#returned.push(line) === 1) setImmediate(() => this.#nextTurn())
    }
  }

  #nextTurn(): void {
    for (const line of this.#returned.splice(0)) {
      line.held--
      this.#held--
      this.#forgetIfIdle(line)
    }
    this.#serve()
  }

  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) next.waiting.shift()?.()
    if (this.#recheck || ![...this.#lines.values()].some(({ waiting }) => waiting.length > 0))
      return
    // a company that waits may be alone by then, although nobody has given a place back
    this.#recheck = setTimeout(() => {
      this.#recheck = undefined
      this.#serve()
    }, presentMs).unref()
  }

  #next(): Line | undefined {
    let best: Line | undefined
    for (const line of this.#lines.values()) {
      if (line.waiting.length === 0 || !this.#isFree(line)) continue
      const more = best ? line.held - best.held : -1
      if (!best || more < 0 || (more === 0 && line.turn < best.turn)) best = line
    }
    return best
  }

  #forgetIfIdle({ company, held, waiting }: Line): void {
    if (held + waiting.length === 0) this.#lines.delete(company)
  }
}

function busyError(): AppError {
  return new AppError('unavailable', 'Too much is under way', { retryAfter: 2 })
}
