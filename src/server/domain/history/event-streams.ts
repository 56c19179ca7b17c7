import { AppError } from '../../../contract/errors.ts'
import type { Deps, Limits } from '../deps.ts'
import type { SessionStatus } from '../sessions/authentication.ts'
import type { Person } from '../sessions/sessions.ts'
import {
  createEventReaders,
  type EventReader,
  type EventSubscriber,
  type EventText,
  formatEvent
} from './event-readers.ts'
import { readEvents } from './events.ts'

const tickMs = 15_000
/** A tick is sent at the last interval before it is due. */
const tickAfterMs = tickMs - 2000
const pageEvents = 500
const maxHeldEvents = 64
const maxHeldChars = 256 * 1024

/** Destination of a stream, usually a connection. */
export interface EventSink {
  /** Writes text. Returns false where the stream has to wait for `resume()`. */
  write(text: string): boolean
  end(): void
}

export interface EventStream {
  /** Starts to write, once, with a tick or a reset. */
  start(sink: EventSink): void
  resume(): void
  /** Ends the stream when its client has gone. */
  close(): void
}

interface Opening {
  person: Person
  /** Value of `Last-Event-ID`. Events after it are sent; without it the stream starts now. */
  after: number | undefined
}

export interface EventStreams {
  /**
   * Opens a person's requests as they change, in order, each once, as text/event-stream. Without `after`
   * the first event is a tick at the current sequence, so that a list loaded afterwards misses nothing.
   * Throws `stream_limit_reached` when too many streams are open.
   */
  open(opening: Opening): Promise<EventStream>
}

/** Creates the streams of this process, which share a reader for each company. */
export function createEventStreams(deps: Deps): EventStreams {
  const findReader = createEventReaders(deps)
  const takeSeat = createSeats(deps.settings.limits)
  return {
    async open(opening) {
      const seat = takeSeat(opening.person)
      const stream = new OpenStream(deps, opening, findReader(opening.person.company_id), seat)
      try {
        await stream.findPlace()
        return stream
      } catch (error) {
        stream.close()
        throw error
      }
    }
  }
}

class OpenStream implements EventStream, EventSubscriber {
  readonly person: Person
  readonly #deps: Deps
  readonly #after: number | undefined
  readonly #reader: EventReader
  readonly #seat: Disposable
  readonly #endsAt: number
  #sink: EventSink | undefined
  #isOver = false
  #status: SessionStatus = 'valid'
  /** Sequence up to which events were sent. */
  #seq = 0
  #tickedAt: number
  #isReset = false
  /** Events that wait for the sink or for a page that the stream reads for itself. */
  #held: EventText[] = []
  #heldChars = 0
  /** Sequence up to which the reader delivered. */
  #handed = 0
  /** Sequence up to which the stream reads for itself. */
  #behind = 0
  #isReading = false
  #isStalled = false

  constructor(deps: Deps, { person, after }: Opening, reader: EventReader, seat: Disposable) {
    this.person = person
    this.#deps = deps
    this.#after = after
    this.#tickedAt = deps.clock().getTime()
    // 25 to 35 minutes, so that many streams do not reconnect together
    const maxAge = 60_000 * (25 + ((deps.random(1)[0] ?? 0) / 255) * 10)
    this.#endsAt = Math.min(this.#tickedAt + maxAge, person.token_expires.getTime())
    this.#reader = reader
    this.#seat = seat
    this.#reader.subscribe(this)
  }

  async findPlace(): Promise<void> {
    const { newest, oldest } = await this.#reader.bounds()
    const isKept = this.#after !== undefined && this.#after <= newest && this.#after >= oldest - 1
    this.#seq = isKept ? (this.#after ?? newest) : newest
    this.#isReset = this.#after !== undefined && !isKept
    this.#behind = Math.max(this.#behind, newest)
  }

  start(sink: EventSink): void {
    if (this.#isOver) {
      sink.end()
      return
    }
    this.#sink = sink
    if (this.#isReset) this.#write(markText('reset', this.#seq))
    this.#write(markText('tick', this.#seq))
    this.#pump()
  }

  resume(): void {
    this.#isStalled = false
    this.#pump()
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sink = undefined
    this.#held = none
    this.#reader.unsubscribe(this)
    this.#seat[Symbol.dispose]()
  }

  deliver(events: EventText[], until: number): void {
    this.#handed = until
    if (events.length === 0) return
    this.#held = this.#held.length === 0 ? events : [...this.#held, ...events]
    for (const { text } of events) this.#heldChars += text.length
    this.#pump()
    if (this.#held.length > maxHeldEvents || this.#heldChars > maxHeldChars) this.fallBehind(until)
  }

  fallBehind(until: number): void {
    this.#held = none
    this.#heldChars = 0
    this.#behind = Math.max(this.#behind, until)
    this.#pump()
  }

  updateSession(status: SessionStatus): void {
    this.#status = status
    this.#endIfOver()
  }

  onInterval(): void {
    this.#pump()
    const now = this.#deps.clock().getTime()
    const isIdle = this.#sink && !this.#isStalled && !this.#isReading
    if (!isIdle || now - this.#tickedAt < tickAfterMs) return
    this.#tickedAt = now
    this.#write(markText('tick', this.#seq))
  }

  /** Writes what the sink takes. */
  #pump(): void {
    if (this.#endIfOver() || !this.#sink || this.#isStalled || this.#isReading) return
    if (this.#behind > this.#seq) {
      void this.#catchUp()
      return
    }
    const events = this.#held
    this.#held = none
    this.#heldChars = 0
    for (const event of events) this.#send(event)
    this.#seq = Math.max(this.#seq, this.#handed)
  }

  async #catchUp(): Promise<void> {
    const { company_id, id: user_id } = this.person
    this.#isReading = true
    try {
      while (this.#behind > this.#seq && this.#sink && !this.#isStalled) {
        const place = { company_id, user_id, after: this.#seq, limit: pageEvents }
        const page = await readEvents(this.#deps, place)
        for (const request of page.events) this.#send(formatEvent(request))
        this.#seq = Math.max(this.#seq, page.seen)
      }
    } catch (error) {
      // the next interval tries again from the same place
      this.#deps.log.warn({ company: company_id, err: error }, 'events could not be read')
      return
    } finally {
      this.#isReading = false
    }
    this.#pump()
  }

  #send({ seq, text }: EventText): void {
    if (seq <= this.#seq) return
    this.#seq = seq
    this.#write(text)
  }

  #write(text: string): void {
    if (this.#sink && !this.#sink.write(text)) this.#isStalled = true
  }

  #endIfOver(): boolean {
    const sink = this.#sink
    if (!sink) return this.#isOver
    const { clock, stopping } = this.#deps
    if (this.#status === 'valid' && clock().getTime() < this.#endsAt && !stopping.aborted) {
      return false
    }
    this.close()
    sink.write(this.#status === 'disabled' ? disabledText : byeText)
    sink.end()
    return true
  }
}

const none: EventText[] = []
const byeText = 'event: bye\nretry: 2000\ndata: {}\n\n'
const disabledText = 'event: disabled\ndata: {}\n\n'

/** Returns a mark with the current sequence. A `reset` tells the client to reload its list. */
function markText(name: 'tick' | 'reset', seq: number): string {
  return `event: ${name}\nid: ${seq}\ndata: ${JSON.stringify({ seq })}\n\n`
}

/** Returns a function that counts an open stream against the limits until its seat is disposed of. */
function createSeats(limits: Limits): (person: Person) => Disposable {
  const taken = new Map<string, number>()
  return person => {
    const counted: [string, number][] = [
      ['process', limits.streamsPerProcess],
      [`company ${person.company_id}`, limits.streamsPerCompany],
      [`person ${person.company_id} ${person.id}`, limits.streamsPerUser]
    ]
    for (const [key, limit] of counted) {
      if ((taken.get(key) ?? 0) >= limit) {
        throw new AppError('stream_limit_reached', 'Too many streams are open', { retryAfter: 30 })
      }
    }
    const add = (amount: 1 | -1) => {
      for (const [key] of counted) {
        const count = (taken.get(key) ?? 0) + amount
        if (count === 0) taken.delete(key)
        else taken.set(key, count)
      }
    }
    add(1)
    return { [Symbol.dispose]: () => add(-1) }
  }
}
